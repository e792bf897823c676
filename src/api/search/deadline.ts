const ROWS_PER_CHECK = 256

/** When a search must stop. Once passed, it stays passed. */
export interface Deadline {
  /** Checks the clock. */
  readonly isPassed: () => boolean
  /** For loops over rows: checks the clock every 256 rows. */
  readonly isPassedAtRow: () => boolean
  /** Whether an earlier check found it passed. Does not check the clock. */
  readonly hasPassed: () => boolean
}

/** @param limitMs milliseconds from now; undefined for no limit */
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
    return rows % ROWS_PER_CHECK === 0 ? isPassed() : wasPassed
  }
  return { isPassed, isPassedAtRow, hasPassed: () => wasPassed }
}
