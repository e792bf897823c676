import type { Mirror } from '../../mirror/open.ts'
import type { SearchSuggestion } from '../answers/search.ts'
import { monthOf } from '../periods.ts'
import { readAsked } from './related.ts'
import { findDate, echo, parseQuery, printQuery, type ParsedQuery } from './parse.ts'
import {
  allOf,
  anyOf,
  fieldsOf,
  noneOf,
  type QueryNode,
  type WordsNode,
  hasWords,
  type SearchRequest,
  type SearchFilters,
} from './query.ts'
import { countFound } from './titles.ts'
import { prepared } from '../../mirror/sql.ts'
import { filterNames, type FilterName } from '../../shared/filters.ts'
import { COUNTED_MAX } from './statement.ts'

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

/** What remains of a search without one filter or one part of the query. */
interface Relaxation {
  readonly tree: QueryNode | null
  readonly filters: SearchFilters
  readonly dropped: FilterName | QueryNode
}

/**
 * Help for a search that found nothing: the searches with one filter or one word less that find something. If what
 * remains has no word, a warning gives its number of messages instead.
 */
export function suggestRelaxed(
  db: Mirror,
  tree: QueryNode | null,
  { filters, clock }: Pick<SearchRequest, 'filters' | 'clock'>,
): { readonly suggestions: readonly SearchSuggestion[]; readonly warnings: readonly string[] } {
  const found = relaxations(tree, filters)
    .map((each) => ({ each, count: countFound(db, each.tree, { filters: each.filters, clock }) }))
    .filter(({ count }) => count > 0)
  const suggestions = found
    .filter(({ each }) => asksForWords(each.tree) === asksForWords(tree))
    .map(({ each, count }) => suggestionOf(each, count))
  return { suggestions, warnings: suggestions.length > 0 ? [] : found.map(({ each, count }) => warningOf(each, count)) }
}

const asksForWords = (tree: QueryNode | null): boolean =>
  tree !== null && (tree.kind === 'and' ? tree.nodes : [tree]).some((node) => node.kind !== 'not' && hasWords(node))

function relaxations(tree: QueryNode | null, filters: SearchFilters): readonly Relaxation[] {
  const withoutFilter = filterNames
    .filter((name) => filters[name] !== undefined)
    .map((dropped) => {
      const others = Object.entries(filters).filter(([name]) => name !== dropped)
      return { tree, filters: Object.fromEntries(others), dropped }
    })
  const nodes = tree === null ? [] : tree.kind === 'and' ? tree.nodes : [tree]
  const withoutPart = nodes.map((dropped) => {
    return { tree: allOf(nodes.filter((node) => node !== dropped)), filters, dropped }
  })
  return [...withoutFilter, ...withoutPart]
}

/** A field, asked for or excluded. */
const isField = (node: QueryNode): boolean => node.kind === 'field' || (node.kind === 'not' && isField(node.node))

function suggestionOf({ tree, dropped }: Relaxation, count: number): SearchSuggestion {
  const query = printQuery(tree)
  if (typeof dropped === 'string') return { text: dropped, reason: 'without-filter', count }
  if (!isField(dropped)) return { text: query, reason: 'without-word', count }
  return { text: printQuery(dropped), reason: 'without-filter', count, query }
}

function warningOf({ tree, dropped }: Relaxation, count: number): string {
  const bound = count < COUNTED_MAX ? '' : 'at least '
  const part = typeof dropped === 'string' ? dropped : echo(printQuery(dropped))
  const [what, rest] = tree === null ? ['the query', 'filters leave'] : [part, 'rest leaves']
  return `Nothing matches ${what}; without it, the ${rest} ${bound}${count} messages.`
}

const COUNT_CAPPED = `
  select count(*) from messages m
  where m.chat in (
    select c.num from json_each(@ids) v cross join chats c on c.id >= v.value and c.id < v.value || char(0x10ffff)
  ) and m.is_index_capped = 1 and m.is_orphan <> 2
`

/** Warns in a search within given chats if some of their messages are too long to be indexed completely. */
export function warnOfCapped(db: Mirror, trees: readonly QueryNode[]): readonly string[] {
  const ids = trees.flatMap(namedChats)
  if (ids.length === 0) return []
  const count =
    prepared<number>(db, COUNT_CAPPED)
      .pluck()
      .get({ ids: JSON.stringify(ids) }) ?? 0
  if (count === 0) return []
  const what = count === 1 ? '1 message of this chat is' : `${count.toLocaleString('en-US')} messages here are`
  return [`${what} too long to be indexed whole: words near the end of such a message are not found.`]
}

/** The ids of the chats in which the search looks, without excluded ones. */
function namedChats(node: QueryNode): readonly string[] {
  if (node.kind === 'field') return node.name === 'chat' ? node.values : []
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(namedChats) : []
}
