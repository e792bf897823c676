import type { Mirror } from '../../../mirror/open.ts'
import type { WantedPhrase, TermPhrase } from '../../../text/passages/matcher.ts'
import type { Clock } from '../../periods.ts'
import { type QueryNode, hasWords, type FieldNode, type InsideNode, type partNames } from '../language/tree.ts'
import { BRANCHES_MAX, branchesOf, type Branch, tightenBounds } from './branch.ts'
import { type Condition, allHold, anyHolds, doesNotHold, never, type PhrasesMatch } from './condition.ts'
import { columnNames } from '../../../text/terms/columns.ts'
import { expandInside } from './expand-inside.ts'
import { resolveField } from './resolve-field.ts'
import { wordPhrases } from './word-phrases.ts'

/** A query as the mirror is asked it. */
export interface QueryPlan {
  /** The ways in which a message can pass; none where nothing can. */
  readonly branches: readonly Branch[]
  /** The same over titles, words of which stand in a message's place; only those that words are asked of. */
  readonly titleBranches: readonly Branch[]
  /** What to mark in a passage. */
  readonly phrases: readonly WantedPhrase[]
  /** What a message or a title is ranked by: each word that was asked for, once. */
  readonly words: readonly PhrasesMatch[]
  readonly hasWords: boolean
  readonly warnings: readonly string[]
  readonly condition: Condition
}

/** @param trees all of them must hold; `in:` of one reaches into the others */
export function planQuery(db: Mirror, trees: readonly QueryNode[], clock: Clock): QueryPlan {
  const warnings: string[] = []
  const lookup: Lookup = { db, clock, warnings, fields: new Map() }
  const [only] = trees
  const tree: QueryNode = trees.length === 1 && only !== undefined ? only : { kind: 'and', nodes: trees }
  const condition = conditionOf(tree, lookup, 'message')
  const messages = branchesOf(condition)
  const titles = branchesOf(conditionOf(tree, lookup, 'title'))
  if (messages.isCut || titles.isCut) {
    warnings.push(`The query says more than ${BRANCHES_MAX} things by OR: only the first were searched for.`)
  }
  const branches = messages.branches.map((branch) => tightenBounds(db, branch))
  const titleBranches = titles.branches.filter((branch) => branch.match !== null)
  const all = [...branches, ...titleBranches]
  return {
    branches,
    titleBranches,
    phrases: [...new Map(all.flatMap((branch) => branch.phrases.map(keyed))).values()],
    words: [...new Map(all.flatMap((branch) => branch.words.map(wordKeyed))).values()],
    hasWords: all.some((branch) => branch.hasWords),
    warnings,
    condition,
  }
}

const keyed = (phrase: WantedPhrase): [string, WantedPhrase] => [JSON.stringify(phrase), phrase]

const wordKeyed = (word: PhrasesMatch): [string, PhrasesMatch] => [JSON.stringify(word.phrases), word]

type PartName = (typeof partNames)[number]

export interface Lookup {
  readonly db: Mirror
  readonly clock: Clock
  readonly warnings: string[]
  readonly fields: Map<FieldNode, Condition>
}

/** What the words are met in: the message itself, or the title of its chat in its place. */
type Target = 'message' | 'title'
/** The parts in which words count; null: in all. */
type Places = ReadonlySet<string> | null

/** A query with its words and fields looked up in the mirror. */
export function conditionOf(node: QueryNode, lookup: Lookup, target: Target, places: Places = null): Condition {
  switch (node.kind) {
    case 'words':
      return wordsCondition(wordPhrases(node.text, node.isPrefix), target, places)
    case 'inside':
      return wordsCondition(insidePhrases(node, lookup), target, places, true)
    case 'field':
      return fieldCondition(node, lookup, target)
    case 'not':
      return doesNotHold(conditionOf(node.node, lookup, target, places))
    case 'or':
      return anyHolds(node.nodes.map((each) => conditionOf(each, lookup, target, places)))
    default:
      return togetherCondition(node.nodes, lookup, target, places)
  }
}

/** `in:` says of the words beside it where they stand; with none beside it, what a message is to have. */
function togetherCondition(nodes: readonly QueryNode[], lookup: Lookup, target: Target, places: Places): Condition {
  const others = nodes.filter((node) => namedPlaces(node) === null)
  const isRestricted = others.length < nodes.length && others.some(hasWords)
  const within = isRestricted ? nodes.reduce(restrict, places) : places
  const asked = isRestricted ? others : nodes
  return allHold(asked.map((node) => conditionOf(node, lookup, target, within)))
}

function namedPlaces(node: QueryNode): { readonly names: readonly string[]; readonly isExcluded: boolean } | null {
  if (node.kind === 'field' && node.name === 'in') return { names: node.values, isExcluded: false }
  return node.kind === 'not' && node.node.kind === 'field' && node.node.name === 'in'
    ? { names: node.node.values, isExcluded: true }
    : null
}

function restrict(places: Places, node: QueryNode): Places {
  const named = namedPlaces(node)
  if (named === null) return places
  const before = places === null ? [...columnNames, 'title'] : [...places]
  return new Set(before.filter((name) => named.names.includes(name) !== named.isExcluded))
}

function wordsCondition(phrases: readonly TermPhrase[], target: Target, places: Places, isExpanded = false): Condition {
  if (phrases.length === 0) return never
  const words = { kind: 'phrases', phrases, isWord: true, isExpanded } as const
  if (target === 'title') {
    const isTitle = places === null || places.has('title')
    return isTitle ? { kind: 'match', match: { ...words, columns: null } } : never
  }
  const columns = places === null ? null : columnNames.filter((name) => places.has(name satisfies PartName))
  if (columns?.length === 0) return never
  const isEverywhere = columns?.length === columnNames.length
  return { kind: 'match', match: { ...words, columns: isEverywhere ? null : columns } }
}

/** Of one search, which may plan many queries that share a part. */
const expanded = new WeakMap<InsideNode, readonly TermPhrase[]>()

function insidePhrases(node: InsideNode, { db, warnings }: Lookup): readonly TermPhrase[] {
  const known = expanded.get(node) ?? expandInside(db, node, warnings)
  expanded.set(node, known)
  return known
}

function fieldCondition(field: FieldNode, lookup: Lookup, target: Target): Condition {
  const known = lookup.fields.get(field) ?? resolveField(lookup.db, field, lookup.clock)
  lookup.fields.set(field, known)
  return target === 'title' ? withoutIndex(known, field) : known
}

/** A title holds no marks: the message that carries it is asked for its own. */
function withoutIndex(condition: Condition, field: FieldNode): Condition {
  if (condition.kind === 'match' || condition.kind === 'not') {
    const says = field.values.map((value) => `${field.name}:${value}`).join(' or ')
    const test = { kind: 'marks', match: condition.match, says } as const
    return { kind: 'test', test: condition.kind === 'match' ? test : { kind: 'not', test } }
  }
  if (condition.kind !== 'and' && condition.kind !== 'or') return condition
  const parts = condition.conditions.map((each) => withoutIndex(each, field))
  return condition.kind === 'and' ? allHold(parts) : anyHolds(parts)
}
