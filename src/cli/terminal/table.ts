import { printableLine } from '../../text/printable.ts'
import { cutTo, displayWidth } from './display-width.ts'
import { numberText, shownIds, timeText } from './formats.ts'
import type { Screen } from './screen.ts'

/** A piece of a text, and whether it matches the search. It may contain control characters. */
export interface Span {
  readonly text: string
  readonly isHit: boolean
}

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** On a narrow terminal the column is cut down to this width. Without it the column is never cut. */
  readonly widthMin?: number
}

/** Any text. The table makes it printable. */
export type Cell = string | readonly Span[]

export const GAP = '  '

/** A column of a table whose rows are objects. */
export interface RowColumn<Row> extends Column {
  /** A number is written with separators. Null is unknown. */
  readonly read: (row: Row) => Cell | number | null
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
    const texts = values.filter((value) => typeof value === 'string')
    const short = as === 'id' ? shownIds(texts, screen) : (text: string) => text
    return values.map((value) => {
      if (value === null) return '-'
      if (typeof value === 'number') return numberText(value)
      if (typeof value !== 'string') return value
      return as === 'time' && value !== '' ? timeText(value, screen) : short(value)
    })
  })
  const lines = rows.map((_, row) => cells.map((column) => column[row] ?? ''))
  return renderTable(shown, lines, screen)
}

/**
 * On a terminal: a head and columns that fit its width. Elsewhere: no head, cells separated by tabs and never cut, for
 * programs. A cell is always one line.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], screen: Screen): string {
  const lines = rows.map((row) => row.map(spansOf))
  if (screen.width === null) return lines.map((line) => `${line.map(textOf).join('\t')}\n`).join('')
  const { bold, dim } = screen.colours
  const natural = columns.map(({ title }, index) =>
    Math.max(displayWidth(title), ...lines.map((line) => displayWidth(textOf(line[index] ?? [])))),
  )
  const least = columns.map(({ title, widthMin }) =>
    widthMin === undefined ? Infinity : Math.max(widthMin, displayWidth(title)),
  )
  const widths = fitWidths(natural, least, screen.width)
  const body = lines.map((line) =>
    widths.map((width, index) => {
      const spans = aroundHit(line[index] ?? [], width)
      return spans.map(({ text, isHit }) => (isHit ? bold(text) : text)).join('')
    }),
  )
  return [columns.map(({ title }) => title && dim(title)), ...body]
    .map((cells) => cells.map((cell, index) => aligned(cell, widths[index] ?? 0, columns[index]?.align)))
    .map((cells) => `${cells.join(GAP).trimEnd()}\n`)
    .join('')
}

/** A printable line, which may have colours, with exactly this width. */
export function aligned(line: string, width: number, align: Column['align']): string {
  const cut = cutTo(line, width)
  const space = ' '.repeat(width - displayWidth(cut))
  return align === 'right' ? space + cut : cut + space
}

/** Narrows the widest column that may be narrower, one step at a time, until a line fits. */
export function fitWidths(natural: readonly number[], least: readonly number[], room: number): number[] {
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

/** One printable line as spans. White space between two spans is preserved. */
export function spansOf(cell: Cell): Span[] {
  if (typeof cell === 'string') return [{ text: printableLine(cell), isHit: false }]
  return cell.map(({ text, isHit }, index) => {
    const before = index > 0 && /^\s/.test(text) ? ' ' : ''
    const after = index < cell.length - 1 && /\s$/.test(text) && text.trim() !== '' ? ' ' : ''
    return { text: `${before}${printableLine(text)}${after}`, isHit }
  })
}

const textOf = (spans: readonly Span[]): string => spans.map(({ text }) => text).join('')

/** Leaves out a part of the beginning, so that the first hit is within the width. */
function aroundHit(spans: readonly Span[], width: number): readonly Span[] {
  const hit = spans.findIndex(({ isHit }) => isHit)
  const before = textOf(spans.slice(0, Math.max(0, hit)))
  if (displayWidth(before + (spans[hit]?.text ?? '')) < width) return spans
  const lead = Array.from(before)
    .slice(-Math.floor(width / 4))
    .join('')
  return hit < 0 ? spans : [{ text: `…${lead}`, isHit: false }, ...spans.slice(hit)]
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Splits a snippet, which is escaped HTML with `<mark>` around the hits, into its pieces. */
export function snippetSpans(snippet: string): Span[] {
  // A `<mark>` in the text itself is escaped, so each tag found here is a real one.
  const pieces = snippet.split(/<(\/?)mark>/)
  return pieces.flatMap((piece, index) => {
    if (index % 2 === 1 || piece === '') return []
    const text = piece.replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => CHARACTERS[name] ?? entity)
    return [{ text, isHit: index > 0 && pieces[index - 1] === '' }]
  })
}
