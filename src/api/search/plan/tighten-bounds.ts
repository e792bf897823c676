import type { Mirror } from '../../../mirror/open.ts'
import type { Branch, KeyRange } from './branch.ts'
import { rowsOf, valuesOf } from '../match/statement.ts'

/** Beyond so many chats their messages lie everywhere in time, and walking from one to the next does not pay. */
const TIGHTENED_CHATS_MAX = 200

/** More messages are told by their chats. */
const KEYS_MAX = 2000

const SELECT_RANGES = `
  select min(m.key) as low, max(m.key) as high
  from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high
  group by c.key
`
const SELECT_KEYS = `
  select m.key from json_each(@chats) c cross join messages m on m.chat = c.value where m.key between @low and @high
  limit @rows
`

/** A few chats lie close in time, and so in the full-text index: only where they lie is walked. */
export function tightenBounds(db: Mirror, branch: Branch): Branch {
  const { chats, low, high } = branch
  if (chats === null || chats.length > TIGHTENED_CHATS_MAX) return branch
  const params = { chats: JSON.stringify(chats), low, high }
  const found = rowsOf<{ low: number; high: number }>(db, SELECT_RANGES).all(params)
  const ranges = joinRanges(found.map((range) => ({ low: BigInt(range.low), high: BigInt(range.high) })))
  const first = ranges.at(-1)
  const last = ranges[0]
  if (first === undefined || last === undefined) return { ...branch, high: low - 1n, ranges: [] }
  const bounds = { low: first.low, high: last.high }
  if (branch.match === null) return { ...branch, ...bounds, ranges }
  // Each walk of a prefix merges its lists anew: one walk then, past all that is of other chats.
  const keys = valuesOf<number>(db, SELECT_KEYS).all({ ...params, rows: branch.isCostly ? -1 : KEYS_MAX + 1 })
  if (branch.isCostly) return { ...branch, ...bounds, ranges: [bounds], keys }
  return { ...branch, ...bounds, ranges, keys: keys.length > KEYS_MAX ? null : keys }
}

/** Those that overlap are one. @returns the newest first */
function joinRanges(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const joined: KeyRange[] = []
  for (const range of ranges.toSorted((a, b) => (a.high > b.high ? -1 : 1))) {
    const newer = joined.at(-1)
    if (newer === undefined || range.high < newer.low) joined.push(range)
    else joined[joined.length - 1] = { low: range.low < newer.low ? range.low : newer.low, high: newer.high }
  }
  return joined
}
