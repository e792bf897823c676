/** ISO 8601 UTC with milliseconds. @param epochMs the mirror's integer, or null where the time is unknown */
export function toIso(epochMs: number | null): string | null {
  if (epochMs === null) return null
  const time = new Date(epochMs)
  // A time that no calendar holds is as good as unknown; better null than a list that cannot be answered.
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
