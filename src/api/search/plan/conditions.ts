import type { Mirror } from '../../../mirror/open.ts'
import { columnNames } from '../../../text/terms/columns.ts'
import type { TermPhrase } from '../../../text/passages/matcher.ts'
import type { Clock } from '../../periods.ts'
import type { partNames } from '../language/read-field.ts'
import { hasWords, type FieldNode, type InsideNode, type QueryNode } from '../language/tree.ts'
import { allHold, anyHolds, doesNotHold, never, type Condition } from './condition.ts'
import { expandInside } from './expand-inside.ts'
import { resolveField } from './resolve-field.ts'
import { wordPhrases } from './word-phrases.ts'

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
