import type { Mirror } from '../../../mirror/open.ts'
import { createMatcher } from '../../../text/passages/matcher.ts'
import { foldName } from '../../../text/terms/marks.ts'
import { wordPhrases } from './word-phrases.ts'
import { valuesOf } from '../match/statement.ts'

/**
 * The names that a value means: the one that is spelt so, case and punctuation aside; else all that hold its parts side
 * by side, as `edit` means `edit_file`. A star behind it stands for any ending.
 */
function matchNames(value: string, names: readonly string[]): readonly string[] {
  const isPrefix = value.endsWith('*')
  const exact = isPrefix ? [] : names.filter((name) => foldName(name) === foldName(value))
  if (exact.length > 0) return exact
  const phrases = wordPhrases(isPrefix ? value.slice(0, -1) : value, isPrefix)
  const matcher = createMatcher(phrases)
  return names.filter((name) => matcher.find(name).length > 0)
}

const LIST_NAMES = `select name from names where kind = @kind`
const LIST_MODELS = `
  select name from names where kind = 'model' union select model from chats where model is not null
`
const LIST_MODES = `select distinct mode from chats where mode is not null`

export function findNames(db: Mirror, kind: 'tool' | 'model' | 'mode', values: readonly string[]): readonly string[] {
  const names =
    kind === 'tool'
      ? valuesOf<string>(db, LIST_NAMES).all({ kind })
      : valuesOf<string>(db, kind === 'model' ? LIST_MODELS : LIST_MODES).all({})
  return [...new Set(values.flatMap((value) => matchNames(value, names)))]
}
