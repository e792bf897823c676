import type { Mirror } from '../../mirror/open.ts'
import { countFound } from './count-found.ts'
import type { Deadline } from './deadline.ts'
import { printQuery } from './language/print.ts'
import { allOf, anyOf, type QueryNode } from './language/tree.ts'
import {
  filterNames,
  type FilterName,
  type SearchFilters,
  type SearchRequest,
  type SearchSuggestion,
} from './request.ts'

export interface Relaxed {
  readonly suggestions: readonly SearchSuggestion[]
  readonly warnings: readonly string[]
}

type Asked = Pick<SearchRequest, 'filters' | 'clock'>

/** For a search that found nothing: which one filter or word, left out, would have found something. */
export function suggestRelaxed(db: Mirror, tree: QueryNode | null, asked: Asked, deadline: Deadline): Relaxed {
  const suggestions: SearchSuggestion[] = []
  const { filters, clock } = asked
  for (const names of filterGroups(filters)) {
    const others = Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name as FilterName)))
    const count = countFound(db, tree, { filters: others, clock }, deadline)
    if (count > 0) suggestions.push({ text: names.join(' '), reason: 'without-filter', count })
  }
  for (const { dropped, rest } of tree === null ? [] : relaxTree(tree)) {
    const count = rest === null ? 0 : countFound(db, rest, asked, deadline)
    if (count > 0) suggestions.push(suggestionOf(dropped, printQuery(rest), count))
  }
  return { suggestions, warnings: warnOfSingleWord(db, tree, asked, suggestions, deadline) }
}

/** Both ends of a stretch of time are one filter. */
function filterGroups(filters: SearchFilters): readonly (readonly FilterName[])[] {
  const given = filterNames.filter((name) => filters[name] !== undefined)
  const ends = given.filter((name) => name === 'from' || name === 'to')
  const others = given.filter((name) => name !== 'from' && name !== 'to').map((name) => [name])
  return ends.length === 0 ? others : [...others, ends]
}

function suggestionOf(dropped: readonly QueryNode[], query: string, count: number): SearchSuggestion {
  const isFilter = dropped.every((node) => fieldOf(node) !== null)
  if (!isFilter) return { text: query, reason: 'without-word', count }
  return { text: dropped.map(printQuery).join(' '), reason: 'without-filter', count, query }
}

interface Dropped {
  readonly dropped: readonly QueryNode[]
  readonly rest: QueryNode | null
}

/** Each of the queries that leave one of the things out that must hold. */
function relaxTree(tree: QueryNode): readonly Dropped[] {
  if (tree.kind === 'or') return inPlace(tree.nodes, anyOf)
  if (tree.kind !== 'and') return []
  const dates = tree.nodes.filter(isDate)
  const others = tree.nodes.filter((node) => !isDate(node)).map((node) => [node])
  const groups = dates.length === 0 ? others : [...others, dates]
  const without = groups.map((dropped) => ({
    dropped,
    rest: allOf(tree.nodes.filter((node) => !dropped.includes(node))),
  }))
  return [...without, ...inPlace(tree.nodes, allOf)]
}

function inPlace(
  nodes: readonly QueryNode[],
  join: (nodes: readonly QueryNode[]) => QueryNode | null,
): readonly Dropped[] {
  return nodes.flatMap((node, index) =>
    relaxTree(node).map(({ dropped, rest }) => ({
      dropped,
      rest: join(rest === null ? nodes.toSpliced(index, 1) : nodes.with(index, rest)),
    })),
  )
}

function fieldOf(node: QueryNode): string | null {
  if (node.kind === 'not') return fieldOf(node.node)
  return node.kind === 'field' ? node.name : null
}

const isDate = (node: QueryNode): boolean => ['before', 'after', 'on'].includes(fieldOf(node) ?? '')

/** Leaving out the only word leaves no query to suggest. */
function warnOfSingleWord(
  db: Mirror,
  tree: QueryNode | null,
  asked: Asked,
  suggestions: readonly SearchSuggestion[],
  deadline: Deadline,
): readonly string[] {
  if (suggestions.length > 0 || tree === null || tree.kind === 'and') return []
  const count = countFound(db, null, asked, deadline)
  return count === 0 ? [] : [`Nothing matches the query; without it, the filters leave ${count} messages.`]
}
