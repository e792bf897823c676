import { cutTo, displayWidth } from './display-width.ts'
import { printableLine } from '../../text/printable.ts'
import type { Screen } from './screen.ts'

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

const GAP = '  '
const BAR_MIN = 4
const BAR_MAX = 40
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/**
 * On a terminal: labels, figures and bars in columns that fit its width. The greatest value has the longest bar.
 * Elsewhere: the same without bars, separated by tabs and never cut, for programs.
 */
export function renderBars(bars: readonly Bar[], screen: Screen): string {
  const rows = bars.map((bar) => ({ ...bar, label: printableLine(bar.label), note: printableLine(bar.note ?? '') }))
  if (screen.width === null) {
    return rows
      .map(({ label, figure, note }) => `${[label, figure, ...(note === '' ? [] : [note])].join('\t')}\n`)
      .join('')
  }
  const widths = fitWidths(rows, screen.width)
  const most = rows.reduce((max, { value }) => Math.max(max, value ?? 0), 0)
  return rows
    .map(({ label, value, figure, note }) => {
      const bar = value === null ? '' : barOf(value, most, widths.bar, screen.hasBlocks)
      const cells = [
        padEnd(cutTo(label, widths.label), widths.label),
        `${' '.repeat(Math.max(0, widths.figure - displayWidth(figure)))}${figure}`,
        `${bar === '' ? '' : screen.colours.cyan(bar)}${' '.repeat(Math.max(0, widths.bar - displayWidth(bar)))}`,
        note === '' ? '' : screen.colours.dim(cutTo(note, widths.note)),
      ]
      return cells
        .filter((_, column) => column < 2 || (column === 2 ? widths.bar > 0 : widths.note > 0))
        .join(GAP)
        .trimEnd()
    })
    .map((line) => `${line}\n`)
    .join('')
}

interface Widths {
  readonly label: number
  readonly figure: number
  readonly bar: number
  readonly note: number
}

/** Figures are never cut. If the line is too long, the note is cut first, then the bar, then the label. */
function fitWidths(rows: readonly (Bar & { readonly note: string })[], widthMax: number): Widths {
  const widest = (textOf: (row: Bar & { readonly note: string }) => string): number =>
    rows.reduce((max, row) => Math.max(max, displayWidth(textOf(row))), 0)
  const figure = widest((row) => row.figure)
  const label = Math.min(
    widest((row) => row.label),
    Math.max(8, widthMax - figure - BAR_MIN - 2 * GAP.length),
  )
  const left = widthMax - label - figure - 2 * GAP.length
  // If no row has a value, there are no bars.
  const barMin = rows.some(({ value }) => value !== null) ? BAR_MIN : 0
  const note = Math.min(
    widest((row) => row.note),
    Math.max(0, left - barMin - GAP.length),
  )
  const bar = barMin === 0 ? 0 : Math.min(BAR_MAX, left - (note > 0 ? note + GAP.length : 0))
  return { label, figure, bar: Math.max(0, bar), note }
}

/** A value above 0 has at least the shortest bar, because an empty one would mean 0. */
function barOf(value: number, most: number, width: number, hasBlocks: boolean): string {
  if (value <= 0 || most <= 0) return ''
  if (!hasBlocks) return '#'.repeat(Math.max(1, Math.round((value / most) * width)))
  const units = Math.max(1, Math.round((value / most) * width * 8))
  return '█'.repeat(Math.floor(units / 8)) + (eighths[units % 8] ?? '')
}

/**
 * One character for each value, with a height relative to the greatest. If there are more values than columns,
 * neighbours are added up. 0 is a dot, and an unknown value is a gap. Without a terminal the result is empty.
 */
export function sparkline(values: readonly BarValue[], widthMax: number, screen: Screen): string {
  if (screen.width === null || values.length === 0) return ''
  const each = Math.ceil(values.length / Math.max(1, widthMax))
  const heights = Array.from({ length: Math.ceil(values.length / each) }, (_, index) =>
    addUp(values.slice(index * each, (index + 1) * each)),
  )
  const most = heights.reduce<number>((max, height) => Math.max(max, height ?? 0), 0)
  const characters = screen.hasBlocks ? levels : ['.', ':', '-', '=', '+', '*', '%', '#']
  const zero = screen.hasBlocks ? '·' : '_'
  return heights
    .map((height) => {
      if (height === null) return ' '
      return height <= 0 || most <= 0 ? zero : (characters[Math.ceil((height / most) * characters.length) - 1] ?? zero)
    })
    .join('')
}

function addUp(values: readonly BarValue[]): BarValue {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}

const padEnd = (line: string, width: number): string => line + ' '.repeat(Math.max(0, width - displayWidth(line)))
