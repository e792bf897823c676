import { hash } from 'node:crypto'
import type { UsageEvent } from '../../mirror/usage/usage-events.ts'
import { UserError } from '../../model/user-error.ts'
import { csvRecords, type CsvRecord } from './csv-records.ts'
import { findUsageColumns, type UsageColumns, type UsageField } from './usage-columns.ts'
import { readCents, readCount, readMoment } from './usage-values.ts'

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
  const [head, ...rows] = csvRecords(text)
  if (head === undefined) throw new UserError('bad-columns', 'The file is empty.', 'Download it again.')
  const columns = findUsageColumns(head.cells)
  const events = rows.map((record): UsageEvent => {
    const event = readRow(record, columns, timeZone)
    return { ...event, identity: identityOf(event) }
  })
  return { events, unknownColumns: columns.unknown }
}

const RIGHT_TIME = 'a time from 2000 to 2099 such as 2026-02-19T13:06:04.478Z'

type SaidEvent = Omit<UsageEvent, 'identity'>

function readRow(record: CsvRecord, columns: UsageColumns, timeZone: string): SaidEvent {
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
  return {
    line: record.line,
    atMs,
    kind: filled(cell('kind')),
    model: filled(cell('model')),
    user: filled(cell('user')),
    ...partInput({ ...counts, input: count('input'), cacheWrite: count('cacheWrite') }),
    cents: isCharge ? cents : null,
  }
}

/** Every row of the dashboard has these cells. A program that saved the file may drop empty cells after them. */
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

/** The last row of an interrupted download would count as an event of its own after the complete file is imported. */
const isCutOff = ({ cells }: CsvRecord, { places }: UsageColumns): boolean =>
  requiredFields.some((field) => (places.get(field) ?? -1) >= cells.length)

const filled = (text: string): string | null => (text === '' || text === '-' ? null : text)

type Counts = Pick<UsageEvent, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'total'>

/**
 * The two input columns are separate amounts: the total of a row is the sum of all four columns. If the total shows that
 * one was counted into the other, it is subtracted.
 */
function partInput(counts: Counts): Counts {
  const { input, cacheWrite, cacheRead, output, total } = counts
  if (input === null || cacheWrite === null || total === null) return counts
  const rest = (cacheRead ?? 0) + (output ?? 0)
  const isInside =
    cacheWrite >= input && input > 0 && total === cacheWrite + rest && total !== cacheWrite + input + rest
  return isInside ? { ...counts, cacheWrite: cacheWrite - input } : counts
}

/** Hash of time, model and total, which every version of the file contains. */
function identityOf({ atMs, model, input, output, cacheRead, cacheWrite, total }: SaidEvent): string {
  const parts = [input, output, cacheRead, cacheWrite].filter((count) => count !== null)
  const inAll = total ?? parts.reduce((sum, count) => sum + count, 0)
  return hash('sha256', JSON.stringify([atMs, model, inAll]), 'base64url').slice(0, 24)
}

function badCell({ line, cells }: CsvRecord, columns: UsageColumns, field: UsageField, right: string): UserError {
  const place = columns.places.get(field) ?? -1
  const name = columns.names[place] ?? field
  const given = (cells[place] ?? '').slice(0, 40).toWellFormed()
  const text = `Line ${line}, column "${name}": "${given}" is not ${right}.`
  return new UserError('bad-cell', text, 'Nothing of the file was taken. Correct the row, or download the file again.')
}

const badRow = ({ line, cells }: CsvRecord, columns: number): UserError =>
  new UserError(
    'bad-cell',
    `Line ${line}, column ${Math.min(columns, cells.length) + 1}: the row has ${cells.length} cells, and the file ${columns} columns.`,
    'Nothing of the file was taken. Correct the row, or download the file again.',
  )
