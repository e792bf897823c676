import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'

/** How many messages of one millisecond have a key of their own before they borrow from the next. */
export const SLOTS_PER_MS = 1024

/**
 * The least key a message of this time may have: keys grow with time, 1,024 to a millisecond, within 2^53 until the
 * year 2248. A message without a time sorts before all others.
 * @param createdAtMs epoch milliseconds, or null where unknown
 */
export function sortKeyFloor(createdAtMs: number | null): number {
  return createdAtMs === null ? 1 : Math.max(1, Math.floor(createdAtMs)) * SLOTS_PER_MS
}

const IS_TAKEN = `select 1 from messages where key = ?`
const NEXT_KEYS = `select key from messages where key >= ? order by key`
const LAST_UNTIMED_KEY = `select max(key) as key from messages where key < ?`

/** Keys that are all taken. */
interface Run {
  readonly from: number
  /** The key behind the last of them. */
  readonly end: number
}

/**
 * Gives messages their keys during one transaction: the first free one at or after the message's time, and its place
 * within the millisecond by its position. It remembers what it found taken, for a chat without times of its own has all
 * its messages in one millisecond, and so may have chats that were made in one go.
 */
export class KeyAllocator {
  readonly #db: Mirror
  /** By the first key of a millisecond. */
  readonly #runs = new Map<number, Run>()

  constructor(db: Mirror) {
    this.#db = db
  }

  /** @param createdAtMs epoch milliseconds, or null where unknown: such keys are less than all others */
  next(createdAtMs: number | null, position: number | null): number {
    if (createdAtMs === null) return this.#nextUntimed()
    const floor = sortKeyFloor(createdAtMs)
    const wanted = floor + Math.min(position ?? 0, SLOTS_PER_MS - 1)
    const run = this.#runs.get(floor)
    const isTaken = run !== undefined && run.from <= wanted && wanted <= run.end
    const key = this.#firstFree(isTaken ? run.end : wanted)
    this.#runs.set(floor, { from: isTaken ? run.from : wanted, end: key + 1 })
    return key
  }

  #nextUntimed(): number {
    const below = BigInt(sortKeyFloor(1e9))
    return (prepared<{ key: number | null }>(this.#db, LAST_UNTIMED_KEY).get(below)?.key ?? 0) + 1
  }

  #firstFree(from: number): number {
    // Nearly always it is free, and a walk costs more to begin than one look.
    if (prepared(this.#db, IS_TAKEN).get(BigInt(from)) === undefined) return from
    let key = from
    for (const taken of prepared<{ key: number }>(this.#db, NEXT_KEYS).iterate(BigInt(from))) {
      if (taken.key !== key) break
      key += 1
    }
    return key
  }
}
