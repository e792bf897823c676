import { DigestWalk } from '../../../mirror/digests/digest-format.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { BUCKETS_MAX } from '../../buckets.ts'
import { toIso } from '../../iso.ts'
import { readDigests, type DigestReading, WordNames } from '../../queries/read-digests.ts'
import { inSnapshot } from '../../queries/snapshot.ts'
import { Calendar } from './calendar.ts'
import { CallTally } from './call-tally.ts'
import { busiestStretch, seriesOf, streakOf, sumOf } from './series.ts'
import type { StatsAnswer, StatsRequest } from './stats.ts'
import { Tally } from './tally.ts'
import { formatStats } from './format-stats.ts'

/** The share of the time that may be used to make missing digests. */
const SHARE_FOR_BODIES = 0.5

/**
 * Counts everything in one walk over the digests of chats.
 * @param deadlineMs milliseconds from now. Only a mirror with many missing digests needs so long. Chats for which there
 * was no time are reported as `uncounted`
 */
export function answerStats(db: Mirror, request: StatsRequest, deadlineMs: number): StatsAnswer {
  const endsAtMs = performance.now() + deadlineMs * SHARE_FOR_BODIES
  return inSnapshot(db, () => {
    const words = new WordNames(db)
    const nameOf = (num: number): string => words.nameOf(num)
    const { projectNums, machineNums, fromMs, toMs } = request
    const { chats, digests, leftOut } = readDigests(db, words, { projectNums, machineNums, endsAtMs })
    const range = { fromMs: fromMs ?? -Infinity, toMs: toMs ?? Infinity, isEndless: fromMs === null && toMs === null }
    const calendar = calendarFor({ chats, digests }, request)
    const tally = new Tally(chats, calendar, new CallTally(nameOf), range)
    walkChats({ chats, digests }, (place, walk) => tally.add(place, walk))
    const all = calendar === null ? [] : seriesOf(tally, calendar)
    // If a bound is missing and there are too many buckets, some message has a wrong time.
    const isOpen = fromMs === null || toMs === null
    const series = isOpen ? busiestStretch(all, BUCKETS_MAX) : all
    if (series.length > BUCKETS_MAX) return { kind: 'too-many', count: series.length, max: BUCKETS_MAX }
    const stats = {
      bucket: request.bucket,
      timeZone: request.timeZone,
      from: toIso(fromMs),
      to: toIso(toMs),
      ...formatStats(db, tally, nameOf),
      uncounted: { chats: leftOut },
      series,
      outOfSeries: { messages: sumOf(all) - sumOf(series) },
      longestStreak: calendar === null ? null : streakOf(tally, calendar),
    }
    return { kind: 'stats', stats }
  })
}

type Walked = Pick<DigestReading, 'chats' | 'digests'>

/** Visits each chat by its index, with a walk that is before the first message. */
function walkChats({ chats, digests }: Walked, visit: (place: number, walk: DigestWalk) => void): void {
  for (const digest of digests) {
    for (const walk = new DigestWalk(digest); walk.nextChat();) {
      const place = chats.places[walk.chat] ?? -1
      if (place >= 0) visit(place, walk)
    }
  }
}

/** From the first to the last message in the range that has a time; null if there is none. */
function calendarFor(walked: Walked, { fromMs, toMs, bucket: unit, timeZone }: StatsRequest): Calendar | null {
  let [firstMs, lastMs] = [Infinity, -Infinity]
  walkChats(walked, (_, walk) => {
    if (walk.timed === 0) return
    firstMs = Math.min(firstMs, walk.firstMs)
    lastMs = Math.max(lastMs, walk.lastMs)
  })
  firstMs = Math.max(firstMs, fromMs ?? -Infinity)
  lastMs = Math.min(lastMs, (toMs ?? Infinity) - 1)
  return firstMs > lastMs ? null : new Calendar({ unit, timeZone, firstMs, lastMs })
}
