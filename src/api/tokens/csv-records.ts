import { UserError } from '../../model/user-error.ts'

export interface CsvRecord {
  /** Number of its first line, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** The separator of the file's cells. */
  readonly separator: string
}

const SEPARATORS = [',', ';', '\t'] as const

/** The separator that occurs most often in the first line, outside quotes. */
function separatorOf(text: string): string {
  const [head = ''] = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text) ?? []
  const bare = head.replace(/"(?:[^"]|"")*"/g, '')
  const counts = SEPARATORS.map((separator) => bare.split(separator).length)
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ','
}

/**
 * The records of a CSV text. Quotes within quotes are doubled. Any line ends, an optional byte order mark, and commas,
 * semicolons or tabs as separators are accepted. Empty lines are skipped.
 * @throws UserError `bad-csv` if a quote is not closed, or text follows a closing quote
 */
export function* csvRecords(given: string): Generator<CsvRecord> {
  const text = given.replace(/^\ufeff/, '')
  const separator = separatorOf(text)
  let line = 1
  let at = 0
  while (at < text.length) {
    const cells: string[] = []
    const startLine = line
    for (;;) {
      const cell = text[at] === '"' ? quotedCell(text, at, line, separator) : plainCell(text, at, separator)
      cells.push(cell.text)
      at = cell.end
      line += cell.lines
      if (text[at] !== separator) break
      at += 1
    }
    if (cells.some((cell) => cell.trim() !== '')) yield { line: startLine, cells, separator }
    at += text.startsWith('\r\n', at) ? 2 : 1
    line += 1
  }
}

interface Cell {
  readonly text: string
  readonly end: number
  /** Line breaks within it. */
  readonly lines: number
}

function plainCell(text: string, at: number, separator: string): Cell {
  let end = at
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1
  return { text: text.slice(at, end), end, lines: 0 }
}

function quotedCell(text: string, at: number, line: number, separator: string): Cell {
  for (let from = at + 1; ;) {
    const close = text.indexOf('"', from)
    if (close < 0) throw badCsv(line, 'a quote is not closed')
    if (text[close + 1] === '"') {
      from = close + 2
      continue
    }
    const end = close + 1
    const isEnd = end >= text.length || [separator, '\n', '\r'].includes(text[end] ?? '')
    if (!isEnd) throw badCsv(line, 'text follows a closing quote')
    const inside = text.slice(at + 1, close)
    return { text: inside.replaceAll('""', '"'), end, lines: inside.split(/\r\n|\r|\n/).length - 1 }
  }
}

const badCsv = (line: number, what: string): UserError =>
  new UserError(
    'bad-csv',
    `Line ${line} of the file is not valid CSV: ${what}.`,
    'Download the file again, and do not edit it.',
  )
