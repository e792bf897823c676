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

/** How a query is run on the mirror. */
export interface QueryPlan {
  /** The alternatives for a message; empty if nothing can match. */
  readonly branches: readonly Branch[]
  /** The same for titles, which are searched in place of a message. Only alternatives with words. */
  readonly titleBranches: readonly Branch[]
  /** What to mark in a snippet. */
  readonly phrases: readonly WantedPhrase[]
  /** The words by which messages and titles are ranked. Each word is listed once. */
  readonly words: readonly PhrasesMatch[]
  readonly hasWords: boolean
  readonly warnings: readonly string[]
  readonly condition: Condition
}

/** @param trees all of them must match; `in:` in one of them also applies to the words of the others */
export function planQuery(db: Mirror, trees: readonly QueryNode[], clock: Clock): QueryPlan {
  const warnings: string[] = []
  const lookup: Lookup = { db, clock, warnings, fields: new Map() }
  const [only] = trees
  const tree: QueryNode = trees.length === 1 && only !== undefined ? only : { kind: 'and', nodes: trees }
  const condition = conditionOf(tree, lookup, 'message')
  const messages = branchesOf(condition)
  const titles = branchesOf(conditionOf(tree, lookup, 'title'))
  if (messages.isCut || titles.isCut) {
    warnings.push(
      `The query has more than ${BRANCHES_MAX} alternatives by OR: only the first ${BRANCHES_MAX} were searched for.`,
    )
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

/** Where words are searched: in the message itself, or in the title of its chat. */
type Target = 'message' | 'title'
/** The parts in which words count; null for all. */
type Places = ReadonlySet<string> | null

/** Looks up the words and fields of a query in the mirror. */
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

/** `in:` restricts the words next to it to a part. Without words next to it, it asks whether a message has that part. */
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

/** A cache, because one search may plan many queries with the same node. */
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

/** A title has no marks. So the marks of the message that is shown for the title are tested. */
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
