import { printableLine } from '../../text/printable.ts'
import { numberText, shownIds, timeText } from './formats.ts'
import type { Screen } from './screen.ts'
import { cutTo, displayWidth } from './text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** On a narrow terminal the column is cut down to this width. Without it the column is never cut. */
  readonly widthMin?: number
  readonly paint?: (text: string) => string
}

/** A column of a table whose rows are objects. */
export interface RowColumn<Row> extends Column {
  /** A number is written with separators. Null is unknown. */
  readonly read: (row: Row) => string | number | null
  /** How the text is shown: a time as an age on a terminal; an id by its beginning there, if that is unique. */
  readonly as?: 'time' | 'id'
  /** Narrower terminals do not show the column. */
  readonly from?: number
  /** Without it for any row, the column is not shown. */
  readonly isNeededFor?: (row: Row) => boolean
}

/** The table of these rows, with the columns that are needed and have room. */
export function renderRows<Row>(columns: readonly RowColumn<Row>[], rows: readonly Row[], screen: Screen): string {
  const room = screen.width ?? Infinity
  const shown = columns.filter(
    ({ from = 0, isNeededFor }) => room >= from && (isNeededFor === undefined || rows.some(isNeededFor)),
  )
  const cells = shown.map(({ read, as }) => {
    const values = rows.map(read)
    const short = shownIds(as === 'id' ? values.filter((value) => typeof value === 'string') : [], screen)
    return values.map((value) => {
      if (value === null) return '-'
      if (typeof value === 'number') return numberText(value)
      return as === 'time' && value !== '' ? timeText(value, screen) : short(value)
    })
  })
  const lines = rows.map((_, row) => cells.map((column) => column[row] ?? ''))
  return renderTable(shown, lines, screen)
}

const GAP = '  '

/**
 * On a terminal: a head, if there are titles, and columns that fit its width. Elsewhere: no head, cells separated by tabs
 * and never cut, for programs. A cell may be any text, and is shown as one printable line.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[], screen: Screen): string {
  const body = rows.map((cells) => cells.map(printableLine))
  if (screen.width === null) return body.map((cells) => `${cells.join('\t')}\n`).join('')
  const natural = columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...body.map((cells) => displayWidth(cells[index] ?? ''))),
  )
  const least = columns.map(({ title, widthMin = Infinity }) => Math.max(widthMin, displayWidth(title)))
  const widths = fitWidths(natural, least, screen.width)
  const head = columns.map(({ title }) => title && screen.colours.dim(title))
  const paintOf = (index: number) => columns[index]?.paint ?? String
  const painted = body.map((cells) => cells.map((cell, index) => cell && paintOf(index)(cell)))
  return [...(head.some((title) => title !== '') ? [head] : []), ...painted]
    .map((cells) => widths.map((width, index) => aligned(cells[index] ?? '', width, columns[index]?.align)))
    .map(
      (cells) =>
        `${cells
          .filter((cell) => cell !== '')
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join('')
}

/** A printable line, which may have colours, with exactly this width. */
function aligned(line: string, width: number, align: Column['align']): string {
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
