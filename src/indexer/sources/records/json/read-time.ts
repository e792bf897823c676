import { numberIn, recordIn } from './json-value.ts'
import type { JsonRecord } from './json-value.ts'

/** September 2001 and February 2103: below are seconds and times since the program's start, above is garbage. */
const earliestMs = 1e12
const latestMs = 4.2e12

const isoShape = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?)?\s*(z|[+-]\d{2}(?::?\d{2})?)?$/i

/**
 * Epoch milliseconds out of any spelling Cursor has used: an ISO string (UTC where it names no zone), a number,
 * whole or not, or digits as a string. Null where it is no moment at which Cursor existed.
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

/** A message's own times. Rows from before autumn 2025 have none but their request timings. */
export function readRowTimes(record: JsonRecord): RowTimes {
  const startedAtMs = readTime(record['startedAtMs'])
  const timingAtMs = readTiming(recordIn(record, 'timingInfo'))
  const lastResortMs = timingAtMs === null ? readTime(record['timestamp']) : null
  return { sentAtMs: readTime(record['createdAt']) ?? startedAtMs ?? lastResortMs, startedAtMs, timingAtMs }
}

/** `clientStartTime` counts from the window's start in many rows; the range check tells that from an epoch time. */
function readTiming(timing: JsonRecord | null): number | null {
  for (const name of ['clientStartTime', 'clientRpcSendTime', 'clientSettleTime', 'clientEndTime']) {
    const atMs = readTime(numberIn(timing, name))
    if (atMs !== null) return atMs
  }
  return null
}
