import type { Mirror } from '../../mirror/open.ts'
import { sortKeyFloor } from '../../mirror/sort-key.ts'
import type { SearchRequest } from './request.ts'

/**
 * A request's filters, as parameters of statements. Bounds are BigInt: better-sqlite3 binds numbers as REAL, and a
 * full-text table ignores REAL bounds on its rowid.
 */
export interface Scope {
  /** Least and greatest message key, both inclusive. */
  readonly low: bigint
  readonly high: bigint
  /** JSON arrays, or null where all pass. */
  readonly roles: string | null
  readonly chats: string | null
}

export type Filters = Pick<SearchRequest, 'projectNums' | 'roles' | 'chatIds' | 'fromMs' | 'toMs'>

/** Keys below stand for messages without a time: this is a week after the epoch. */
const FIRST_DATED_KEY = 1_024_000_000_000
const LAST_KEY = 9_223_372_036_854_775_807n

export function hasFilter(filters: Filters): boolean {
  const { projectNums, roles, chatIds, fromMs, toMs } = filters
  return [projectNums, roles, chatIds, fromMs, toMs].some((filter) => filter !== null)
}

export function resolveScope(db: Mirror, filters: Filters): Scope {
  const { fromMs, toMs, roles } = filters
  const isDated = fromMs !== null || toMs !== null
  const low = Math.max(fromMs === null ? 1 : sortKeyFloor(fromMs), isDated ? FIRST_DATED_KEY : 1)
  const high = toMs === null ? LAST_KEY : BigInt(sortKeyFloor(toMs)) - 1n
  const chats = resolveChats(db, filters)
  return {
    ...tightenBounds(db, BigInt(low), high, chats),
    roles: roles === null ? null : JSON.stringify(roles),
    chats: chats === null ? null : JSON.stringify(chats),
  }
}

const SELECT_CHATS = `
  select num from chats
  where (@ids is null or id in (select value from json_each(@ids)))
    and (@projects is null or project in (select value from json_each(@projects)))
`

function resolveChats(db: Mirror, filters: Filters): readonly number[] | null {
  const { chatIds, projectNums } = filters
  if (chatIds === null && projectNums === null) return null
  const ids = chatIds === null ? null : JSON.stringify(chatIds)
  const projects = projectNums === null ? null : JSON.stringify(projectNums)
  return db.prepare<[object], number>(SELECT_CHATS).pluck().all({ ids, projects })
}

/** Beyond so many chats their messages lie everywhere in time, and looking for their bounds does not pay. */
const TIGHTENED_CHATS_MAX = 50

const SELECT_BOUNDS = `
  select min(m.key) as low, max(m.key) as high
  from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high
`

function tightenBounds(
  db: Mirror,
  low: bigint,
  high: bigint,
  chats: readonly number[] | null,
): Pick<Scope, 'low' | 'high'> {
  if (chats === null || chats.length > TIGHTENED_CHATS_MAX) return { low, high }
  const bounds = db
    .prepare<[object], { low: number | null; high: number | null }>(SELECT_BOUNDS)
    .get({ chats: JSON.stringify(chats), low, high })
  if (bounds === undefined || bounds.low === null || bounds.high === null) return { low, high: low - 1n }
  return { low: BigInt(bounds.low), high: BigInt(bounds.high) }
}
