import { hash } from 'node:crypto'
import { CsvError, parse } from 'csv-parse/sync'
import type { UsageEvent } from '../mirror/usage/usage-events.ts'
import { UserError } from '../model/user-error.ts'

type Field = 'date' | 'user' | 'kind' | 'model' | 'cacheWrite' | 'input' | 'cacheRead' | 'output' | 'total' | 'cost'

/** Column names, reduced to letters and digits. Others are not needed. */
const fieldsByName: ReadonlyMap<string, Field> = new Map([
  ['date', 'date'],
  ['user', 'user'],
  ['kind', 'kind'],
  ['model', 'model'],
  ['inputwcachewrite', 'cacheWrite'],
  ['inputwocachewrite', 'input'],
  ['cacheread', 'cacheRead'],
  ['outputtokens', 'output'],
  ['tokens', 'total'],
  ['totaltokens', 'total'],
  ['cost', 'cost'],
  ['costtoyou', 'cost'],
])

/** The rows of every known version of the file have these. */
const REQUIRED: readonly (readonly [field: Field, name: string])[] = [
  ['date', 'Date'],
  ['model', 'Model'],
  ['total', 'Total Tokens'],
]

type Cells = Readonly<Partial<Record<Field, string>>>

/**
 * Reads a usage file as Cursor's dashboard gives it, with its columns in any order. One unreadable row refuses the whole
 * file.
 * @throws UserError `bad-csv`, `bad-columns`, `bad-cell`: each names the line, the column and what would be right
 */
export function readUsageFile(text: string): readonly UsageEvent[] {
  if (text.trim() === '') throw refused('bad-columns', 'The file is empty.', 'Download it again.')
  try {
    const options = { bom: true, columns: readHead, info: true, skip_empty_lines: true, trim: true } as const
    // The types of csv-parse do not know what `info` adds.
    const rows = parse(text, options) as unknown as readonly { readonly record: Cells; readonly info: Info }[]
    return rows.map(({ record, info }) => readRow(record, info.lines))
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    // Its message names the line.
    throw refused('bad-csv', `The file is not valid CSV: ${error.message}.`, 'Download it again, and do not edit it.')
  }
}

interface Info {
  /** The line on which a row ends, counted from 1. */
  readonly lines: number
}

const NOTHING = 'Nothing was imported. Correct the row, or download the file again.'

const refused = (code: string, text: string, hint: string): UserError =>
  new UserError(code, text, hint, { status: 400 })

/** The field of each column; null for a column that is not needed. @throws UserError with the missing and the found names */
function readHead(names: readonly string[]): (Field | null)[] {
  const fields = names.map((name) => fieldsByName.get(name.toLowerCase().replace(/[^a-z\d]/g, '')) ?? null)
  const missing = REQUIRED.filter(([field]) => !fields.includes(field)).map(([, name]) => name)
  if (missing.length === 0) return fields
  const shown = names.slice(0, 30).map((name) => `"${name.slice(0, 60)}"`)
  const text = `The file has no column ${missing.join(' and no column ')}. Its first line has: ${shown.join(', ')}.`
  throw refused('bad-columns', text, 'Use the usage file from Cursor’s dashboard, as it was downloaded.')
}

function readRow(cells: Cells, line: number): UsageEvent {
  const read = <Value>(field: Field, from: (text: string) => Value | undefined, right: string): Value => {
    const text = cells[field] ?? ''
    const value = from(text)
    if (value !== undefined) return value
    const given = text.slice(0, 40).toWellFormed()
    throw refused('bad-cell', `Line ${line}: the ${field} "${given}" is not ${right}.`, NOTHING)
  }
  const count = (field: Field): number | null => read(field, readCount, 'a whole number such as 1234 or 1,234')
  const atMs = read('date', readMoment, 'a time from 2000 to 2099 such as 2026-02-19T13:06:04.478Z')
  const text = (field: Field): string | null => (isNothing(cells[field] ?? '') ? null : (cells[field] ?? null))
  const [model, total] = [text('model'), count('total')]
  return {
    // Every version of the file has these.
    identity: hash('sha256', JSON.stringify([atMs, model, total ?? 0]), 'base64url').slice(0, 24),
    line,
    atMs,
    kind: text('kind'),
    model,
    user: text('user'),
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
    total,
    cents: read('cost', readCents, 'an amount such as $0.12, or a word such as Included'),
  }
}

const isNothing = (text: string): boolean => /^[-–—]?$/.test(text)

/** A count of tokens; null if empty, `undefined` if it is no count. */
function readCount(text: string): number | null | undefined {
  if (isNothing(text)) return null
  const digits = text.replaceAll(',', '')
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
}

/** Reads `$0.12` or `0.71` as cents; null if there is no price, as for `Included`; `undefined` if it is no amount. */
function readCents(text: string): number | null | undefined {
  if (!/\d/.test(text)) return null
  const amount = text.replace(/^\$/, '')
  return /^\d{1,12}(?:\.\d+)?$/.test(amount) ? Math.round(Number(amount) * 1e8) / 1e6 : undefined
}

/** A time outside these bounds is wrong. Accepting it would make every answer by time span it. */
const [FIRST_MS, END_MS] = [Date.UTC(2000, 0), Date.UTC(2100, 0)]

/** Epoch milliseconds; `undefined` if the text is no time with a zone within the bounds. */
function readMoment(text: string): number | undefined {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN
  return ms >= FIRST_MS && ms < END_MS ? ms : undefined
}
