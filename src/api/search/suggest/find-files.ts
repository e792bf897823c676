import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { asPathTerm, pathsOf } from '../../../text/terms/columns.ts'
import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { expressionOf } from '../plan/condition.ts'
import { slipsForgiven } from '../spelling/near-words.ts'
import type { FrequentWords } from './frequent-words.ts'
import type { TypedWord } from './typed.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'

/** A message can be as large as the output of a tool, so only a few of moderate size are read. */
const MESSAGES_MAX = 12
const OCTETS_MAX = 100_000
/** How many completions of the last word are looked up. */
const ENDINGS_MAX = 8

const NAMING = `
  select b.parts
  from message_terms cross join messages m on m.key = message_terms.rowid cross join bodies b on b.num = m.body
  where message_terms match @match and octet_length(b.parts) <= ${OCTETS_MAX}
  order by message_terms.rowid desc
  limit ${MESSAGES_MAX}
`

/** Paths from the newest messages that name a path with such words. Each path once, newest first. */
export function findFiles(db: Mirror, frequent: FrequentWords, words: readonly TypedWord[]): readonly string[] {
  const nodes = words.map((word) => ({
    kind: 'phrases' as const,
    phrases: pathPhrases(frequent, word),
    columns: null,
    isWord: false,
  }))
  if (nodes.length === 0 || nodes.some(({ phrases }) => phrases.length === 0)) return []
  const match = `{marks} : (${expressionOf({ kind: 'all', nodes })})`
  const bodies = prepared<{ parts: string }>(db, NAMING).all({ match })
  return [...new Set(bodies.flatMap(({ parts }) => parseParts(parts).flatMap(pathsOf)))]
}

/** Only whole words: for a prefix, the index would merge the lists of all words with that prefix. */
function pathPhrases({ pathWords }: FrequentWords, { terms, isUnfinished }: TypedWord): readonly TermPhrase[] {
  const all = terms.map(({ term }) => term)
  const last = all.at(-1) ?? ''
  const before = all.slice(0, -1)
  const begun = isUnfinished ? pathWords.startingWith(last, ENDINGS_MAX) : []
  const slips = slipsForgiven(last)
  const near = begun.length > 0 || slips === 0 ? [] : pathWords.near(last, slips, ENDINGS_MAX)
  const ends = isUnfinished || near.length > 0 ? [...begun, ...near].map(({ word }) => word) : [last]
  return ends.map((end) => ({ terms: [...before, end].map(asPathTerm), isPrefix: false }))
}
