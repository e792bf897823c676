import type { Calendar } from './calendar.ts'
import type { SeriesRow, Stats } from './stats.ts'
import type { Tally } from './tally.ts'

/** The buckets from the first to the last with a message, the empty ones between them too. */
export function seriesOf(tally: Tally, { buckets }: Calendar): SeriesRow[] {
  const rows = buckets.map((start, at) => ({
    start,
    chats: tally.chats[at] ?? 0,
    messages: tally.seriesMessages[at] ?? 0,
    userMessages: tally.seriesUserMessages[at] ?? 0,
    toolCalls: tally.seriesToolCalls[at] ?? 0,
  }))
  const first = rows.findIndex(({ messages }) => messages > 0)
  const last = rows.findLastIndex(({ messages }) => messages > 0)
  return first < 0 ? [] : rows.slice(first, last + 1)
}

/** A day that the zone left out interrupts nothing: the calendar has no such day. */
export function streakOf(tally: Tally, { days }: Calendar): Stats['longestStreak'] {
  let [length, best, bestEnd] = [0, 0, -1]
  for (const [day, messages] of tally.dayMessages.entries()) {
    length = messages > 0 ? length + 1 : 0
    if (length === 0 || length < best) continue
    best = length
    bestEnd = day
  }
  const [from, to] = [days[bestEnd - best + 1], days[bestEnd]]
  return from === undefined || to === undefined ? null : { days: best, from, to }
}
