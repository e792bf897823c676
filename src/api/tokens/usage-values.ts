import { Temporal } from 'temporal-polyfill'

const isNothing = (text: string): boolean => /^[-–—]?$/.test(text)
const GROUPED = /^\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+$/
const GROUP_SIGN = /[,.'’\u00a0\u202f ]/g

/** A number of tokens, with any thousands separator. Null if there is none, `undefined` if it is not a number. */
export function readCount(text: string): number | null | undefined {
  const trimmed = text.trim()
  if (isNothing(trimmed)) return null
  const digits = GROUPED.test(trimmed) ? trimmed.replace(GROUP_SIGN, '') : trimmed.replace(/\.0+$/, '')
  if (!/^\d{1,15}$/.test(digits)) return undefined
  return Number(digits)
}

/**
 * Cents from `$0.12`, `1,234.50` or `0,12`. A word such as `Included` means that there is no price.
 * @param hasDecimalComma true for a file with semicolons as separators: there `1,234` is a little more than one
 * @returns null if there is no price, `undefined` if it is not an amount or is ambiguous
 */
export function readCents(text: string, hasDecimalComma: boolean): number | null | undefined {
  const trimmed = text.trim()
  if (isNothing(trimmed) || !/\d/.test(trimmed)) return null
  const amount = trimmed.replace(/^(?:US)?\$\s*|^USD\s*|\s*(?:USD|\$)$/gi, '')
  // Ambiguous: with a decimal comma, the point may separate thousands.
  if (hasDecimalComma && /^[1-9]\d{0,2}\.\d{3}$/.test(amount)) return undefined
  const plain = plainAmount(amount, hasDecimalComma)
  if (!/^\d{1,12}(?:\.\d+)?$/.test(plain)) return undefined
  return Math.round(Number(plain) * 1e8) / 1e6
}

/** No thousands separator follows a leading zero or a decimal mark. */
function plainAmount(amount: string, hasDecimalComma: boolean): string {
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(amount)) return amount.replaceAll('.', '').replace(',', '.')
  const isThousands = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/.test(amount)
  if (isThousands && !(hasDecimalComma && /^\d+,\d+$/.test(amount))) return amount.replaceAll(',', '')
  return /^\d+,\d+$/.test(amount) ? amount.replace(',', '.') : amount
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** A time outside of these years is an error: nobody used Cursor then, and every answer by time would have to include it. */
const [FIRST_MS, END_MS] = [Date.UTC(2000, 0), Date.UTC(2100, 0)]

/**
 * Reads a time: ISO 8601 with or without a zone, `Feb 19, 2026, 01:06 PM`, or epoch milliseconds.
 * @param timeZone of a time without a zone
 * @returns epoch milliseconds, or null if it is not a time from 2000 to 2099
 */
export function readMoment(text: string, timeZone: string): number | null {
  const trimmed = text.trim().replaceAll(/[\u00a0\u202f]/g, ' ')
  const ms = /^\d{13}$/.test(trimmed) ? Number(trimmed) : readIso(isoOfWords(trimmed) ?? trimmed, timeZone)
  return ms !== null && ms >= FIRST_MS && ms < END_MS ? ms : null
}

/** A zone after a time is used or refused. `Temporal.PlainDateTime` would ignore it. */
function readIso(text: string, timeZone: string): number | null {
  try {
    if (text.includes('[')) return Temporal.ZonedDateTime.from(text).epochMilliseconds
    const isLocal = /^[\d-]+(?:[T ][\d:.,]+)?$/i.test(text)
    if (!isLocal) return Temporal.Instant.from(text).epochMilliseconds
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds
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
