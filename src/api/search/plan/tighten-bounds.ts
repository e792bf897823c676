import type { Mirror } from '../../../mirror/open.ts'
import type { Branch } from './branch.ts'

/** Beyond so many chats their messages lie everywhere in time, and looking for their bounds does not pay. */
const TIGHTENED_CHATS_MAX = 50

const SELECT_BOUNDS = `
  select min(m.key) as low, max(m.key) as high
  from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high
`

/** A few chats lie close in time, and so in the full-text index. */
export function tightenBounds(db: Mirror, branch: Branch): Branch {
  const { chats, low, high } = branch
  if (chats === null || chats.length > TIGHTENED_CHATS_MAX) return branch
  const bounds = db
    .prepare<[object], { low: number | null; high: number | null }>(SELECT_BOUNDS)
    .get({ chats: JSON.stringify(chats), low, high })
  if (bounds === undefined || bounds.low === null || bounds.high === null) return { ...branch, high: low - 1n }
  return { ...branch, low: BigInt(bounds.low), high: BigInt(bounds.high) }
}
