const ROWS_PER_LOOK = 256

/** When a search has to stop. Once passed it stays passed. */
export interface Deadline {
  /** Looks at the clock. */
  readonly isPassed: () => boolean
  /** For loops over rows: looks at the clock every 256 rows. */
  readonly isPassedAtRow: () => boolean
  /** Whether one of the looks so far found it passed. */
  readonly hasPassed: () => boolean
}

/** @param limitMs from now; none where undefined */
export function createDeadline(limitMs: number | undefined, now: () => number = () => performance.now()): Deadline {
  const endAtMs = limitMs === undefined ? Infinity : now() + limitMs
  let wasPassed = false
  let rows = 0
  const isPassed = (): boolean => {
    wasPassed ||= now() >= endAtMs
    return wasPassed
  }
  const isPassedAtRow = (): boolean => {
    rows += 1
    return rows % ROWS_PER_LOOK === 0 ? isPassed() : wasPassed
  }
  return { isPassed, isPassedAtRow, hasPassed: () => wasPassed }
}
