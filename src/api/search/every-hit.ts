import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import { newestMessages, type Newest } from './match/count-messages.ts'
import type { QueryPlan } from './plan/plan.ts'
import { titlesBeside, type TitleHits } from './titles/find-titles.ts'

/** How many of the newest matching messages are grouped, and counted by facets. */
export const EVERY_MAX = 20_000

/** The hits that are grouped and counted by facets. */
export interface EveryHit {
  readonly newest: Newest
  readonly titles: TitleHits
}

/** Finds them at the first call, and only once. */
export function findEveryHit(db: Mirror, plan: QueryPlan, deadline: Deadline): () => EveryHit {
  let found: EveryHit | null = null
  return () => {
    if (found !== null) return found
    const newest = newestMessages(db, plan.branches, EVERY_MAX, deadline)
    found = { newest, titles: titlesBeside(db, plan, newest, null, deadline) }
    return found
  }
}
