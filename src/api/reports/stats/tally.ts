import { UNDATED_QUARTER } from '../../../mirror/sum-tables.ts'
import { bucketsBetween, dateOfDay, dayOf, firstDayOf, nextBucket, weekdayOf, ZoneClock } from '../../buckets.ts'
import type { BucketUnit } from '../../buckets.ts'
import type { SeriesRow, Stats } from '../../answers/stats.ts'
import type { CountedChat, CountRow } from '../../queries/counts.ts'
import { QUARTER_MS } from '../../queries/message-sums.ts'

const HOUR_MS = 3_600_000

interface Share {
  readonly chats: Set<number>
  messages: number
}

interface Bucket {
  readonly firstDay: number
  /** Without subagents. */
  readonly chats: Set<number>
  messages: number
  userMessages: number
  toolCalls: number
}

/** Adds up counts by everything that statistics group by, in the local time of a zone. */
export class Tally {
  messages = 0
  userMessages = 0
  toolCalls = 0
  approximate = 0
  readonly byModel = new Map<string | null, Share>()
  readonly byProject = new Map<number | null, Share>()
  /** The chats with counted messages. */
  readonly chats = new Set<CountedChat>()
  /** 7 lists of 24 counts, Monday first. */
  readonly byHourOfWeek = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0))
  readonly #days = new Set<number>()
  readonly #buckets = new Map<number, Bucket>()
  readonly #unit: BucketUnit
  readonly #clock: ZoneClock

  constructor(unit: BucketUnit, timeZone: string) {
    this.#unit = unit
    this.#clock = new ZoneClock(timeZone)
  }

  add(chat: CountedChat, row: CountRow): void {
    const [, quarter, model, messages, users, calls, approximate] = row
    this.messages += messages
    this.userMessages += users
    this.toolCalls += calls
    this.approximate += approximate
    this.chats.add(chat)
    for (const share of [shareOf(this.byModel, model), shareOf(this.byProject, chat.project)]) {
      share.messages += messages
      if (chat.isSubagent === 0) share.chats.add(chat.num)
    }
    if (quarter === UNDATED_QUARTER) return
    const localMs = this.#clock.toLocalMs(quarter * QUARTER_MS)
    const day = dayOf(localMs)
    this.#days.add(day)
    const hours = this.byHourOfWeek[weekdayOf(day)] ?? []
    const hour = Math.floor(localMs / HOUR_MS) - day * 24
    hours[hour] = (hours[hour] ?? 0) + messages
    const bucket = this.#bucketOf(firstDayOf(day, this.#unit))
    bucket.messages += messages
    bucket.userMessages += users
    bucket.toolCalls += calls
    if (chat.isSubagent === 0) bucket.chats.add(chat.num)
  }

  #bucketOf(firstDay: number): Bucket {
    let bucket = this.#buckets.get(firstDay)
    if (bucket === undefined) {
      bucket = { firstDay, chats: new Set(), messages: 0, userMessages: 0, toolCalls: 0 }
      this.#buckets.set(firstDay, bucket)
    }
    return bucket
  }

  get activeDays(): number {
    return this.#days.size
  }

  /** The buckets from the first to the last one with a message, and how many messages are outside. */
  series(
    isOpen: boolean,
    max: number,
  ): { readonly rows: SeriesRow[] | null; readonly left: number; readonly count: number } {
    const sorted = [...this.#buckets.values()].sort((one, other) => one.firstDay - other.firstDay)
    const [first, last] = [sorted[0], sorted.at(-1)]
    const count = first === undefined || last === undefined ? 0 : this.#between(first, last) + 1
    if (count > max && !isOpen) return { rows: null, left: 0, count }
    const stretch = count > max ? this.#busiestStretch(sorted, max) : sorted
    return { rows: this.#withEmpty(stretch), left: sumOf(sorted) - sumOf(stretch), count }
  }

  #between(first: Bucket, last: Bucket): number {
    return bucketsBetween(first.firstDay, last.firstDay, this.#unit)
  }

  /** Up to `max` buckets in a row with the most messages. So a message with a wrong year stays outside. */
  #busiestStretch(sorted: readonly Bucket[], max: number): readonly Bucket[] {
    let [start, messages, most] = [0, 0, 0]
    let best: readonly [number, number] = [0, 0]
    for (const [at, bucket] of sorted.entries()) {
      messages += bucket.messages
      for (let first = sorted[start]; first && this.#between(first, bucket) >= max; first = sorted[start]) {
        messages -= first.messages
        start += 1
      }
      if (messages <= most) continue
      most = messages
      best = [start, at + 1]
    }
    return sorted.slice(...best)
  }

  #withEmpty(stretch: readonly Bucket[]): SeriesRow[] {
    const rows: SeriesRow[] = []
    let next = stretch[0]?.firstDay ?? 0
    for (const { firstDay, chats, messages, userMessages, toolCalls } of stretch) {
      for (; next < firstDay; next = nextBucket(next, this.#unit)) rows.push({ start: dateOfDay(next), ...nothing })
      rows.push({ start: dateOfDay(firstDay), chats: chats.size, messages, userMessages, toolCalls })
      next = nextBucket(firstDay, this.#unit)
    }
    return rows
  }

  /** The longest run of days with messages; of equal ones the latest. */
  get longestStreak(): Stats['longestStreak'] {
    let [length, best, bestEnd] = [0, 0, 0]
    for (const day of [...this.#days].sort((one, other) => one - other)) {
      length = this.#days.has(day - 1) ? length + 1 : 1
      if (length < best) continue
      best = length
      bestEnd = day
    }
    return best === 0 ? null : { days: best, from: dateOfDay(bestEnd - best + 1), to: dateOfDay(bestEnd) }
  }
}

const sumOf = (buckets: readonly Bucket[]): number => buckets.reduce((sum, { messages }) => sum + messages, 0)

const nothing = { chats: 0, messages: 0, userMessages: 0, toolCalls: 0 }

function shareOf<Key>(shares: Map<Key, Share>, key: Key): Share {
  let share = shares.get(key)
  if (share === undefined) shares.set(key, (share = { chats: new Set(), messages: 0 }))
  return share
}
