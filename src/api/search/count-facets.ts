import type { Mirror } from '../../mirror/open.ts'
import {
  countMachines,
  countModels,
  countMonths,
  countProjects,
  countRoles,
  countTools,
  type CountedValue,
  mostFrequent,
  readAlike,
} from './count-alike.ts'
import { countMessages } from './match/count-messages.ts'
import type { Deadline } from './deadline.ts'
import { EVERY_MAX, type EveryHit } from './every-hit.ts'
import { findTitles } from './titles/find-titles.ts'
import { CANDIDATES_MAX } from './titles/title-candidates.ts'
import { partNames, type QueryNode } from './language/tree.ts'
import { planQuery } from './plan/plan.ts'
import type { FacetName, SearchRequest } from './request.ts'
import type { FacetValue } from '../answers/search.ts'

export interface Facets {
  readonly facets: Readonly<Record<string, readonly FacetValue[]>>
  readonly warnings: readonly string[]
}

/** Counts the hits by project, tool and so on: how many would be left with that filter. */
export function countFacets(
  db: Mirror,
  trees: readonly QueryNode[],
  request: SearchRequest,
  every: () => EveryHit,
  deadline: Deadline,
): Facets {
  if (request.facets.length === 0) return { facets: {}, warnings: [] }
  const { newest, alike: ofMessages, titles, isIndexed } = every()
  const titled = titles.hits.map(({ key }) => key)
  const alike = [...ofMessages, ...readAlike(db, titled, request.facets)]
  const count: Readonly<Record<FacetName, () => readonly (CountedValue & Partial<FacetValue>)[]>> = {
    part: () => countParts(db, trees, request, deadline),
    month: () => countMonths(db, alike, [...titled, ...newest.keys], request.clock.timeZone),
    project: () => countProjects(db, alike),
    role: () => mostFrequent(countRoles(alike)),
    tool: () => mostFrequent(countTools(alike)),
    model: () => mostFrequent(countModels(db, alike)),
    machine: () => countMachines(db, alike),
  }
  const isWhole = newest.isWhole && titles.isWhole
  const valuesOf = (name: FacetName): FacetValue[] =>
    count[name]().map((value) => ({ ...value, countIsExact: isIndexed && (value.countIsExact ?? isWhole) }))
  const facets = Object.fromEntries(request.facets.map((name) => [name, valuesOf(name)]))
  const isCut = newest.keys.length === EVERY_MAX && !newest.isWhole
  const warnings = [
    ...(isCut ? [`The facets count only the newest ${EVERY_MAX} matching messages.`] : []),
    ...(titles.isWhole ? [] : [`Of chats that match only by title, the facets count the newest ${CANDIDATES_MAX}.`]),
  ]
  return { facets, warnings }
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
    if (deadline.isPassed()) return { value: name, label: name, count: 0, countIsExact: false }
    const within: QueryNode = { kind: 'field', name: 'in', values: [name] }
    const plan = planQuery(db, [within, ...trees], request.clock)
    const { count, isExact } = countMessages(db, plan.branches, deadline)
    const titles = plan.titleBranches.length === 0 ? null : findTitles(db, plan, deadline)
    const countIsExact = isExact && titles?.isWhole !== false
    return { value: name, label: name, count: count + (titles?.hits.length ?? 0), countIsExact }
  })
  return counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
}
