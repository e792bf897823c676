import { numberIn, recordIn, type JsonRecord } from './json.ts'

/**
 * September 2001 and February 2103. Smaller numbers are seconds, or times since the program started; larger ones are
 * garbage.
 */
const earliestMs = 1e12
const latestMs = 4.2e12

const isoShape = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?)?\s*(z|[+-]\d{2}(?::?\d{2})?)?$/i

/**
 * Epoch milliseconds from any format that Cursor has used: an ISO string (UTC if it names no zone), a number, with or
 * without a fraction, or digits as a string. Null for a time at which Cursor did not exist.
 */
export function readTime(value: unknown): number | null {
  const time = typeof value === 'string' ? timeOfText(value.trim()) : value
  if (typeof time !== 'number') return null
  const atMs = Math.floor(time)
  return atMs > earliestMs && atMs < latestMs ? atMs : null
}

function timeOfText(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  const match = isoShape.exec(text)
  if (match === null) return NaN
  const [, day = '', minute = '00:00', second = '00', fraction = '', zone = 'Z'] = match
  return Date.parse(`${day}T${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${fullZone(zone)}`)
}

function fullZone(zone: string): string {
  if (zone.toUpperCase() === 'Z') return 'Z'
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`
}

export interface RowTimes {
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  readonly timingAtMs: number | null
}

/** A message's own times. Rows from before autumn 2025 have only their request timings. */
export function readRowTimes(record: JsonRecord): RowTimes {
  const startedAtMs = readTime(record['startedAtMs'])
  const timingAtMs = readTiming(recordIn(record, 'timingInfo'))
  const lastResortMs = timingAtMs === null ? readTime(record['timestamp']) : null
  return { sentAtMs: readTime(record['createdAt']) ?? startedAtMs ?? lastResortMs, startedAtMs, timingAtMs }
}

/** In many rows `clientStartTime` counts from the start of the window; the range check recognises an epoch time. */
function readTiming(timing: JsonRecord | null): number | null {
  for (const name of ['clientStartTime', 'clientRpcSendTime', 'clientSettleTime', 'clientEndTime']) {
    const atMs = readTime(numberIn(timing, name))
    if (atMs !== null) return atMs
  }
  return null
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)`; the space before AM may be a narrow one. */
const spokenShape =
  /^(?:[a-z]+,\s*)?([a-z]{3})[a-z]*\.?\s+(\d{1,2}),\s*(\d{4}),?\s+(?:at\s+)?(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\.?)?\s*\((?:utc|gmt)(?:([+\-−])(\d{1,2})(?::?(\d{2}))?)?\)$/i

const isoWithZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(?:z|[+-]\d{2}:?\d{2})$/i

/** Epoch milliseconds. Null for a text that is no time, or names no zone and could be any moment of a day. */
export function readTimestamp(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed.length > 100) return null
  return isoWithZone.test(trimmed) ? readTime(trimmed) : readTime(spokenTime(trimmed))
}

function spokenTime(text: string): number | null {
  const [, name = '', day, year, hour, minute, second = '0', half, sign, ...offset] = spokenShape.exec(text) ?? []
  const month = months.indexOf(name.toLowerCase())
  const hours = hourOfDay(Number(hour), half?.toLowerCase() ?? null)
  if (month < 0 || hours === null || Number(minute) > 59 || Number(second) > 59) return null
  const midnight = new Date(Date.UTC(Number(year), month, Number(day)))
  // February 30 would silently become March.
  if (midnight.getUTCDate() !== Number(day)) return null
  const [offsetHours = '0', offsetMinutes = '0'] = offset
  const ahead = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '+' ? 1 : -1)
  return midnight.getTime() + ((hours * 60 + Number(minute) - ahead) * 60 + Number(second)) * 1000
}

/** Without AM or PM it is a 24-hour clock. */
function hourOfDay(hour: number, half: string | null): number | null {
  if (half === null) return hour < 24 ? hour : null
  return hour >= 1 && hour <= 12 ? (hour % 12) + (half === 'p' ? 12 : 0) : null
}
