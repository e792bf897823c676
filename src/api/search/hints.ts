import type { Mirror } from '../../mirror/open.ts'
import type { SearchSuggestion } from '../answers/search.ts'
import { monthOf } from '../periods.ts'
import { readAsked } from './asked.ts'
import { findDate } from './lex.ts'
import { parseQuery, printQuery, type ParsedQuery } from './parse.ts'
import { allOf, anyOf, fieldsOf, noneOf, type QueryNode, type WordsNode } from './query.ts'
import type { SearchRequest } from './request.ts'
import { countFound } from './titles.ts'

const dateFields: ReadonlySet<string> = new Set(['on', 'before', 'after'])

/** The query in our own language, if it was typed in the language of another program or has a date in words. */
export function suggestMeant(db: Mirror, parsed: ParsedQuery, request: SearchRequest): readonly SearchSuggestion[] {
  const suggestion = (reason: 'operator' | 'date', tree: QueryNode | null): readonly SearchSuggestion[] => {
    const count = tree === null ? 0 : countFound(db, tree, request)
    return count === 0 ? [] : [{ text: printQuery(tree), reason, count }]
  }
  const ofOperators = parsed.meant === null ? [] : suggestion('operator', parseQuery(parsed.meant).tree)
  return [
    ...ofOperators,
    ...ofDate(parsed, request)
      .flatMap((tree) => suggestion('date', tree))
      .slice(0, 1),
  ]
}

/** What the query is about with the date as a field: all words, and then any of them. */
function ofDate({ tree, quoted }: ParsedQuery, { q, clock }: SearchRequest): readonly QueryNode[] {
  if (tree === null || findDate(q) === null || fieldsOf(tree).some(({ name }) => dateFields.has(name))) return []
  const { date, words, required, fields, excluded } = readAsked(tree, quoted)
  if (date === null) return []
  const value = date.valueAt(monthOf(clock.nowMs, clock.timeZone).name)
  const about = words
    .filter(({ isFunctionWord }) => !isFunctionWord)
    .map(({ text }): WordsNode => ({ kind: 'words', text, isPrefix: false }))
  const rest: readonly QueryNode[] = [
    ...required,
    ...fields,
    ...excluded.map(noneOf),
    { kind: 'field', name: 'on', values: [value] },
  ]
  return [about, [anyOf(about) ?? []].flat()].flatMap((nodes) => allOf([...nodes, ...rest]) ?? [])
}
