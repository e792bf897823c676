import type { Mirror } from '../mirror/open.ts'
import { type HeldRow, countHeldRows, markMissed, readMissed } from '../mirror/sources/sources.ts'
import type { MassRule, PendingLoss } from '../model/pass.ts'
import type { PassRequest } from './source.ts'

export const massRule: MassRule = { rows: 100, share: 0.2 }

/** After a mass loss, rows count as gone if they are still missing after this time. */
const CONFIRM_AFTER_MS = 60_000

/** The result of one comparison of all keys of a source with all its rows in the mirror. */
export interface Comparison {
  readonly missing: readonly HeldRow[]
  /** Rows that were missing before and are present again. */
  readonly backKeys: readonly string[]
}

/**
 * Decides which of the missing rows are gone. A store may be swapped, emptied or restored while we run. If very many
 * rows vanish at once, they are noted as missed and still count as held, until a comparison a minute later, or one that a
 * person asked for, misses them again.
 */
export function judgeMissing(
  mirror: Mirror,
  source: number,
  { missing, backKeys }: Comparison,
  { isAsked, now, mass = massRule }: Pick<PassRequest, 'isAsked' | 'now' | 'mass'>,
): ReadonlySet<string> {
  markMissed(mirror, source, backKeys, null)
  if (isAsked === true) return new Set(missing.map(({ key }) => key))
  const nowMs = now()
  const open = missing.filter(({ missedAtMs }) => missedAtMs === null || nowMs < confirmableAtMs(missedAtMs, nowMs))
  const isMass = open.length > mass.rows && open.length > mass.share * countHeldRows(mirror, source)
  const waiting = isMass ? open : open.filter(({ missedAtMs }) => missedAtMs !== null)
  const fresh = waiting.filter(({ missedAtMs }) => missedAtMs === null).map(({ key }) => key)
  markMissed(mirror, source, fresh, nowMs)
  const waitingKeys = new Set(waiting.map(({ key }) => key))
  return new Set(missing.flatMap(({ key }) => (waitingKeys.has(key) ? [] : [key])))
}

/** If the clock was set back, rows must not wait longer. */
const confirmableAtMs = (missedAtMs: number, nowMs: number): number => Math.min(missedAtMs, nowMs) + CONFIRM_AFTER_MS

export function readPendingLoss(mirror: Mirror, source: number, nowMs: number): PendingLoss | null {
  const missed = readMissed(mirror, source)
  if (missed === null) return null
  return { rows: missed.rows, of: missed.of, confirmableAtMs: confirmableAtMs(missed.sinceMs, nowMs) }
}
