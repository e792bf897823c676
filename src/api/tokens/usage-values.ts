import { Temporal } from 'temporal-polyfill'

const isNothing = (text: string): boolean => /^[-–—]?$/.test(text)
const GROUPED = /^\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+$/
const GROUP_SIGN = /[,.'’\u00a0\u202f ]/g

/** A count of tokens, with thousands marked in any way; null for none, `undefined` for what is no count. */
export function readCount(text: string): number | null | undefined {
  const trimmed = text.trim()
  if (isNothing(trimmed)) return null
  const digits = GROUPED.test(trimmed) ? trimmed.replace(GROUP_SIGN, '') : trimmed.replace(/\.0+$/, '')
  if (!/^\d{1,15}$/.test(digits)) return undefined
  return Number(digits)
}

/**
 * Cents, out of `$0.12`, `1,234.50` or `0,12`. Words such as `Included` say that no price was told, and neither does a
 * count of requests. @returns null where none is told, `undefined` for what is no amount
 */
export function readCents(text: string): number | null | undefined {
  const trimmed = text.trim()
  if (isNothing(trimmed) || !/\d/.test(trimmed)) return null
  const amount = trimmed.replace(/^(?:US)?\$\s*|^USD\s*|\s*(?:USD|\$)$/gi, '')
  const plain = /^\d+,\d{1,2}$/.test(amount) ? amount.replace(',', '.') : amount.replaceAll(/,(?=\d{3}(?:\D|$))/g, '')
  if (!/^\d{1,12}(?:\.\d+)?$/.test(plain)) return undefined
  return Math.round(Number(plain) * 1e8) / 1e6
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * A moment: ISO 8601 with or without a zone, `Feb 19, 2026, 01:06 PM`, or epoch milliseconds.
 * @param timeZone in which a time without a zone is read
 * @returns epoch milliseconds, or null for what is no time
 */
export function readMoment(text: string, timeZone: string): number | null {
  const trimmed = text.trim().replaceAll(/[\u00a0\u202f]/g, ' ')
  if (/^\d{13}$/.test(trimmed)) return Number(trimmed)
  try {
    if (/(?:Z|[+-]\d\d:?\d\d)$/i.test(trimmed)) return Temporal.Instant.from(trimmed).epochMilliseconds
    const local = isoOfWords(trimmed) ?? trimmed
    return Temporal.PlainDateTime.from(local).toZonedDateTime(timeZone).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const two = (value: number): string => String(value).padStart(2, '0')

function isoOfWords(text: string): string | null {
  const [, name = '', day = '', year = '', hour = '', minute = '', second = '00', half = ''] =
    /^([a-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?$/i.exec(text) ?? []
  const month = months.indexOf(name.toLowerCase()) + 1
  if (month === 0) return null
  const hours = half === '' ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${year}-${two(month)}-${two(Number(day))}T${two(hours)}:${minute}:${second}`
}
