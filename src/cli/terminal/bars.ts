import { printableLine } from '../../text/printable.ts'
import { displayWidth } from './display-width.ts'
import type { Screen } from './screen.ts'
import { aligned, fitWidths, GAP } from './table.ts'

export interface Bar {
  /** Any text. `renderBars` makes it printable. */
  readonly label: string
  /** Null is unknown, which has no bar and is not 0. */
  readonly value: number | null
  /** Text before the bar, right-aligned. Usually the formatted value. */
  readonly figure: string
  /** Text after the bar. */
  readonly note?: string
}

const LABEL_MIN = 8
const BAR_MIN = 4
const BAR_MAX = 40
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

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
  const shown = lines.map((cells) => cells.filter((cell) => cell !== '').join(GAP))
  return shown.map((line) => `${line.trimEnd()}\n`).join('')
}

/** A value above 0 has at least the shortest bar, because an empty one would mean 0. */
function barOf(value: number, most: number, width: number): string {
  if (value <= 0) return ''
  const units = Math.max(1, Math.round((value / most) * width * 8))
  return '█'.repeat(Math.floor(units / 8)) + (EIGHTHS[units % 8] ?? '')
}
