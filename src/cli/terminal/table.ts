import { displayWidth, fitting, fittingEnd } from './display-width.ts'
import type { Span } from './highlight.ts'
import { printableLine } from '../../text/printable.ts'
import type { Screen } from './screen.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** On a narrow terminal the column is cut down to this width. Without it the column is never cut. */
  readonly widthMin?: number
}

/** Any text. The table makes it printable. */
export type Cell = string | readonly Span[]

const GAP = '  '

/**
 * On a terminal: a head and columns that fit its width. Elsewhere: no head, cells separated by tabs and never cut, for
 * programs. A cell is always one line.
 */
export function renderTable(columns: readonly Column[], rows: readonly (readonly Cell[])[], screen: Screen): string {
  if (screen.width === null) {
    return rows.map((row) => `${row.map((cell) => spansOf(cell).map(textOf).join('')).join('\t')}\n`).join('')
  }
  const lines = rows.map((row) => columns.map((_, index) => spansOf(row[index] ?? '')))
  const widths = fitWidths(columns, naturalWidths(columns, lines), screen.width)
  const head = columns.map((column, index) => screen.colours.dim(padded(column, column.title, widths[index] ?? 0)))
  const body = lines.map((line) =>
    line.map((spans, index) => renderCell(columns[index], spans, widths[index] ?? 0, screen)),
  )
  return [head, ...body].map((cells) => `${cells.join(GAP).trimEnd()}\n`).join('')
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

const textOf = (span: Span) => span.text

const widthOf = (spans: readonly Span[]) => spans.reduce((sum, span) => sum + displayWidth(span.text), 0)

function naturalWidths(columns: readonly Column[], lines: readonly (readonly Span[][])[]): number[] {
  return columns.map((column, index) =>
    lines.reduce((most, line) => Math.max(most, widthOf(line[index] ?? [])), displayWidth(column.title)),
  )
}

/** Narrows the widest column that may be cut, one character at a time, until the line fits. */
function fitWidths(columns: readonly Column[], natural: readonly number[], widthMax: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - widthMax
  while (excess > 0) {
    let widest = -1
    for (const [index, column] of columns.entries()) {
      const width = widths[index] ?? 0
      if (column.widthMin === undefined || width <= Math.max(column.widthMin, displayWidth(column.title))) continue
      if (widest < 0 || width > (widths[widest] ?? 0)) widest = index
    }
    if (widest < 0) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
    excess -= 1
  }
  return widths
}

function renderCell(column: Column | undefined, spans: readonly Span[], width: number, screen: Screen): string {
  const cut = cutSpans(spans, width)
  const text = cut.map((span) => (span.isHit ? screen.colours.bold(span.text) : span.text)).join('')
  const padding = ' '.repeat(Math.max(0, width - widthOf(cut)))
  return column?.align === 'right' ? padding + text : text + padding
}

function padded(column: Column, text: string, width: number): string {
  return column.align === 'right' ? text.padStart(width) : text.padEnd(width)
}

function cutSpans(spans: readonly Span[], width: number): readonly Span[] {
  if (widthOf(spans) <= width) return spans
  const result: Span[] = []
  let room = width - 1
  for (const span of aroundHit(spans, room)) {
    const text = fitting(span.text, room)
    result.push({ text, isHit: span.isHit })
    room -= displayWidth(text)
    if (text.length < span.text.length) return [...result, { text: '…', isHit: false }]
  }
  return result
}

/** Cuts the beginning so that the first hit is within the width. */
function aroundHit(spans: readonly Span[], width: number): readonly Span[] {
  const hit = spans.findIndex((span) => span.isHit)
  const before = spans.slice(0, hit)
  if (hit < 0 || widthOf(before) + widthOf(spans.slice(hit, hit + 1)) <= width) return spans
  const lead = fittingEnd(before.map(textOf).join(''), Math.floor(width / 4))
  return [{ text: `…${lead}`, isHit: false }, ...spans.slice(hit)]
}
