import type { DigestWalk } from '../../../mirror/digests/digest-format.ts'
import { hourOf } from '../../buckets.ts'
import type { ChatColumns } from '../../queries/read-digests.ts'
import type { Calendar } from './calendar.ts'
import type { CallTally } from './call-tally.ts'

/** What is asked for of all that there is. */
export interface TallyRange {
  /** Epoch milliseconds, inclusive; -Infinity for any. */
  readonly fromMs: number
  /** Exclusive; Infinity for any. */
  readonly toMs: number
  /** Whether messages without a time count, too. */
  readonly isEndless: boolean
}

interface Share {
  chats: number
  messages: number
  /** The place of the last chat that was counted in it. */
  last: number
}

/** Adds up chat after chat. */
export class Tally {
  messages = 0
  userMessages = 0
  undatedMessages = 0
  undatedChats = 0
  approximateMessages = 0
  readonly calls: CallTally
  readonly columns: ChatColumns
  /** Places of the chats of which something was counted. */
  readonly counted: number[] = []
  /** By place: messages of the whole thread. */
  readonly lengths: Int32Array
  /** By place: milliseconds from the first to the last message with a time of its own; -1 where that is not known. */
  readonly durationsMs: Float64Array
  readonly byProject = new Map<number | null, Share>()
  readonly byModel = new Map<number, Share>()
  readonly byHour = Array.from({ length: 24 }, () => 0)
  readonly byWeekday = Array.from({ length: 7 }, () => 0)
  /** By the calendar's days. */
  readonly dayMessages: Int32Array
  readonly chats: Int32Array
  readonly seriesMessages: Int32Array
  readonly seriesUserMessages: Int32Array
  readonly seriesToolCalls: Int32Array
  readonly #lastInBucket: Int32Array
  readonly #calendar: Calendar | null
  readonly #range: TallyRange
  #place = -1
  #isSubagent = false

  /** @param calendar null where nothing has a time */
  constructor(columns: ChatColumns, calendar: Calendar | null, calls: CallTally, range: TallyRange) {
    this.columns = columns
    this.lengths = new Int32Array(columns.nums.length)
    this.durationsMs = new Float64Array(columns.nums.length)
    this.#calendar = calendar
    this.calls = calls
    this.#range = range
    const buckets = calendar?.buckets.length ?? 0
    this.dayMessages = new Int32Array(calendar?.days.length ?? 0)
    this.chats = new Int32Array(buckets)
    this.seriesMessages = new Int32Array(buckets)
    this.seriesUserMessages = new Int32Array(buckets)
    this.seriesToolCalls = new Int32Array(buckets)
    this.#lastInBucket = new Int32Array(buckets).fill(-1)
  }

  /** @param place of a chat. @param walk stands before its first message */
  add(place: number, walk: DigestWalk): void {
    this.#place = place
    this.#isSubagent = this.columns.isSubagent[place] === 1
    const before = this.messages
    let [length, own, firstMs, lastMs] = [0, 0, Infinity, -Infinity]
    while (walk.next()) {
      const { atMs } = walk
      length += 1
      if (walk.hasOwnTime) {
        own += 1
        if (atMs < firstMs) firstMs = atMs
        if (atMs > lastMs) lastMs = atMs
      }
      const { fromMs, toMs, isEndless } = this.#range
      if (walk.hasTime ? atMs >= fromMs && atMs < toMs : isEndless) this.#count(walk, atMs)
    }
    this.undatedMessages += length - walk.timed
    if (walk.timed === 0 && !this.#isSubagent) this.undatedChats += 1
    if (this.messages === before) return
    this.#share(this.byProject, this.columns.project[place] ?? null, this.messages - before)
    this.counted.push(place)
    this.lengths[place] = length
    this.durationsMs[place] = own < 2 ? -1 : lastMs - firstMs
  }

  #count(walk: DigestWalk, atMs: number): void {
    this.messages += 1
    if (walk.isUser) this.userMessages += 1
    this.#share(this.byModel, walk.model, 1)
    if (walk.hasTime) this.#countTime(walk, atMs)
    if (walk.callCount > 0) this.calls.add(walk)
  }

  #countTime(walk: DigestWalk, atMs: number): void {
    const calendar = this.#calendar
    if (calendar === null) return
    if (!walk.hasOwnTime) this.approximateMessages += 1
    const localMs = calendar.toLocalMs(atMs)
    const day = calendar.dayAt(localMs)
    const bucket = calendar.bucketOf(day)
    addTo(this.dayMessages, day, 1)
    addTo(this.seriesMessages, bucket, 1)
    addTo(this.seriesToolCalls, bucket, walk.callCount)
    if (walk.isUser) addTo(this.seriesUserMessages, bucket, 1)
    if (!this.#isSubagent && this.#lastInBucket[bucket] !== this.#place) {
      this.#lastInBucket[bucket] = this.#place
      addTo(this.chats, bucket, 1)
    }
    addTo(this.byHour, hourOf(localMs), 1)
    addTo(this.byWeekday, calendar.weekdayOf(day), 1)
  }

  #share<Key>(shares: Map<Key, Share>, key: Key, messages: number): void {
    let share = shares.get(key)
    if (share === undefined) shares.set(key, (share = { chats: 0, messages: 0, last: -1 }))
    share.messages += messages
    if (this.#isSubagent || share.last === this.#place) return
    share.last = this.#place
    share.chats += 1
  }
}

function addTo(counts: Int32Array | number[], index: number, count: number): void {
  counts[index] = (counts[index] ?? 0) + count
}
