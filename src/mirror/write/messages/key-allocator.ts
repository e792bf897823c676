import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'

/** Number of keys per millisecond. If more messages have the same time, they use keys of the next millisecond. */
export const SLOTS_PER_MS = 1024

/**
 * The lowest key that a message of this time can have. Keys grow with time, with 1,024 keys per millisecond; they stay
 * below 2^53 until the year 2248. A message without a time sorts before all others.
 * @param createdAtMs epoch milliseconds, or null if unknown
 */
export function sortKeyFloor(createdAtMs: number | null): number {
  return createdAtMs === null ? 1 : Math.max(1, Math.floor(createdAtMs)) * SLOTS_PER_MS
}

const IS_TAKEN = `select 1 from messages where key = ?`
const NEXT_KEYS = `select key from messages where key >= ? order by key`
const LAST_UNTIMED_KEY = `select max(key) as key from messages where key < ?`

/** A range of keys that are all taken. */
interface Run {
  readonly from: number
  /** The key after the last one. */
  readonly end: number
}

/**
 * Assigns keys to messages during one transaction: the first free key at or after the message's time; within the
 * millisecond, the position decides. It remembers taken ranges, because all messages of a chat without own times share one
 * millisecond, and so may several chats that were created at once. An assigned key need not be written before the next one
 * is asked for.
 */
export class KeyAllocator {
  readonly #db: Mirror
  /** By the first key of a millisecond. */
  readonly #runs = new Map<number, Run>()
  readonly #assigned = new Set<number>()
  #lastUntimed: number | null = null

  constructor(db: Mirror) {
    this.#db = db
  }

  /** @param createdAtMs epoch milliseconds, or null if unknown: such keys are lower than all others */
  next(createdAtMs: number | null, position: number | null): number {
    if (createdAtMs === null) return this.#nextUntimed()
    const floor = sortKeyFloor(createdAtMs)
    const wanted = floor + Math.min(position ?? 0, SLOTS_PER_MS - 1)
    const run = this.#runs.get(floor)
    const isTaken = run !== undefined && run.from <= wanted && wanted <= run.end
    const key = this.#firstFree(isTaken ? run.end : wanted)
    this.#assigned.add(key)
    this.#runs.set(floor, { from: isTaken ? run.from : wanted, end: key + 1 })
    return key
  }

  #nextUntimed(): number {
    const below = BigInt(sortKeyFloor(1e9))
    this.#lastUntimed ??= prepared<{ key: number | null }>(this.#db, LAST_UNTIMED_KEY).get(below)?.key ?? 0
    this.#lastUntimed += 1
    return this.#lastUntimed
  }

  #firstFree(from: number): number {
    // The key is nearly always free, and one lookup is cheaper than the start of a walk.
    const first = this.#nextUnassigned(from)
    if (prepared(this.#db, IS_TAKEN).get(BigInt(first)) === undefined) return first
    let key = first
    for (const taken of prepared<{ key: number }>(this.#db, NEXT_KEYS).iterate(BigInt(first))) {
      if (taken.key > key) break
      if (taken.key === key) key = this.#nextUnassigned(key + 1)
    }
    return key
  }

  #nextUnassigned(from: number): number {
    let key = from
    while (this.#assigned.has(key)) key += 1
    return key
  }
}
