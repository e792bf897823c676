import { isUnspacedSign, tokenize } from '../../../text/terms/terms.ts'
import { piecesOf } from '../language/read-term.ts'
import { allOf, anyOf, type QueryNode, type WordsNode } from '../language/tree.ts'
import { filterNames, type FilterName, type SearchFilters } from '../request.ts'

/** What was asked for, the query and the filters beside it. */
export interface Asked {
  readonly tree: QueryNode | null
  readonly filters: SearchFilters
}

/** A query that asks for less, and what was left out of it. */
export interface Relaxation extends Asked {
  readonly names: readonly FilterName[]
  readonly dropped: readonly QueryNode[]
}

/** Each of the queries that leave out one of the things that must hold, or ask for a phrase's words apart. */
export function relaxations({ tree, filters }: Asked): readonly Relaxation[] {
  const withoutFilter = filterGroups(filters).map((names) => ({
    tree,
    filters: withoutFilters(filters, names),
    names,
    dropped: [],
  }))
  const withoutPart = tree === null ? [] : relaxTree(tree)
  return [...withoutFilter, ...withoutPart.map(({ dropped, rest }) => ({ tree: rest, filters, names: [], dropped }))]
}

export function withoutFilters(filters: SearchFilters, names: readonly FilterName[]): SearchFilters {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name as FilterName)))
}

/** Both ends of a stretch of time are one filter. */
export function filterGroups(filters: SearchFilters): readonly (readonly FilterName[])[] {
  const given = filterNames.filter((name) => filters[name] !== undefined)
  const ends = given.filter((name) => name === 'from' || name === 'to')
  const others = given.filter((name) => name !== 'from' && name !== 'to').map((name) => [name])
  return ends.length === 0 ? others : [...others, ends]
}

/** A query without some of its words and fields; null where nothing is left. */
export function withoutNodes(tree: QueryNode, unwanted: ReadonlySet<QueryNode>): QueryNode | null {
  if (unwanted.has(tree)) return null
  if (tree.kind !== 'and' && tree.kind !== 'or') return tree
  const left = tree.nodes.flatMap((node) => withoutNodes(node, unwanted) ?? [])
  return tree.kind === 'and' ? allOf(left) : anyOf(left)
}

/**
 * A query without all the words that it excludes: what is pasted from a shell or out of a diff is full of `-x`, and each of
 * them may stand in the message that is looked for. Null where there is no more than one.
 */
export function withoutExclusions(one: Relaxation): Relaxation | null {
  const excluded = one.tree === null ? [] : excludedWords(one.tree)
  if (one.tree === null || excluded.length < 2) return null
  return { ...one, tree: withoutNodes(one.tree, new Set(excluded)), dropped: [...one.dropped, ...excluded] }
}

function excludedWords(node: QueryNode): readonly QueryNode[] {
  if (node.kind === 'not') return fieldOf(node) === null ? [node] : []
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(excludedWords) : []
}

/** A name of more parts was pasted, and not remembered in part. */
const NAME_PARTS_MAX = 8
/** What is shorter stands nearly everywhere. */
const NAME_PART_LENGTH_MIN = 2

/**
 * A query for the parts of its names, wherever they stand: `fetchProfile` was `fetchUserProfile`. Null where it holds no
 * such name.
 */
export function withNamesApart(one: Relaxation): Relaxation | null {
  const { tree } = one
  const nodes = tree?.kind === 'and' ? tree.nodes : tree === null ? [] : [tree]
  const apart = nodes.map((node) => (node.kind === 'words' ? partsApart(node) : null))
  const dropped = nodes.filter((_, at) => apart[at] !== null)
  if (dropped.length === 0) return null
  const rest = allOf(nodes.flatMap((node, at): readonly QueryNode[] => apart[at] ?? [node]))
  return { ...one, tree: rest, dropped: [...one.dropped, ...dropped] }
}

function partsApart({ text, isPrefix }: WordsNode): readonly WordsNode[] | null {
  const terms = /\s/.test(text) ? [] : tokenize(text)
  const isName =
    terms.length > 1 &&
    terms.length <= NAME_PARTS_MAX &&
    terms.every(({ term }) => term.length >= NAME_PART_LENGTH_MIN && !isUnspacedSign(Array.from(term)[0] ?? ''))
  if (!isName) return null
  return terms.map(({ start, end }, at) => ({
    kind: 'words',
    text: text.slice(start, end),
    isPrefix: isPrefix && at === terms.length - 1,
  }))
}

interface Dropped {
  readonly dropped: readonly QueryNode[]
  readonly rest: QueryNode | null
}

function relaxTree(tree: QueryNode): readonly Dropped[] {
  if (tree.kind === 'words') return wordsApart(tree)
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

function wordsApart(phrase: Extract<QueryNode, { readonly kind: 'words' }>): readonly Dropped[] {
  const texts = piecesOf(phrase.text).filter((text) => /[\p{L}\p{N}]/u.test(text))
  if (texts.length < 2) return []
  const last = texts.length - 1
  const words = texts.map((text, at) => ({ kind: 'words' as const, text, isPrefix: phrase.isPrefix && at === last }))
  return [{ dropped: [phrase], rest: allOf(words) }]
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

/** The name of a field, be it asked for or excluded. */
export function fieldOf(node: QueryNode): string | null {
  if (node.kind === 'not') return fieldOf(node.node)
  return node.kind === 'field' ? node.name : null
}

const isDate = (node: QueryNode): boolean => ['before', 'after', 'on'].includes(fieldOf(node) ?? '')
