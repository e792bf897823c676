import { printableLine } from '../../text/printable.ts'
import { cutTo, displayWidth } from './display-width.ts'
import type { Span } from './highlight.ts'
import type { Screen } from './screen.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** On a narrow terminal the column is cut down to this width. Without it the column is never cut. */
  readonly widthMin?: number
}

/** Any text. The table makes it printable. */
export type Cell = string | readonly Span[]

export const GAP = '  '

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
