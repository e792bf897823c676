import type { DigestWalk } from '../../../mirror/digests/digest-format.ts'
import type { ChatColumns } from '../../queries/read-digests.ts'
import type { Calendar } from './calendar.ts'
import type { CallTally } from './call-tally.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Which messages to count. */
export interface TallyRange {
  /** Epoch milliseconds, inclusive; -Infinity for no bound. */
  readonly fromMs: number
  /** Exclusive; Infinity for no bound. */
  readonly toMs: number
  /** Whether messages without a time count too. */
  readonly isEndless: boolean
}

interface Share {
  chats: number
  messages: number
  /** Index of the chat that was last counted here. */
  last: number
}

/** Counts one chat after the other. */
export class Tally {
  messages = 0
  userMessages = 0
  undatedMessages = 0
  undatedChats = 0
  approximateMessages = 0
  readonly calls: CallTally
  readonly columns: ChatColumns
  /** Indexes of the chats with counted messages. */
  readonly counted: number[] = []
  /** By index: messages of the whole thread. */
  readonly lengths: Int32Array
  /** By index: milliseconds from the first to the last message with its own time; -1 if unknown. */
  readonly durationsMs: Float64Array
  readonly byProject = new Map<number | null, Share>()
  readonly byModel = new Map<number, Share>()
  /** Messages by hour: 24 entries per day of the calendar. */
  readonly hours: Int32Array
  /** By day of the calendar. */
  readonly userMessagesOfDay: Int32Array
  readonly toolCallsOfDay: Int32Array
  /** By bucket of the calendar. */
  readonly chats: Int32Array
  readonly #lastInBucket: Int32Array
  readonly calendar: Calendar | null
  readonly #range: TallyRange
  #place = -1
  #isSubagent = false
  #model = 0
  #modelShare: Share | undefined
  #day = 0
  /** In local time. Infinity: no day yet. */
  #dayStartMs = Infinity

  /** @param calendar null if no message has a time */
  constructor(columns: ChatColumns, calendar: Calendar | null, calls: CallTally, range: TallyRange) {
    this.columns = columns
    this.lengths = new Int32Array(columns.nums.length)
    this.durationsMs = new Float64Array(columns.nums.length)
    this.calendar = calendar
    this.calls = calls
    this.#range = range
    const days = calendar?.days.length ?? 0
    const buckets = calendar?.buckets.length ?? 0
    this.hours = new Int32Array(days * 24)
    this.userMessagesOfDay = new Int32Array(days)
    this.toolCallsOfDay = new Int32Array(days)
    this.chats = new Int32Array(buckets)
    this.#lastInBucket = new Int32Array(buckets).fill(-1)
  }

  /** @param place index of a chat. @param walk is before its first message */
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
    this.#countModel(walk.model)
    if (walk.hasTime) this.#countTime(walk, atMs)
    if (walk.callCount > 0) this.calls.add(walk)
  }

  /** Consecutive messages usually have the same model, so the last look-up is reused. */
  #countModel(model: number): void {
    if (model !== this.#model || this.#modelShare?.last !== this.#place) {
      this.#share(this.byModel, model, 0)
      this.#model = model
      this.#modelShare = this.byModel.get(model)
    }
    if (this.#modelShare !== undefined) this.#modelShare.messages += 1
  }

  #countTime(walk: DigestWalk, atMs: number): void {
    if (this.calendar === null) return
    if (!walk.hasOwnTime) this.approximateMessages += 1
    const localMs = this.calendar.toLocalMs(atMs)
    if (!(localMs >= this.#dayStartMs && localMs < this.#dayStartMs + DAY_MS)) {
      this.#dayStartMs = Math.floor(localMs / DAY_MS) * DAY_MS
      this.#day = this.calendar.dayAt(localMs)
    }
    const day = this.#day
    addTo(this.hours, day * 24 + Math.floor((localMs - this.#dayStartMs) / HOUR_MS), 1)
    if (walk.isUser) addTo(this.userMessagesOfDay, day, 1)
    if (walk.callCount > 0) addTo(this.toolCallsOfDay, day, walk.callCount)
    if (this.#isSubagent) return
    const bucket = this.calendar.bucketOf(day)
    if (this.#lastInBucket[bucket] === this.#place) return
    this.#lastInBucket[bucket] = this.#place
    addTo(this.chats, bucket, 1)
  }

  #share<Key>(shares: Map<Key, Share>, key: Key, messages: number): void {
    let share = shares.get(key)
    if (share === undefined) shares.set(key, (share = { chats: 0, messages: 0, last: -1 }))
    share.messages += messages
    if (share.last === this.#place) return
    share.last = this.#place
    if (!this.#isSubagent) share.chats += 1
  }
}

function addTo(counts: Int32Array, index: number, count: number): void {
  counts[index] = (counts[index] ?? 0) + count
}
