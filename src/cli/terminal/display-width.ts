import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import type { Screen } from './screen.ts'

/** How many columns of a terminal a printable line takes. Colours take none. */
export const displayWidth = (line: string): number => stringWidth(line)

/** Measuring a long line takes time, which a pipe does not need. */
const isWithin = (line: string, width: number): boolean => width === Infinity || displayWidth(line) <= width

/** Breaks a printable line, which may have colours. Its indent is kept, and what follows is indented alike. */
export function wrapLine(line: string, width: number): string[] {
  if (isWithin(line, width)) return [line.trimEnd()]
  const text = line.trimStart()
  const indent = ' '.repeat(text === '' ? 0 : Math.min(line.length - text.length, Math.floor(width / 2)))
  return wrapAnsi(text, width - indent.length, { hard: true })
    .split('\n')
    .map((each) => indent + each)
}

/**
 * Breaks a text between words at the width of the terminal. Without a terminal it stays one line.
 * @param indent columns before each line
 */
export function wrap(text: string, indent: number, { width }: Screen): string {
  return width === null ? text : wrapLine(text, width - indent).join(`\n${' '.repeat(indent)}`)
}

/** No letter has more characters for each of its columns. */
const LETTER_MAX = 16

/** The beginning of a printable line, which may have colours, with a sign where it was cut. */
export function cutTo(line: string, width: number): string {
  if (isWithin(line, width)) return line
  if (width < 2) return '…'.repeat(Math.max(0, width))
  const start = line.slice(0, (width + 8) * LETTER_MAX)
  const [fitting = ''] = wrapAnsi(start, width - 1, { hard: true, wordWrap: false, trim: false }).split('\n')
  return `${displayWidth(fitting) < width ? fitting : ''}…`
}
