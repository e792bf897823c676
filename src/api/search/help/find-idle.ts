import type { Mirror } from '../../../mirror/open.ts'
import type { Clock } from '../../periods.ts'
import { findsAny } from '../match/count-found.ts'
import type { Deadline } from '../deadline.ts'
import { echo } from '../language/lex.ts'
import { printQuery } from '../language/print.ts'
import type { QueryNode } from '../language/tree.ts'
import { filterGroups, type Asked } from './relaxations.ts'
import type { FilterName, SearchFilters } from '../request.ts'

/** Words, fields and filters that find nothing even where nothing else is asked. */
export interface Idle {
  readonly nodes: ReadonlySet<QueryNode>
  readonly names: readonly FilterName[]
}

/** So many are looked at one by one. */
const LOOKED_AT_MAX = 8

export function findIdle(db: Mirror, { tree, filters }: Asked, clock: Clock, deadline: Deadline): Idle {
  const isIdle = (alone: Asked): boolean =>
    !findsAny(db, alone.tree, { filters: alone.filters, clock }, deadline) && !deadline.isPassed()
  const leaves = tree === null ? [] : leavesOf(tree).slice(0, LOOKED_AT_MAX)
  const nodes = leaves.filter((leaf) => isIdle({ tree: leaf, filters: {} }))
  const names = filterGroups(filters).filter((group) => {
    const alone = Object.fromEntries(group.map((name) => [name, filters[name] ?? []]))
    return isIdle({ tree: null, filters: alone })
  })
  return { nodes: new Set(nodes), names: names.flat() }
}

/** What is asked for and not excluded. `in:` says where words count, and is nothing by itself. */
function leavesOf(node: QueryNode): readonly QueryNode[] {
  if (node.kind === 'and' || node.kind === 'or') return node.nodes.flatMap(leavesOf)
  return node.kind === 'not' || (node.kind === 'field' && node.name === 'in') ? [] : [node]
}

export function warnOfIdle({ nodes, names }: Idle, filters: SearchFilters): readonly string[] {
  const all = [...nodes]
  const words = all.flatMap((node) => (node.kind === 'words' ? [echo(node.text)] : []))
  const insides = all.flatMap((node) => (node.kind === 'inside' ? [echo(printQuery(node))] : []))
  const fields = all.flatMap((node) => (node.kind === 'field' ? [printQuery(node)] : []))
  const held = [...new Set([...words, ...insides])].join(' or ')
  const named = names.map((name) => `${name} ${echoAll(filters[name] ?? [])}`).join(' ')
  const passed = [...fields, ...(named === '' ? [] : [`the filter ${named}`])].join(' or ')
  return [...(held === '' ? [] : [`Nothing holds ${held}.`]), ...(passed === '' ? [] : [`Nothing passes ${passed}.`])]
}

/** Of many values the first ones. */
const ECHOED_MAX = 3

const echoAll = (values: readonly string[]): string =>
  [...values.slice(0, ECHOED_MAX).map(echo), ...(values.length > ECHOED_MAX ? ['…'] : [])].join(', ')
