import { CsvError, parse } from 'csv-parse/sync'
import { UserError } from '../../model/user-error.ts'

export interface CsvRecord {
  /** The line on which the record starts, counted from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** The separator of the whole file. */
  readonly separator: string
}

const SEPARATORS = [',', ';', '\t'] as const

/** Cursor's own file has 12 columns. Millions would fill the memory before the first row ends. */
const COLUMNS_MAX = 1000
/** The separator is known from the first line, of which this is enough. In UTF-16 units. */
const HEAD_LENGTH = 100_000

/** The separator that is most frequent in the first line, outside of quotes. */
function separatorOf(text: string): string {
  const [head = ''] = /^(?:"(?:[^"]|"")*"|[^"\n])*/.exec(text.slice(0, HEAD_LENGTH)) ?? []
  const bare = head.replace(/"(?:[^"]|"")*"/g, '')
  const counts = SEPARATORS.map((separator) => bare.split(separator).length)
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ','
}

/** @throws UserError `bad-columns` if a row is longer than any file of Cursor's. It only counts, so it needs no memory */
function refuseEndlessRows(text: string, separator: string): void {
  let isQuoted = false
  let line = 1
  let [first, columns] = [1, 1]
  for (const [sign] of text.matchAll(/[",;\t\n]/g)) {
    if (sign === '"') isQuoted = !isQuoted
    if (sign === '\n') line += 1
    if (isQuoted) continue
    if (sign === separator) columns += 1
    if (sign === '\n') [first, columns] = [line, 1]
    if (columns <= COLUMNS_MAX) continue
    const problem = `Line ${first} of the file has more than ${COLUMNS_MAX} columns.`
    throw new UserError('bad-columns', problem, 'Use the usage file from Cursor’s dashboard, as it was downloaded.', {
      status: 400,
    })
  }
}

/**
 * Reads a CSV text with any line ends, with or without a byte order mark, and separated by commas, semicolons or tabs.
 * Records whose cells are all empty are left out.
 * @param onRecord gets each record as it was read, so that not all are in memory. What it throws ends the reading
 * @throws UserError `bad-csv` if quotes are wrong, `bad-columns` if there are too many; both name the line
 */
export function readRecords(given: string, onRecord: (record: CsvRecord) => void): void {
  // csv-parse counts `\r\n` within quotes as two lines.
  const text = given.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
  const separator = separatorOf(text)
  refuseEndlessRows(text, separator)
  let lastLine = 0
  try {
    parse(text, {
      delimiter: separator,
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      on_record: (cells: string[], { lines }) => {
        onRecord({ line: lines - cells.join('').split('\n').length + 1, cells, separator })
        lastLine = lines
        return null
      },
    })
  } catch (error) {
    if (error instanceof CsvError) throw badCsv(error, lastLine)
    throw error
  }
}

const problems: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote',
  INVALID_OPENING_QUOTE: 'a quote follows other text',
}

function badCsv(error: CsvError, lastLine: number): UserError {
  // The parser notices an open quote only at the end of the file.
  const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED'
  const line = isOpen ? lastLine + 1 : Number(error['lines'])
  return new UserError(
    'bad-csv',
    `Line ${line} of the file is not valid CSV: ${problems[error.code] ?? error.message}.`,
    'Download the file again, and do not edit it.',
    { status: 400, cause: error },
  )
}
