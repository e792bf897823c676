import { Temporal } from 'temporal-polyfill'

/** A period of time that a user typed. */
export interface Period {
  /** Epoch milliseconds, inclusive. */
  readonly startMs: number
  /** Epoch milliseconds, exclusive. */
  readonly endMs: number
}

/** The time zone and the present time by which dates are read. */
export interface Clock {
  /** IANA name of the time zone. */
  readonly timeZone: string
  /** Epoch milliseconds. */
  readonly nowMs: number
}

type Unit = 'year' | 'month' | 'week' | 'day' | 'hour'
type PlainDate = Temporal.PlainDate

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const unitsByLetter: Readonly<Record<string, Unit>> = { h: 'hour', d: 'day', w: 'week', m: 'month', y: 'year' }

/**
 * Reads a date or a word for one: a moment (`2026-03-01T09:30Z`), a day, a month, a year, `today`,
 * `yesterday`, `7d` (the last seven days and today), `last week`, `this month`, `monday` (the latest one). A day begins
 * with its first moment in the zone, which is not always midnight.
 * @returns null if the text is no date, or a date outside the calendar
 */
export function readPeriod(text: string, clock: Clock): Period | null {
  const word = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, ' ')
  return attempt(
    () =>
      readMoment(text.trim(), clock.timeZone) ??
      readCalendar(word, clock.timeZone) ??
      readDayName(word, clock) ??
      readSpan(word, clock) ??
      readNamedUnit(word, clock),
  )
}

export function isTimeZone(name: string): boolean {
  return attempt(() => new Temporal.ZonedDateTime(0n, name)) !== null
}

/** The local month of a moment: its name (`2026-03`) and its start in epoch milliseconds. */
export function monthOf(ms: number, timeZone: string): { readonly name: string; readonly startMs: number } {
  const date = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate()
  return { name: date.toPlainYearMonth().toString(), startMs: startOf(date.with({ day: 1 }), timeZone) }
}

function readMoment(text: string, timeZone: string): Period | null {
  const match = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?/u.exec(text)
  if (match === null) return null
  // In a query a bare plus is a space: `T09:30 01:00` was typed as `T09:30+01:00`.
  const typed = text.replace(/ (?=\d{2}:?\d{2}$)/u, '+')
  const startMs =
    attempt(() => Temporal.Instant.from(typed).epochMilliseconds) ??
    Temporal.PlainDateTime.from(typed).toZonedDateTime(timeZone).epochMilliseconds
  return { startMs, endMs: startMs + (match[1] === undefined ? 60_000 : 1000) }
}

function readCalendar(word: string, timeZone: string): Period | null {
  const [, year = '', month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(word) ?? []
  if (year === '') return null
  const parts = { year: Number(year), month: Number(month ?? 1), day: Number(day ?? 1) }
  const first = Temporal.PlainDate.from(parts, { overflow: 'reject' })
  const length = day !== undefined ? { days: 1 } : month !== undefined ? { months: 1 } : { years: 1 }
  return between(first, first.add(length), timeZone)
}

function readDayName(word: string, { timeZone, nowMs }: Clock): Period | null {
  const today = dateOf(nowMs, timeZone)
  if (word === 'today') return between(today, today.add({ days: 1 }), timeZone)
  if (word === 'yesterday') return between(today.subtract({ days: 1 }), today, timeZone)
  const [, last, name = ''] = /^(last )?([a-z]+)$/.exec(word) ?? []
  const weekday = weekdays.findIndex((each) => each === name || each.slice(0, 3) === name) + 1
  if (weekday === 0) return null
  const ago = (today.dayOfWeek - weekday + 7) % 7
  const first = today.subtract({ days: last !== undefined && ago === 0 ? 7 : ago })
  return between(first, first.add({ days: 1 }), timeZone)
}

/** `7d`, `2h`: the time before now, in whole days except for hours, until the end of today. */
function readSpan(word: string, { timeZone, nowMs }: Clock): Period | null {
  const [, count = '', letter = ''] = /^(\d{1,4})([hdwmy])$/.exec(word) ?? []
  const unit = unitsByLetter[letter]
  if (unit === undefined) return null
  const today = dateOf(nowMs, timeZone)
  const endMs = startOf(today.add({ days: 1 }), timeZone)
  if (unit === 'hour') return { startMs: nowMs - Number(count) * 3_600_000, endMs }
  return { startMs: startOf(today.subtract({ [`${unit}s`]: Number(count) }), timeZone), endMs }
}

/** A week begins on Monday. */
function readNamedUnit(word: string, { timeZone, nowMs }: Clock): Period | null {
  const [, which, unit] = /^(this|last)[ -]?(week|month|year)$/.exec(word) ?? []
  if (unit === undefined) return null
  const today = dateOf(nowMs, timeZone)
  const firsts: Readonly<Record<string, PlainDate>> = {
    week: today.subtract({ days: today.dayOfWeek - 1 }),
    month: today.with({ day: 1 }),
    year: today.with({ month: 1, day: 1 }),
  }
  const first = firsts[unit] ?? today
  const length = { [`${unit}s`]: 1 }
  return which === 'this'
    ? between(first, first.add(length), timeZone)
    : between(first.subtract(length), first, timeZone)
}

const dateOf = (ms: number, timeZone: string): PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate()

const startOf = (date: PlainDate, timeZone: string): number => date.toZonedDateTime(timeZone).epochMilliseconds

const between = (first: PlainDate, next: PlainDate, timeZone: string): Period => ({
  startMs: startOf(first, timeZone),
  endMs: startOf(next, timeZone),
})

/** Null if Temporal throws a RangeError: it cannot read the text. */
function attempt<Value>(parse: () => Value): Value | null {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

export const bucketUnits = ['day', 'week', 'month'] as const
export type BucketUnit = (typeof bucketUnits)[number]

const DAY_MS = 86_400_000

/** The number of a local day, 0 for 1 January 1970. @param localMs from `ZoneOffsets.toLocalMs` */
export const dayOf = (localMs: number): number => Math.floor(localMs / DAY_MS)

/** 0 for Monday. Day 0, 1 January 1970, was a Thursday. @param day from `dayOf` */
export const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7

/** `YYYY-MM-DD`. @param day from `dayOf` */
export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().replace(/T.*$/, '')

/** The first day of the bucket that contains a local day. @param day from `dayOf` */
export function firstDayOf(day: number, unit: BucketUnit): number {
  if (unit === 'day') return day
  if (unit === 'week') return day - weekdayOf(day)
  return day - new Date(day * DAY_MS).getUTCDate() + 1
}

/** The first day of the next bucket. */
export const nextBucket = (first: number, unit: BucketUnit): number =>
  firstDayOf(first + { day: 1, week: 7, month: 31 }[unit], unit)

/**
 * Local times of a zone, best asked in ascending order. Temporal is called once for each clock change and not for each
 * time: for half a million messages it would need seconds.
 */
export class ZoneClock {
  readonly #timeZone: string
  /** The stretch of time with a single offset that was found last. */
  #startMs = Infinity
  #endMs = -Infinity
  #offsetMs = 0

  constructor(timeZone: string) {
    this.#timeZone = timeZone
  }

  /** The local time, as the epoch milliseconds at which a UTC clock shows the same. @throws RangeError for an unknown zone */
  toLocalMs(ms: number): number {
    if (ms < this.#startMs || ms >= this.#endMs) {
      const moment = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(this.#timeZone)
      this.#startMs = ms
      this.#endMs = moment.getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity
      this.#offsetMs = moment.offsetNanoseconds / 1e6
    }
    return ms + this.#offsetMs
  }
}
