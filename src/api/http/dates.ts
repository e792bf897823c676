import { Temporal } from 'temporal-polyfill'
import { badParameters } from './problem.ts'
import type { BadParameter } from './problem.ts'

export interface Period {
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  /** The zone in which dates without a time were read. */
  readonly timeZone: string
}

/**
 * The period that `from`, `to` and `tz` name. A bare date is the first moment of that day in the zone, which is not
 * always midnight; a time without an offset is local too.
 * @throws Problem 400 for what is no date or no zone
 */
export function readPeriod(
  query: { readonly from: string | null; readonly to: string | null; readonly tz: string | null },
  defaultTimeZone: string,
): Period {
  const timeZone = query.tz ?? defaultTimeZone
  if (!isTimeZone(timeZone)) {
    throw badParameters([{ name: 'tz', reason: 'must be a time zone such as Europe/Berlin or UTC' }])
  }
  const errors: BadParameter[] = []
  const read = (name: 'from' | 'to'): number | null => {
    const text = query[name]
    const ms = text === null ? null : parseMoment(text, timeZone)
    if (text !== null && ms === null) {
      errors.push({ name, reason: 'must be a date such as 2026-03-01 or a time such as 2026-03-01T09:30:00Z' })
    }
    return ms
  }
  const period = { fromMs: read('from'), toMs: read('to'), timeZone }
  if (errors.length > 0) throw badParameters(errors)
  return period
}

function isTimeZone(name: string): boolean {
  return attempt(() => new Temporal.ZonedDateTime(0n, name)) !== null
}

/** @returns epoch milliseconds, rounded down; null for what no calendar holds */
export function parseMoment(text: string, timeZone: string): number | null {
  if (/^\d{4}-\d{2}-\d{2}$/u.test(text)) {
    return attempt(() => Temporal.PlainDate.from(text).toZonedDateTime(timeZone).epochMilliseconds)
  }
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/u.test(text)) return null
  // In a query a bare plus is a space: `T09:30 01:00` was typed as `T09:30+01:00`.
  const typed = text.replace(/ (?=\d{2}:?\d{2}$)/u, '+')
  return (
    attempt(() => Temporal.Instant.from(typed).epochMilliseconds) ??
    attempt(() => Temporal.PlainDateTime.from(typed).toZonedDateTime(timeZone).epochMilliseconds)
  )
}

/** Temporal tells a text that it cannot read by a RangeError. */
function attempt<Value>(parse: () => Value): Value | null {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
