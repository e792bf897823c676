import { readTime } from './read-time.ts'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `Tuesday, Jun 2, 2026, 11:20 AM (UTC+8)`; the space before AM may be a narrow one. */
const spokenShape =
  /^(?:[a-z]+,\s*)?([a-z]{3})[a-z]*\.?\s+(\d{1,2}),\s*(\d{4}),?\s+(?:at\s+)?(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\.?)?\s*\((?:utc|gmt)(?:([+\-−])(\d{1,2})(?::?(\d{2}))?)?\)$/i

const isoWithZone = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(?:z|[+-]\d{2}:?\d{2})$/i

/** Epoch milliseconds; null for what names no zone, and so could be any of a day's moments, and for no time at all. */
export function readTimestamp(text: string): number | null {
  const trimmed = text.trim()
  if (trimmed.length > 100) return null
  return isoWithZone.test(trimmed) ? readTime(trimmed) : readTime(spokenTime(trimmed))
}

function spokenTime(text: string): number | null {
  const [, name = '', day, year, hour, minute, second = '0', half, sign, ...offset] = spokenShape.exec(text) ?? []
  const month = months.indexOf(name.toLowerCase())
  const hours = hourOfDay(Number(hour), half?.toLowerCase() ?? null)
  if (month < 0 || hours === null || Number(minute) > 59 || Number(second) > 59) return null
  const midnight = new Date(Date.UTC(Number(year), month, Number(day)))
  // February 30 would silently become March.
  if (midnight.getUTCDate() !== Number(day)) return null
  const [offsetHours = '0', offsetMinutes = '0'] = offset
  const ahead = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '+' ? 1 : -1)
  return midnight.getTime() + ((hours * 60 + Number(minute) - ahead) * 60 + Number(second)) * 1000
}

/** Without AM or PM the clock has 24 hours. */
function hourOfDay(hour: number, half: string | null): number | null {
  if (half === null) return hour < 24 ? hour : null
  return hour >= 1 && hour <= 12 ? (hour % 12) + (half === 'p' ? 12 : 0) : null
}
