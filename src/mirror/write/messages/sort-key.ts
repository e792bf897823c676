/** How many messages of one millisecond have a key of their own before they borrow from the next. */
export const SLOTS_PER_MS = 1024

/**
 * The least key a message of this time may have: keys grow with time, 1,024 to a millisecond, within 2^53 until the
 * year 2248. A message without a time sorts before all others.
 * @param createdAtMs epoch milliseconds, or null where unknown
 */
export function sortKeyFloor(createdAtMs: number | null): number {
  return createdAtMs === null ? 1 : Math.max(1, Math.floor(createdAtMs)) * SLOTS_PER_MS
}
