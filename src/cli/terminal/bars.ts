import { printableLine } from '../../text/printable.ts'
import { displayWidth } from './display-width.ts'
import type { Screen } from './screen.ts'
import { aligned, fitWidths, GAP } from './table.ts'

/** Null means unknown, which has no bar and is not 0. */
export type BarValue = number | null

export interface Bar {
  /** Any text. `renderBars` makes it printable. */
  readonly label: string
  readonly value: BarValue
  /** Text before the bar, right-aligned. Usually the formatted value. */
  readonly figure: string
  /** Text after the bar. */
  readonly note?: string
}

const LABEL_MIN = 8
const BAR_MIN = 4
const BAR_MAX = 40
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/**
 * On a terminal: labels, figures and bars in columns that fit its width. The greatest value has the longest bar.
 * Elsewhere: the same without bars, separated by tabs and never cut, for programs.
 */
export function renderBars(bars: readonly Bar[], { width, colours }: Screen): string {
  const texts = bars.map(({ label, figure, note = '' }) => [printableLine(label), figure, '', printableLine(note)])
  if (width === null) {
    const filled = texts.map((cells) => cells.filter((text, index) => index < 2 || text !== ''))
    return filled.map((cells) => `${cells.join('\t')}\n`).join('')
  }
  const natural = [0, 1, 2, 3].map((index) => Math.max(0, ...texts.map((cells) => displayWidth(cells[index] ?? ''))))
  // The bar gets what the texts leave. If no value is known, there are no bars.
  const left = natural.reduce((sum, each) => sum - each - GAP.length, width + GAP.length)
  if (bars.some(({ value }) => value !== null)) natural[2] = Math.max(BAR_MIN, Math.min(BAR_MAX, left))
  const widths = fitWidths(natural, [LABEL_MIN, Infinity, BAR_MIN, 0], width)
  const most = Math.max(0, ...bars.map(({ value }) => value ?? 0))
  const lines = texts.map(([label = '', figure = '', , note = ''], index) => {
    const bar = barOf(bars[index]?.value ?? 0, most, widths[2] ?? 0)
    const cells = [label, figure, bar && colours.cyan(bar), note && colours.dim(note)]
    return cells.map((cell, column) => aligned(cell, widths[column] ?? 0, column === 1 ? 'right' : 'left'))
  })
  return lines
    .map(
      (cells) =>
        `${cells
          .filter((cell) => cell !== '')
          .join(GAP)
          .trimEnd()}\n`,
    )
    .join('')
}

/** A value above 0 has at least the shortest bar, because an empty one would mean 0. */
function barOf(value: number, most: number, width: number): string {
  if (value <= 0) return ''
  const units = Math.max(1, Math.round((value / most) * width * 8))
  return '█'.repeat(Math.floor(units / 8)) + (EIGHTHS[units % 8] ?? '')
}

/**
 * One character for each value, with a height relative to the greatest. If there are more values than columns,
 * neighbours are added up. 0 is a dot, and an unknown value is a gap. Without a terminal the result is empty.
 */
export function sparkline(values: readonly BarValue[], widthMax: number, { width }: Screen): string {
  if (width === null || values.length === 0) return ''
  const each = Math.ceil(values.length / Math.max(1, widthMax))
  const heights = Array.from({ length: Math.ceil(values.length / each) }, (_, index) => {
    const known = values.slice(index * each, (index + 1) * each).filter((value) => value !== null)
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  })
  const most = Math.max(0, ...heights.map((height) => height ?? 0))
  const level = (height: number) =>
    height <= 0 ? '·' : (LEVELS[Math.ceil((height / most) * LEVELS.length) - 1] ?? '·')
  return heights.map((height) => (height === null ? ' ' : level(height))).join('')
}
