/** So far may the clocks of those who archive into one folder be apart. */
const APART_MS = 24 * 3_600_000

/** Whether a time lies so far ahead that whoever noted it had a wrong clock, or we have. */
export const isAheadOfClock = (atMs: number, nowMs: number): boolean => atMs > nowMs + APART_MS
