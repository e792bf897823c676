import { isTimeZone, readPeriod, type Clock } from '../periods.ts'
import type { Mirror } from '../../mirror/open.ts'
import { resolveMachines } from '../queries/machines.ts'
import { resolveProjects } from '../queries/projects/list-projects.ts'
import { badParameters } from './problem.ts'
import type { BadParameter } from '../answers/common.ts'

export interface Bounds {
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

/** Why a text is refused as a date. */
export const NO_DATE = 'must be a date such as 2026-03-01, 2026-03-01T09:30:00Z, 2026-02, yesterday or 7d'

/** The time zone of a request, and the present time. @throws Problem 400 if `tz` is no time zone */
export function readClock(tz: string | null, context: { readonly timeZone: string; now(): number }): Clock {
  // An unencoded plus arrives as a space.
  const timeZone = tz?.replace(/^ (?=\d)/u, '+') ?? context.timeZone
  if (!isTimeZone(timeZone)) {
    throw badParameters([{ name: 'tz', reason: 'must be a time zone such as Europe/Berlin or UTC' }])
  }
  return { timeZone, nowMs: context.now() }
}

/**
 * Reads `from` and `to`. Each means the first moment of its date.
 * @throws Problem 400 if either is no date
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

interface Scoped {
  readonly project: readonly string[] | null
  readonly machine: readonly string[] | null
}

/** The projects and machines that a request names, by their numbers; null if it names none. */
export const scopeOf = (db: Mirror, { project, machine }: Scoped) => ({
  projectNums: project === null ? null : resolveProjects(db, project),
  machineNums: machine === null ? null : resolveMachines(db, machine),
})
