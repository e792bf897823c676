import type { Mirror } from '../../mirror/open.ts'
import { monthOf } from '../periods.ts'
import { LOCAL } from '../queries/machines.ts'
import { countMessages, newestMessages } from './match/count-messages.ts'
import type { Deadline } from './deadline.ts'
import { findTitles, titlesBeside } from './titles/find-titles.ts'
import { CANDIDATES_MAX } from './titles/title-candidates.ts'
import { partNames, type QueryNode } from './language/tree.ts'
import { planQuery, type QueryPlan } from './plan/plan.ts'
import type { FacetName, SearchRequest } from './request.ts'
import { rowsOf, valuesOf } from './match/statement.ts'
import type { FacetValue } from '../http/schemas/search.ts'

/** How many of the newest matching messages are counted. */
const COUNTED_MAX = 20_000
/** How many values of a facet are returned, the most frequent first. */
const VALUES_MAX = 100

export interface Facets {
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>
  readonly warnings: readonly string[]
}

/** Counts the hits by project, tool and so on: how many would be left with that filter. */
export function countFacets(
  db: Mirror,
  plan: QueryPlan,
  trees: readonly QueryNode[],
  request: SearchRequest,
  deadline: Deadline,
): Facets {
  if (request.facets.length === 0) return { facets: {}, warnings: [] }
  const newest = newestMessages(db, plan.branches, COUNTED_MAX, deadline)
  const titles = titlesBeside(db, plan, newest, null, deadline)
  const json = JSON.stringify([...titles.hits.map(({ key }) => key), ...newest.keys])
  const count: Readonly<Record<FacetName, () => readonly FacetValue[]>> = {
    part: () => countParts(db, trees, request, deadline),
    month: () => countMonths(db, json, request.clock.timeZone),
    project: () => countValues(db, PROJECTS, json),
    role: () => countValues(db, ROLES, json),
    tool: () => countValues(db, TOOLS, json),
    model: () => countValues(db, MODELS, json),
    machine: () => countValues(db, MACHINES, json),
  }
  const facets = Object.fromEntries(request.facets.map((name) => [name, count[name]()]))
  const isCut = newest.keys.length === COUNTED_MAX && !newest.isWhole
  const warnings = [
    ...(isCut ? [`The facets count only the newest ${COUNTED_MAX} matching messages.`] : []),
    ...(titles.isWhole ? [] : [`Of chats that match only by title, the facets count the newest ${CANDIDATES_MAX}.`]),
  ]
  return { facets, warnings }
}

const PROJECTS = `
  select p.id as value, p.name as label, count(*) as count
  from json_each(@keys) k
  cross join messages m on m.key = k.value
  cross join chats c on c.num = m.chat
  cross join projects p on p.num = c.project
  group by p.num order by count desc, label limit @limit
`
const ROLES = `
  select m.role as value, m.role as label, count(*) as count
  from json_each(@keys) k cross join messages m on m.key = k.value
  group by 1 order by count desc, label limit @limit
`
const TOOLS = `
  select substr(t.value, 6) as value, substr(t.value, 6) as label, count(*) as count
  from json_each(@keys) k cross join messages m on m.key = k.value cross join json_each(m.marks) t
  where t.value glob 'tool:*'
  group by 1 order by count desc, label limit @limit
`
const MODELS = `
  select coalesce(m.model, c.model) as value, coalesce(m.model, c.model) as label, count(*) as count
  from json_each(@keys) k cross join messages m on m.key = k.value cross join chats c on c.num = m.chat
  where coalesce(m.model, c.model) is not null
  group by 1 order by count desc, label limit @limit
`

/** With the user, because several users may have a machine of the same name. */
const MACHINES = `
  select ifnull(h.user || '/' || h.name, '${LOCAL}') as value, ifnull(h.name, '${LOCAL}') as label, count(*) as count
  from json_each(@keys) k
  cross join messages m on m.key = k.value
  cross join chats c on c.num = m.chat
  left join machines h on h.id = c.machine
  group by 1 order by count desc, label limit @limit
`

function countValues(db: Mirror, sql: string, keys: string): readonly FacetValue[] {
  return rowsOf<FacetValue>(db, sql).all({ keys, limit: VALUES_MAX })
}

/** Counts with one search per part: a message counts if the whole query matches in that kind of part. */
function countParts(
  db: Mirror,
  trees: readonly QueryNode[],
  request: SearchRequest,
  deadline: Deadline,
): readonly FacetValue[] {
  const counts = partNames.map((name): FacetValue => {
    // Checked here, because each part needs its own search.
    if (deadline.isPassed()) return { value: name, label: name, count: 0 }
    const within: QueryNode = { kind: 'field', name: 'in', values: [name] }
    const plan = planQuery(db, [within, ...trees], request.clock)
    const { count } = countMessages(db, plan.branches, deadline)
    return { value: name, label: name, count: count + findTitles(db, plan, deadline).hits.length }
  })
  return counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
}

const TIMES = `
  select m.created_at from json_each(@keys) k cross join messages m on m.key = k.value
  where m.created_at is not null order by m.created_at desc
`

/** The newest first. */
function countMonths(db: Mirror, keys: string, timeZone: string): readonly FacetValue[] {
  const months: { value: string; label: string; count: number }[] = []
  let startMs = Infinity
  for (const time of valuesOf<number>(db, TIMES).iterate({ keys })) {
    if (time < startMs) {
      const month = monthOf(time, timeZone)
      startMs = month.startMs
      months.push({ value: month.name, label: month.name, count: 0 })
    }
    const last = months.at(-1)
    if (last !== undefined) last.count += 1
  }
  return months.slice(0, VALUES_MAX)
}
