import { hash } from 'node:crypto'
import type { UsageEvent } from '../../mirror/usage/usage-events.ts'
import { UserError } from '../../model/user-error.ts'
import { readRecords, type CsvRecord } from './csv-records.ts'
import { findUsageColumns, type UsageColumns, type UsageField } from './usage-columns.ts'
import { Temporal } from 'temporal-polyfill'

interface UsageFile {
  readonly events: readonly UsageEvent[]
  readonly unknownColumns: readonly string[]
}

/**
 * Reads a usage file. One unreadable row refuses the whole file.
 * @param timeZone of times without a zone
 * @throws UserError `bad-csv`, `bad-columns`, `bad-cell`: each names the line, the column and what would be right
 */
export function readUsageFile(text: string, timeZone: string): UsageFile {
  let columns = null as UsageColumns | null
  const events: UsageEvent[] = []
  readRecords(text, (record) => {
    if (columns === null) columns = findUsageColumns(record.cells)
    else events.push(readRow(record, columns, timeZone))
  })
  if (columns === null) throw new UserError('bad-columns', 'The file is empty.', 'Download it again.', { status: 400 })
  return { events, unknownColumns: columns.unknown }
}

const RIGHT_TIME = 'a time from 2000 to 2099 such as 2026-02-19T13:06:04.478Z'

function readRow(record: CsvRecord, columns: UsageColumns, timeZone: string): UsageEvent {
  const { places, names } = columns
  if (record.cells.length > names.length || isCutOff(record, columns)) throw badRow(record, names.length)
  const cell = (field: UsageField): string => record.cells[places.get(field) ?? -1]?.trim() ?? ''
  const count = (field: UsageField): number | null => {
    const value = readCount(cell(field))
    if (value === undefined) throw badCell(record, columns, field, 'a whole number such as 1234 or 1,234')
    return value
  }
  const atMs = readMoment(cell('date'), timeZone)
  if (atMs === null) throw badCell(record, columns, 'date', RIGHT_TIME)
  const cents = readCents(cell('cost'), record.separator === ';')
  if (cents === undefined) throw badCell(record, columns, 'cost', 'an amount such as $0.12, or a word such as Included')
  const isCharge = !/requests/i.test(names[places.get('cost') ?? -1] ?? '') || cell('cost').includes('$')
  const counts = { output: count('output'), cacheRead: count('cacheRead'), total: count('total') }
  const model = filled(cell('model'))
  const separate = separateCacheWrite({ ...counts, input: count('input'), cacheWrite: count('cacheWrite') })
  return {
    identity: identityOf(atMs, model, separate),
    line: record.line,
    atMs,
    kind: filled(cell('kind')),
    model,
    user: filled(cell('user')),
    ...separate,
    cents: isCharge ? cents : null,
  }
}

/** Every row of the original file has these. A program that saved it again may drop empty cells after them. */
const requiredFields: readonly UsageField[] = [
  'date',
  'model',
  'input',
  'cacheWrite',
  'cacheRead',
  'output',
  'total',
  'cost',
]

/** The last row of an incomplete download would be a wrong event, and a second one besides that of the whole file. */
const isCutOff = ({ cells }: CsvRecord, { places }: UsageColumns): boolean =>
  requiredFields.some((field) => (places.get(field) ?? -1) >= cells.length)

const filled = (text: string): string | null => (text === '' || text === '-' ? null : text)

type Counts = Pick<UsageEvent, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'total'>

/**
 * The two input columns are separate amounts: the total of a row is the sum of all four. Only if the total shows that
 * `input` is contained in `cacheWrite`, it is subtracted.
 */
function separateCacheWrite(counts: Counts): Counts {
  const { input, cacheWrite, cacheRead, output, total } = counts
  if (input === null || cacheWrite === null || total === null) return counts
  const rest = (cacheRead ?? 0) + (output ?? 0)
  const isInside =
    cacheWrite >= input && input > 0 && total === cacheWrite + rest && total !== cacheWrite + input + rest
  return isInside ? { ...counts, cacheWrite: cacheWrite - input } : counts
}

/** Time, model and total: every version of the file has these. */
function identityOf(atMs: number, model: string | null, counts: Counts): string {
  const { input, output, cacheRead, cacheWrite, total } = counts
  const parts = [input, output, cacheRead, cacheWrite].filter((count) => count !== null)
  const inAll = total ?? parts.reduce((sum, count) => sum + count, 0)
  return hash('sha256', JSON.stringify([atMs, model, inAll]), 'base64url').slice(0, 24)
}

function badCell({ line, cells }: CsvRecord, columns: UsageColumns, field: UsageField, right: string): UserError {
  const place = columns.places.get(field) ?? -1
  const name = columns.names[place] ?? field
  const given = (cells[place] ?? '').slice(0, 40).toWellFormed()
  const text = `Line ${line}, column "${name}": "${given}" is not ${right}.`
  return new UserError('bad-cell', text, 'Nothing was imported. Correct the row, or download the file again.', {
    status: 400,
  })
}

const badRow = ({ line, cells }: CsvRecord, columns: number): UserError =>
  new UserError(
    'bad-cell',
    `Line ${line}, column ${Math.min(columns, cells.length) + 1}: the row has ${cells.length} cells, but the file has ${columns} columns.`,
    'Nothing was imported. Correct the row, or download the file again.',
    { status: 400 },
  )

const isNothing = (text: string): boolean => /^[-–—]?$/.test(text)
const GROUPED = /^\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+$/
const GROUP_SIGN = /[,.'’\u00a0\u202f ]/g

/** A count of tokens, with any thousands separator; null if empty, `undefined` if it is no count. */
export function readCount(text: string): number | null | undefined {
  const trimmed = text.trim()
  if (isNothing(trimmed)) return null
  const digits = GROUPED.test(trimmed) ? trimmed.replace(GROUP_SIGN, '') : trimmed.replace(/\.0+$/, '')
  if (!/^\d{1,15}$/.test(digits)) return undefined
  return Number(digits)
}

/**
 * Reads `$0.12`, `1,234.50` or `0,12` as cents. A word such as `Included` means that there is no price.
 * @param hasDecimalComma true for files separated by semicolons: there `1,234` is a little more than one
 * @returns null if there is no price, `undefined` if the text is no amount or is ambiguous
 */
export function readCents(text: string, hasDecimalComma: boolean): number | null | undefined {
  const trimmed = text.trim()
  if (isNothing(trimmed) || !/\d/.test(trimmed)) return null
  const amount = trimmed.replace(/^(?:US)?\$\s*|^USD\s*|\s*(?:USD|\$)$/gi, '')
  // In such a file, the point may be a thousands separator or a decimal point.
  if (hasDecimalComma && /^[1-9]\d{0,2}\.\d{3}$/.test(amount)) return undefined
  const plain = plainAmount(amount, hasDecimalComma)
  if (!/^\d{1,12}(?:\.\d+)?$/.test(plain)) return undefined
  return Math.round(Number(plain) * 1e8) / 1e6
}

/** A leading 0 is never followed by a thousands separator, and there is none after the decimal sign. */
function plainAmount(amount: string, hasDecimalComma: boolean): string {
  if (/^\d{1,3}(?:\.\d{3})+,\d+$/.test(amount)) return amount.replaceAll('.', '').replace(',', '.')
  const isThousands = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/.test(amount)
  if (isThousands && !(hasDecimalComma && /^\d+,\d+$/.test(amount))) return amount.replaceAll(',', '')
  return /^\d+,\d+$/.test(amount) ? amount.replace(',', '.') : amount
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** A time outside these bounds is wrong. Accepting it would make every answer by time span it. */
const [FIRST_MS, END_MS] = [Date.UTC(2000, 0), Date.UTC(2100, 0)]

/**
 * Reads a moment: ISO 8601 with or without a zone, `Feb 19, 2026, 01:06 PM`, or epoch milliseconds.
 * @param timeZone for a time without a zone
 * @returns epoch milliseconds; null if the text is no time, or a time before 2000 or after 2099
 */
export function readMoment(text: string, timeZone: string): number | null {
  const trimmed = text.trim().replaceAll(/[\u00a0\u202f]/g, ' ')
  const ms = /^\d{13}$/.test(trimmed) ? Number(trimmed) : readIso(isoOfWords(trimmed) ?? trimmed, timeZone)
  return ms !== null && ms >= FIRST_MS && ms < END_MS ? ms : null
}

/** A zone after the time must be used or refused, because Temporal's plain times ignore it. */
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
