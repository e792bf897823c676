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

/** The separator that is most frequent in the first line, outside of quotes. */
function separatorOf(text: string): string {
  const [head = ''] = /^(?:"(?:[^"]|"")*"|[^"\n])*/.exec(text) ?? []
  const bare = head.replace(/"(?:[^"]|"")*"/g, '')
  const counts = SEPARATORS.map((separator) => bare.split(separator).length)
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ','
}

/**
 * The records of a CSV text with any line ends, with or without a byte order mark, and separated by commas, semicolons or
 * tabs. Records whose cells are all empty are left out.
 * @throws UserError `bad-csv` if quotes are wrong; it names the line
 */
export function csvRecords(given: string): readonly CsvRecord[] {
  // csv-parse counts `\r\n` within quotes as two lines.
  const text = given.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n')
  const separator = separatorOf(text)
  const records: CsvRecord[] = []
  let lastLine = 0
  try {
    parse(text, {
      delimiter: separator,
      record_delimiter: '\n',
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      on_record: (cells: string[], { lines }) => {
        records.push({ line: lines - cells.join('').split('\n').length + 1, cells, separator })
        lastLine = lines
        return null
      },
    })
  } catch (error) {
    if (error instanceof CsvError) throw badCsv(error, lastLine)
    throw error
  }
  return records
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
    { cause: error },
  )
}
