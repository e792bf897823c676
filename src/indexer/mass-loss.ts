import type { Mirror } from '../mirror/open.ts'
import { forgetMissed, noteMissed, readMissed } from '../mirror/sources/missed-rows.ts'
import { countHeldRows, type HeldRow } from '../mirror/sources/source-state.ts'
import type { MassRule, PassRequest } from './source.ts'

export const massRule: MassRule = { rows: 100, share: 0.2 }

/** What vanished in such a number is gone when it is still missed so long after. */
const CONFIRM_AFTER_MS = 60_000

/** What one comparison of all that a source holds with all that is held of it found. */
export interface Comparison {
  readonly missing: readonly HeldRow[]
  /** Rows that were missed before, and are there again. */
  readonly backKeys: readonly string[]
}

/**
 * Which of the missing rows are gone. A store may be swapped, emptied or restored under us: where very much vanished at
 * once, the rows are noted as missed and count as held, until a look a minute later, or a full one, misses them still.
 */
export function judgeMissing(
  mirror: Mirror,
  source: number,
  { missing, backKeys }: Comparison,
  { depth, now, mass = massRule }: Pick<PassRequest, 'depth' | 'now' | 'mass'>,
): ReadonlySet<string> {
  forgetMissed(mirror, source, backKeys)
  if (depth === 'full') return new Set(missing.map(({ key }) => key))
  const nowMs = now()
  const open = missing.filter(({ missedAtMs }) => missedAtMs === null || nowMs < confirmableAtMs(missedAtMs, nowMs))
  const isMass = open.length > mass.rows && open.length > mass.share * countHeldRows(mirror, source)
  const waiting = isMass ? open : open.filter(({ missedAtMs }) => missedAtMs !== null)
  const fresh = waiting.filter(({ missedAtMs }) => missedAtMs === null).map(({ key }) => key)
  noteMissed(mirror, source, fresh, nowMs)
  const held = new Set(waiting.map(({ key }) => key))
  return new Set(missing.flatMap(({ key }) => (held.has(key) ? [] : [key])))
}

/** A clock that was set back must not keep anything waiting. */
const confirmableAtMs = (missedAtMs: number, nowMs: number): number => Math.min(missedAtMs, nowMs) + CONFIRM_AFTER_MS

/** Rows that vanished and are not called gone yet. */
export interface PendingLoss {
  readonly rows: number
  readonly of: number
  /** From when on a comparison settles it, epoch milliseconds. */
  readonly confirmableAtMs: number
}

export function readPendingLoss(mirror: Mirror, source: number, nowMs: number): PendingLoss | null {
  const missed = readMissed(mirror, source)
  if (missed === null) return null
  return { rows: missed.rows, of: missed.of, confirmableAtMs: confirmableAtMs(missed.sinceMs, nowMs) }
}
