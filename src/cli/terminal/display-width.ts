import type { Screen } from './screen.ts'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

// East Asian Width "W" and "F", in the blocks that contain letters (Unicode standard annex 11).
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u
const emoji = /^\p{Emoji_Presentation}|\ufe0f/u
const zeroWidth = /^[\p{Mark}\p{Default_Ignorable_Code_Point}]+$/u

const plain = /^[\x20-\x7e]*$/

function graphemeWidth(grapheme: string): number {
  if (plain.test(grapheme)) return 1
  if (zeroWidth.test(grapheme)) return 0
  return wide.test(grapheme) || emoji.test(grapheme) ? 2 : 1
}

/** How many columns of a terminal a printable line takes. */
export function displayWidth(line: string): number {
  if (plain.test(line)) return line.length
  let width = 0
  for (const { segment } of graphemes.segment(line)) width += graphemeWidth(segment)
  return width
}

/** The beginning of a printable line that fits into `widthMax` columns, without cutting a letter in half. */
export function fitting(line: string, widthMax: number): string {
  if (plain.test(line)) return line.slice(0, Math.max(0, widthMax))
  let width = 0
  for (const { segment, index } of graphemes.segment(line)) {
    width += graphemeWidth(segment)
    if (width > widthMax) return line.slice(0, index)
  }
  return line
}

/** The end of a printable line that fits into `widthMax` columns. */
export function fittingEnd(line: string, widthMax: number): string {
  let width = displayWidth(line)
  for (const { segment, index } of graphemes.segment(line)) {
    if (width <= widthMax) return line.slice(index)
    width -= graphemeWidth(segment)
  }
  return ''
}

/**
 * Breaks a text between words at the width of the terminal. Without a terminal it stays one line.
 * @param indent columns before each line
 */
export function wrap(text: string, indent: number, { width }: Screen): string {
  if (width === null) return text
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line === '' || displayWidth(longer) <= width - indent) line = longer
    else {
      lines.push(line)
      line = word
    }
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`)
}
