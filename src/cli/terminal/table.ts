import { printableLine } from '../../text/printable.ts'
import { numberText, shownIds, timeText } from './formats.ts'
import type { Screen } from './screen.ts'
import { cutTo, displayWidth } from './text.ts'

/** A column of a table. */
export interface RowColumn<Row> {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** On a narrow terminal the column is cut down to this width. Without it the column is never cut. */
  readonly widthMin?: number
  readonly paint?: (text: string) => string
  /** Any text, which is shown as one printable line. A number is written with separators. Null is unknown. */
  readonly read: (row: Row) => string | number | null
  /** How the text is shown: a time as an age on a terminal; an id by its beginning there, if that is unique. */
  readonly as?: 'time' | 'id'
  /** Narrower terminals do not show the column. */
  readonly from?: number
  /** Without it for any row, the column is not shown. */
  readonly isNeededFor?: (row: Row) => boolean
}

const GAP = '  '

/**
 * The table of these rows. On a terminal: a head, if there are titles, and the columns that are needed and have room.
 * Elsewhere: no head, cells separated by tabs and never cut, for programs.
 */
export function renderRows<Row>(all: readonly RowColumn<Row>[], rows: readonly Row[], screen: Screen): string {
  const { width: room, colours } = screen
  const columns = all.filter(
    ({ from = 0, isNeededFor }) => (room ?? Infinity) >= from && (isNeededFor === undefined || rows.some(isNeededFor)),
  )
  const cells = columns.map((column) => cellsOf(column, rows, screen))
  const body = rows.map((_, row) => cells.map((column) => printableLine(column[row] ?? '')))
  if (room === null) return body.map((line) => `${line.join('\t')}\n`).join('')
  const natural = columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...body.map((line) => displayWidth(line[index] ?? ''))),
  )
  const least = columns.map(({ title, widthMin = Infinity }) => Math.max(widthMin, displayWidth(title)))
  const widths = fitWidths(natural, least, room)
  const head = columns.map(({ title }) => title && colours.dim(title))
  const painted = body.map((line) => line.map((cell, index) => cell && (columns[index]?.paint ?? String)(cell)))
  return [...(head.some((title) => title !== '') ? [head] : []), ...painted]
    .map((line) => widths.map((width, index) => aligned(line[index] ?? '', width, columns[index]?.align)))
    .map((line) => line.filter((cell) => cell !== '').join(GAP))
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function cellsOf<Row>({ read, as }: RowColumn<Row>, rows: readonly Row[], screen: Screen): string[] {
  const values = rows.map(read)
  const short = shownIds(as === 'id' ? values.filter((value) => typeof value === 'string') : [], screen)
  return values.map((value) => {
    if (value === null) return '-'
    if (typeof value === 'number') return numberText(value)
    return as === 'time' && value !== '' ? timeText(value, screen) : short(value)
  })
}

/** A printable line, which may have colours, with exactly this width. */
function aligned(line: string, width: number, align: 'left' | 'right' | undefined): string {
  const cut = cutTo(line, width)
  const space = ' '.repeat(width - displayWidth(cut))
  return align === 'right' ? space + cut : cut + space
}

/** Narrows the widest column that may be narrower, one step at a time, until a line fits. */
function fitWidths(natural: readonly number[], least: readonly number[], room: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - room
  for (; excess > 0; excess -= 1) {
    const widest = Math.max(...widths.filter((width, index) => width > (least[index] ?? 0)))
    const at = widths.findIndex((width, index) => width === widest && width > (least[index] ?? 0))
    if (at < 0) break
    widths[at] = widest - 1
  }
  return widths
}
