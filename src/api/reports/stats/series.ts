import type { Calendar } from './calendar.ts'
import type { Tally } from './tally.ts'
import type { SeriesRow, Stats } from '../../http/schemas/stats.ts'

/** The buckets from the first to the last one with a message, including empty ones between them. */
export function seriesOf(tally: Tally, calendar: Calendar): SeriesRow[] {
  const rows = calendar.buckets.map((start, at) => ({
    start,
    chats: tally.chats[at] ?? 0,
    messages: 0,
    userMessages: 0,
    toolCalls: 0,
  }))
  for (const [day, messages] of messagesByDay(tally).entries()) {
    const row = rows[calendar.bucketOf(day)]
    if (row === undefined) continue
    row.messages += messages
    row.userMessages += tally.userMessagesOfDay[day] ?? 0
    row.toolCalls += tally.toolCallsOfDay[day] ?? 0
  }
  const first = rows.findIndex(({ messages }) => messages > 0)
  const last = rows.findLastIndex(({ messages }) => messages > 0)
  return first < 0 ? [] : rows.slice(first, last + 1)
}

/** Up to `max` buckets in a row with the most messages. So a message with a wrong year stays outside. */
export function busiestStretch(series: readonly SeriesRow[], max: number): readonly SeriesRow[] {
  if (series.length <= max) return series
  let [messages, most, end] = [0, -1, 0]
  for (const [at, row] of series.entries()) {
    messages += row.messages - (series[at - max]?.messages ?? 0)
    if (messages <= most) continue
    most = messages
    end = at + 1
  }
  const stretch = series.slice(Math.max(0, end - max), end)
  return stretch.slice(stretch.findIndex((row) => row.messages > 0))
}

export const sumOf = (series: readonly SeriesRow[]): number => series.reduce((sum, { messages }) => sum + messages, 0)

/** By day of the calendar. */
export const messagesByDay = ({ calendar, hours }: Tally): number[] =>
  (calendar?.days ?? []).map((_, day) =>
    hours.subarray(day * 24, day * 24 + 24).reduce((sum, messages) => sum + messages, 0),
  )

/** 7 lists of 24 counts, starting with Monday. */
export function messagesByHourOfWeek({ calendar, hours }: Tally): number[][] {
  const week = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0))
  for (const [at, messages] of hours.entries()) {
    const ofDay = week[calendar?.weekdayOf(Math.floor(at / 24)) ?? 0]
    if (messages > 0 && ofDay !== undefined) ofDay[at % 24] = (ofDay[at % 24] ?? 0) + messages
  }
  return week
}

/** The longest streak; of equal ones the latest. A day that the zone skipped does not end a streak. */
export function streakOf(tally: Tally, { days }: Calendar): Stats['longestStreak'] {
  let [length, best, bestEnd] = [0, 0, -1]
  for (const [day, messages] of messagesByDay(tally).entries()) {
    length = messages > 0 ? length + 1 : 0
    if (length === 0 || length < best) continue
    best = length
    bestEnd = day
  }
  const [from, to] = [days[bestEnd - best + 1], days[bestEnd]]
  return from === undefined || to === undefined ? null : { days: best, from, to }
}
