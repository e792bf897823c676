import { isTimeZone, readPeriod, type Clock } from '../periods.ts'
import { badParameters } from './problem.ts'
import type { BadParameter } from './problem.ts'

export interface Bounds {
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

/** What is wrong with what is no date. */
export const NO_DATE = 'must be a date such as 2026-03-01, 2026-03-01T09:30:00Z, 2026-02, yesterday or 7d'

/** The zone of a request, and the present. @throws Problem 400 for what is no zone */
export function readClock(tz: string | null, world: { readonly timeZone: string; now(): number }): Clock {
  // A plus that was not encoded arrives as a space.
  const timeZone = tz?.replace(/^ (?=\d)/u, '+') ?? world.timeZone
  if (!isTimeZone(timeZone)) {
    throw badParameters([{ name: 'tz', reason: 'must be a time zone such as Europe/Berlin or UTC' }])
  }
  return { timeZone, nowMs: world.now() }
}

/**
 * What `from` and `to` name: both are the first moment of the date that is given.
 * @throws Problem 400 for what is no date
 */
export function readBounds(query: { readonly from: string | null; readonly to: string | null }, clock: Clock): Bounds {
  const errors: BadParameter[] = []
  const read = (name: 'from' | 'to'): number | null => {
    const text = query[name]
    const period = text === null ? null : readPeriod(text, clock)
    if (text !== null && period === null) {
      errors.push({ name, reason: NO_DATE })
    }
    return period?.startMs ?? null
  }
  const bounds = { fromMs: read('from'), toMs: read('to') }
  if (errors.length > 0) throw badParameters(errors)
  return bounds
}
