/** ISO 8601 UTC with milliseconds. @param epochMs the mirror's integer, or null if the time is unknown */
export function toIso(epochMs: number | null): string | null {
  if (epochMs === null) return null
  const time = new Date(epochMs)
  // `toISOString` throws for a time outside the calendar. Such a time is treated as unknown, so that the list still works.
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
