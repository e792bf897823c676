import { readAlike, type Alike } from './count-alike.ts'
import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import { newestMessages, type Newest } from './match/count-messages.ts'
import type { QueryPlan } from './plan/plan.ts'
import type { FacetName } from './request.ts'
import { titlesBeside, type TitleHits } from './titles/find-titles.ts'

/** How many of the newest matching messages are grouped, and counted by facets. */
export const EVERY_MAX = 20_000

/** The hits that are grouped and counted by facets. */
export interface EveryHit {
  readonly newest: Newest
  /** The newest messages, with what groups and facets need of them. */
  readonly alike: readonly Alike[]
  readonly titles: TitleHits
  /** False while older messages wait to be indexed: then every count is a lower bound. */
  readonly isIndexed: boolean
}

/** Finds them at the first call, and only once. */
export function findEveryHit(
  db: Mirror,
  plan: QueryPlan,
  facets: readonly FacetName[],
  deadline: Deadline,
): () => EveryHit {
  let found: EveryHit | null = null
  return () => {
    if (found !== null) return found
    const newest = newestMessages(db, plan.branches, EVERY_MAX, deadline)
    const titles = titlesBeside(db, plan, newest, null, deadline)
    found = { newest, alike: readAlike(db, newest.keys, facets), titles, isIndexed: countWaiting(db) === 0 }
    return found
  }
}
