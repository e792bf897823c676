import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import type { FacetValue } from '../answers/search.ts'
import { monthOf } from '../periods.ts'
import { LOCAL } from '../queries/scope.ts'
import { FIRST_DATED_KEY } from './fields.ts'
import { planQuery, type Plan } from './plan.ts'
import {
  partNames,
  type QueryNode,
  filterNodes,
  type FacetName,
  type SearchFilters,
  type SearchRequest,
} from './query.ts'
import type { FilterName } from '../../shared/filters.ts'
import { newestMessages, statementOf, type Newest } from './statement.ts'
import { countHits, titlesBeside, TITLES_MAX, type TitleHits } from './titles.ts'

/** How many values of a facet are returned. */
const VALUES_MAX = 100

/** Messages of one chat that are alike in all that the wanted facets count. What none of them counts is null. */
export interface Alike {
  readonly chat: number
  readonly count: number
  readonly firstKey: number
  readonly lastKey: number
  readonly role: string | null
  readonly model: string | null
  /** The facts of a message as a JSON list. */
  readonly marks: string | null
  /** Id and name. */
  readonly project: string | null
  readonly projectName: string | null
  /** With the user, because several users may have a machine of the same name. */
  readonly machine: string
  readonly machineName: string
}

/** The columns of a message by which facets count. */
const COLUMNS = [
  ['role', 'role'],
  ['model', 'model'],
  ['tool', 'marks'],
] as const

/** Reads each message once, for groups and all facets. A message without a model has the model of its chat. */
export function alikeMessages(db: Mirror, keys: readonly number[], facets: readonly FacetName[]): readonly Alike[] {
  const wanted = COLUMNS.filter(([facet]) => facets.includes(facet)).map(([, column]) => column)
  const columns = COLUMNS.map(([, column]) => (wanted.includes(column) ? `m.${column}` : `null as ${column}`))
  const index = wanted.includes('marks') ? '' : 'indexed by message_facts'
  const sql = `
    select g.chat, g.count, g.firstKey, g.lastKey, g.role, g.marks, ifnull(g.model, c.model) as model,
      p.id as project, p.name as projectName,
      ifnull(h.user || '/' || h.name, '${LOCAL}') as machine, ifnull(h.name, '${LOCAL}') as machineName
    from (
      select m.chat, count(*) as count, min(m.key) as firstKey, max(m.key) as lastKey, ${columns.join(', ')}
      from json_each(?) k cross join messages m ${index} on m.key = k.value
      group by ${['m.chat', ...wanted.map((column) => `m.${column}`)].join(', ')}
    ) g
    cross join chats c on c.num = g.chat
    left join projects p on p.num = c.project
    left join machines h on h.id = c.machine
  `
  return statementOf<Alike>(db, sql).all(JSON.stringify(keys))
}

/** How many of the newest matching messages are grouped, and counted by facets. */
const EVERY_MAX = 20_000

/** The hits that are grouped and counted by facets. */
export interface EveryHit {
  readonly newest: Newest
  /** The newest messages, with what groups and facets need of them. */
  readonly alike: readonly Alike[]
  readonly titles: TitleHits
  /** False while older messages wait to be indexed: then every count is a lower bound. */
  readonly isIndexed: boolean
}

export function findEveryHit(db: Mirror, plan: Plan, facets: readonly FacetName[]): EveryHit {
  const newest = newestMessages(db, plan.messages, EVERY_MAX)
  const titles = titlesBeside(db, plan, newest, null)
  return { newest, alike: alikeMessages(db, newest.keys, facets), titles, isIndexed: countWaiting(db) === 0 }
}

/** The value of a facet and its label. */
type Labelled = readonly [value: string, label: string]

/** The values that each facet counts for a message. `part` and `month` are counted otherwise. */
const valuesIn: Readonly<Partial<Record<FacetName, (alike: Alike) => readonly Labelled[]>>> = {
  project: ({ project, projectName }) => (project === null ? [] : [[project, projectName ?? '']]),
  machine: ({ machine, machineName }) => [[machine, machineName]],
  role: ({ role }) => plain(role),
  model: ({ model }) => plain(model),
  tool: ({ marks }) => toolsOf(marks ?? '[]').flatMap(plain),
}

const plain = (value: string | null): readonly Labelled[] => (value === null ? [] : [[value, value]])

const toolsOf = (marks: string): readonly string[] =>
  (JSON.parse(marks) as readonly string[]).flatMap((mark) => (mark.startsWith('tool:') ? [mark.slice(5)] : []))

type CountedValue = Omit<FacetValue, 'countIsExact'>

/** The most frequent values first. Others by their bytes, as SQLite sorts. */
function countValues(alike: readonly Alike[], of: (alike: Alike) => readonly Labelled[]): readonly CountedValue[] {
  const counted = new Map<string, { value: string; label: string; count: number }>()
  for (const each of alike) {
    for (const [value, label] of of(each)) {
      const known = counted.get(value)
      if (known === undefined) counted.set(value, { value, label, count: each.count })
      else known.count += each.count
    }
  }
  return [...counted.values()]
    .sort((a, b) => b.count - a.count || Buffer.compare(Buffer.from(a.label), Buffer.from(b.label)))
    .slice(0, VALUES_MAX)
}

/** The newest month first. Keys are in the order of time, and those without a time are the least. */
function countMonths(keys: readonly number[], timeZone: string): readonly CountedValue[] {
  const months: { value: string; label: string; count: number }[] = []
  let startMs = Infinity
  for (const key of keys.toSorted((a, b) => b - a)) {
    if (key < FIRST_DATED_KEY) break
    const atMs = Math.floor(key / SLOTS_PER_MS)
    if (atMs < startMs) {
      const month = monthOf(atMs, timeZone)
      startMs = month.startMs
      months.push({ value: month.name, label: month.name, count: 0 })
    }
    const last = months.at(-1)
    if (last !== undefined) last.count += 1
  }
  return months.slice(0, VALUES_MAX)
}

export interface Facets {
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>
  readonly warnings: readonly string[]
}

/** The filters that choose a value of a facet, if they have another name. */
const filtersOfFacet: Readonly<Partial<Record<FacetName, readonly FilterName[]>>> = {
  part: ['in'],
  month: ['from', 'to'],
}

const ownOf = (name: FacetName): readonly FilterName[] => filtersOfFacet[name] ?? [name as FilterName]

/**
 * Counts the hits by project, tool and so on: how many there would be with that value. So the filter of a facet's own
 * values does not apply to its counts: they are those of choosing another one.
 */
export function countFacets(db: Mirror, tree: QueryNode | null, request: SearchRequest, every: EveryHit): Facets {
  const { filters, clock } = request
  const isFree = (name: FacetName): boolean => ownOf(name).every((filter) => filters[filter] === undefined)
  const treesOf = (left: SearchFilters): readonly QueryNode[] => [
    ...filterNodes(left),
    ...(tree === null ? [] : [tree]),
  ]
  const counted = [countNames(db, treesOf(filters), request.facets.filter(isFree), clock, every)]
  for (const name of request.facets.filter((each) => !isFree(each))) {
    const others = Object.entries(filters).filter(([filter]) => !ownOf(name).includes(filter as FilterName))
    const trees = treesOf(Object.fromEntries(others))
    counted.push(countNames(db, trees, [name], clock, findEveryHit(db, planQuery(db, trees, clock), [name])))
  }
  const facets = Object.assign({}, ...counted.map((each) => each.facets)) as Facets['facets']
  const inOrder = request.facets.map((name) => [name, facets[name] ?? []])
  return { facets: Object.fromEntries(inOrder), warnings: counted.flatMap(({ warnings }) => warnings) }
}

function countNames(
  db: Mirror,
  trees: readonly QueryNode[],
  names: readonly FacetName[],
  clock: SearchRequest['clock'],
  { newest, alike, titles, isIndexed }: EveryHit,
): Facets {
  if (names.length === 0) return { facets: {}, warnings: [] }
  const titled = titles.hits.map(({ key }) => key)
  const all = [...alike, ...alikeMessages(db, titled, names)]
  const countIsExact = isIndexed && newest.isWhole && titles.isWhole
  const facets = names.map((name) => {
    if (name === 'part') return [name, countParts(db, trees, clock, isIndexed)]
    const of = valuesIn[name]
    const values = of === undefined ? countMonths([...titled, ...newest.keys], clock.timeZone) : countValues(all, of)
    return [name, values.map((value) => ({ ...value, countIsExact }))]
  })
  const warnings = [
    ...(newest.isWhole ? [] : [`The facets count only the newest ${EVERY_MAX} matching messages.`]),
    ...(titles.isWhole ? [] : [`Of chats that match only by title, the facets count the newest ${TITLES_MAX}.`]),
  ]
  return { facets: Object.fromEntries(facets), warnings }
}

/** Counts with one search per part: a message counts if the whole query matches in that kind of part. */
function countParts(
  db: Mirror,
  trees: readonly QueryNode[],
  clock: SearchRequest['clock'],
  isIndexed: boolean,
): readonly FacetValue[] {
  const counts = partNames.map((name): FacetValue => {
    const within: QueryNode = { kind: 'field', name: 'in', values: [name] }
    const { count, isExact } = countHits(db, planQuery(db, [within, ...trees], clock))
    return { value: name, label: name, count, countIsExact: isExact && isIndexed }
  })
  return counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
}
