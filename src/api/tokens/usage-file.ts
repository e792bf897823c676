import { hash } from 'node:crypto'
import { CsvError, parse } from 'csv-parse/sync'
import { Temporal } from 'temporal-polyfill'
import type { UsageEvent } from '../../mirror/usage/usage-events.ts'
import { UserError } from '../../model/user-error.ts'

interface UsageFile {
  readonly events: readonly UsageEvent[]
  readonly unknownColumns: readonly string[]
}

type Field = 'date' | 'user' | 'kind' | 'model' | 'cacheWrite' | 'input' | 'cacheRead' | 'output' | 'total' | 'cost'

/** Column names in known versions of the file, reduced to letters and digits. Those without a field are not needed. */
const fieldsByName: ReadonlyMap<string, Field | null> = new Map([
  ['date', 'date'],
  ['timestamp', 'date'],
  ['user', 'user'],
  ['useremail', 'user'],
  ['kind', 'kind'],
  ['model', 'model'],
  ['inputwcachewrite', 'cacheWrite'],
  ['inputwithcachewrite', 'cacheWrite'],
  ['cachewrite', 'cacheWrite'],
  ['inputwocachewrite', 'input'],
  ['inputwithoutcachewrite', 'input'],
  ['inputtokens', 'input'],
  ['input', 'input'],
  ['cacheread', 'cacheRead'],
  ['output', 'output'],
  ['outputtokens', 'output'],
  ['tokens', 'total'],
  ['totaltokens', 'total'],
  ['cost', 'cost'],
  ['costusd', 'cost'],
  ['costtoyou', 'cost'],
  ['costrequests', 'cost'],
  ...['maxmode', 'requests', 'requestscosts', 'apicost', 'cloudagentid', 'automationid'].map(
    (name) => [name, null] as const,
  ),
])

/**
 * Reads a usage file as Cursor's dashboard gives it, with any line ends. One unreadable row refuses the whole file.
 * @param timeZone of times without a zone
 * @throws UserError `bad-csv`, `bad-columns`, `bad-cell`: each names the line, the column and what would be right
 */
export function readUsageFile(given: string, timeZone: string): UsageFile {
  // csv-parse counts `\r\n` within quotes as two lines.
  const text = given.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
  let columns = null as Columns | null
  let lastLine = 0
  const events: UsageEvent[] = []
  const onRecord = (cells: string[], { lines }: { readonly lines: number }): null => {
    const line = lines - cells.join('').split('\n').length + 1
    if (columns === null) columns = findColumns(cells)
    else events.push(readRow({ line, cells }, columns, timeZone))
    lastLine = lines
    return null
  }
  try {
    parse(text, {
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      on_record: onRecord,
    })
  } catch (error) {
    if (error instanceof CsvError) throw badCsv(error, lastLine)
    throw error
  }
  if (columns === null) throw refused('bad-columns', 'The file is empty.', 'Download it again.')
  return { events, unknownColumns: columns.unknown }
}

const DOWNLOADED = 'Use the usage file from Cursor’s dashboard, as it was downloaded.'
const NOTHING = 'Nothing was imported. Correct the row, or download the file again.'

const refused = (code: string, text: string, hint: string, cause?: unknown): UserError =>
  new UserError(code, text, hint, { status: 400, cause })

const problems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a quote follows other text',
}

function badCsv(error: CsvError, lastLine: number): UserError {
  // The parser notices an open quote only at the end of the file.
  const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED'
  const line = isOpen ? lastLine + 1 : Number(error['lines'])
  const text = `Line ${line} of the file is not valid CSV: ${problems[error.code] ?? error.message}.`
  return refused('bad-csv', text, 'Download the file again, and do not edit it.', error)
}

interface Columns {
  /** The column of each field that the file has. */
  readonly places: ReadonlyMap<Field, number>
  /** Column names as in the file, in order. */
  readonly names: readonly string[]
  /** Column names that are not known. */
  readonly unknown: readonly string[]
}

/** Finds the columns by name, in any order. @throws UserError `bad-columns` with the missing and the found names */
function findColumns(cells: readonly string[]): Columns {
  const names = cells.map((cell) => cell.trim())
  const places = new Map<Field, number>()
  const unknown: string[] = []
  for (const [place, name] of names.entries()) {
    const field = fieldsByName.get(name.toLowerCase().replace(/[^a-z\d]/g, ''))
    if (field === undefined) unknown.push(name)
    else if (field !== null && !places.has(field)) places.set(field, place)
  }
  const counts = [
    places.has('input') ? [] : 'Input (w/o Cache Write)',
    places.has('output') ? [] : 'Output Tokens',
  ].flat()
  const missing = [
    places.has('date') ? [] : 'Date',
    places.has('model') ? [] : 'Model',
    places.has('total') || counts.length === 0 ? [] : `${counts.at(-1)} or Total Tokens`,
  ].flat()
  if (missing.length === 0) return { places, names, unknown }
  const shown = names.slice(0, 30).map((name) => `"${name.slice(0, 60)}"`)
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  const text = `The file has no column ${missing.join(' and no column ')}. Its first line has: ${shown.join(', ')}${more}.`
  throw refused('bad-columns', text, DOWNLOADED)
}

interface Row {
  /** The line on which it starts, counted from 1. */
  readonly line: number
  readonly cells: readonly string[]
}

/** Every row of the original file has these. A program that saved it again may drop empty cells after them. */
const requiredFields = ['date', 'model', 'input', 'cacheWrite', 'cacheRead', 'output', 'total', 'cost'] as const

const RIGHT_TIME = 'a time from 2000 to 2099 such as 2026-02-19T13:06:04.478Z'

function readRow(row: Row, columns: Columns, timeZone: string): UsageEvent {
  const { line, cells } = row
  const { places, names } = columns
  // The last row of an incomplete download would be a wrong event, and a second one besides that of the whole file.
  const isCutOff = requiredFields.some((field) => (places.get(field) ?? -1) >= cells.length)
  if (cells.length > names.length || isCutOff) {
    const place = Math.min(names.length, cells.length) + 1
    const text = `Line ${line}, column ${place}: the row has ${cells.length} cells, but the file has ${names.length} columns.`
    throw refused('bad-cell', text, NOTHING)
  }
  const cell = (field: Field): string => cells[places.get(field) ?? -1]?.trim() ?? ''
  /** @throws UserError if the cell is not what it must be */
  const required = <Value>(field: Field, value: Value | undefined, right: string): Value => {
    if (value !== undefined) return value
    const name = names[places.get(field) ?? -1] ?? field
    const given = cell(field).slice(0, 40).toWellFormed()
    throw refused('bad-cell', `Line ${line}, column "${name}": "${given}" is not ${right}.`, NOTHING)
  }
  const count = (field: Field): number | null =>
    required(field, readCount(cell(field)), 'a whole number such as 1234 or 1,234')
  const atMs = required('date', readMoment(cell('date'), timeZone), RIGHT_TIME)
  const cents = required('cost', readCents(cell('cost')), 'an amount such as $0.12, or a word such as Included')
  const isCharge = !/requests/i.test(names[places.get('cost') ?? -1] ?? '') || cell('cost').includes('$')
  const counts = separateCacheWrite({
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
    total: count('total'),
  })
  const text = (field: Field): string | null => (isNothing(cell(field)) ? null : cell(field))
  const model = text('model')
  return {
    identity: identityOf(atMs, model, counts),
    line,
    atMs,
    kind: text('kind'),
    model,
    user: text('user'),
    ...counts,
    cents: isCharge ? cents : null,
  }
}

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
function identityOf(atMs: number, model: string | null, { total, ...counts }: Counts): string {
  const parts = [counts.input, counts.output, counts.cacheRead, counts.cacheWrite]
  const inAll = total ?? parts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  return hash('sha256', JSON.stringify([atMs, model, inAll]), 'base64url').slice(0, 24)
}

const isNothing = (text: string): boolean => /^[-–—]?$/.test(text)

/** A count of tokens; null if empty, `undefined` if it is no count. */
function readCount(text: string): number | null | undefined {
  if (isNothing(text)) return null
  const digits = /^\d{1,3}(?:,\d{3})+$/.test(text) ? text.replaceAll(',', '') : text
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
}

/** Reads `$0.12` or `1,234.50` as cents; null if there is no price, as for `Included`; `undefined` if it is no amount. */
function readCents(text: string): number | null | undefined {
  if (isNothing(text) || !/\d/.test(text)) return null
  const amount = text.replace(/^(?:US)?\$\s*|^USD\s*|\s*(?:USD|\$)$/gi, '')
  const plain = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/.test(amount) ? amount.replaceAll(',', '') : amount
  return /^\d{1,12}(?:\.\d+)?$/.test(plain) ? Math.round(Number(plain) * 1e8) / 1e6 : undefined
}

/** A time outside these bounds is wrong. Accepting it would make every answer by time span it. */
const [FIRST_MS, END_MS] = [Date.UTC(2000, 0), Date.UTC(2100, 0)]

/**
 * Reads a moment: ISO 8601 with or without a zone, `Feb 19, 2026, 01:06 PM`, or epoch milliseconds.
 * @param timeZone for a time without a zone
 * @returns epoch milliseconds; `undefined` if the text is no time, or a time before 2000 or after 2099
 */
function readMoment(given: string, timeZone: string): number | undefined {
  const text = given.replaceAll(/[\u00a0\u202f]/g, ' ')
  const ms = /^\d{13}$/.test(text) ? Number(text) : readIso(isoOfWords(text) ?? text, timeZone)
  return ms >= FIRST_MS && ms < END_MS ? ms : undefined
}

/** A zone after the time must be used or refused, because Temporal's plain times ignore it. @returns NaN if it is no time */
function readIso(text: string, timeZone: string): number {
  try {
    if (text.includes('[')) return Temporal.ZonedDateTime.from(text).epochMilliseconds
    const isLocal = /^[\d-]+(?:[T ][\d:.,]+)?$/i.test(text)
    if (!isLocal) return Temporal.Instant.from(text).epochMilliseconds
    return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds
  } catch (error) {
    if (error instanceof RangeError) return Number.NaN
    throw error
  }
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const two = (value: number): string => String(value).padStart(2, '0')

function isoOfWords(text: string): string | null {
  const [, name = '', day = '', year = '', hour = '', minute = '', second = '00', half = ''] =
    /^([a-z]{3})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))?(?: ?([ap])\.?m\.?)?$/i.exec(text) ?? []
  const month = months.indexOf(name.toLowerCase()) + 1
  if (month === 0) return null
  const hours = half === '' ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${year}-${two(month)}-${two(Number(day))}T${two(hours)}:${minute}:${second}`
}
