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

/** A part of a printable line, and how it is painted. */
export interface Piece {
  readonly text: string
  readonly paint?: ((text: string) => string) | undefined
}

interface Letter extends Piece {
  readonly width: number
}

/**
 * Breaks a printable line into painted lines of at most `width` columns: at spaces, between wide characters, and within
 * a word that is too long. Spaces at a break are left out, and those at the beginning are kept.
 */
export function wrapPieces(pieces: readonly Piece[], width: number): string[] {
  const lines: string[] = []
  let line: Letter[] = []
  let taken = 0
  let breakAt = 0
  for (const letter of pieces.flatMap(lettersOf)) {
    if (letter.text === ' ') {
      if (line.length === 0 && lines.length > 0) continue
      line.push(letter)
      taken += 1
      breakAt = line.length
      continue
    }
    if (letter.width === 2) breakAt = line.length
    if (line.length > 0 && taken + letter.width > width) {
      const end = breakAt > 0 ? breakAt : line.length
      lines.push(painted(line.slice(0, end)))
      line = line.slice(end)
      taken = line.reduce((sum, each) => sum + each.width, 0)
      breakAt = 0
    }
    line.push(letter)
    taken += letter.width
    if (letter.width === 2) breakAt = line.length
  }
  return [...lines, painted(line)]
}

function lettersOf({ text, paint }: Piece): Letter[] {
  if (plain.test(text)) return text.split('').map((letter) => ({ text: letter, paint, width: 1 }))
  return Array.from(graphemes.segment(text), ({ segment }) => ({ text: segment, paint, width: graphemeWidth(segment) }))
}

/** Neighbours with the same paint are painted at once. */
function painted(line: readonly Letter[]): string {
  const end = line.findLastIndex(({ text }) => text !== ' ') + 1
  let out = ''
  for (let from = 0; from < end;) {
    const { paint } = line[from] ?? {}
    let to = from
    while (to < end && line[to]?.paint === paint) to += 1
    const text = line
      .slice(from, to)
      .map((letter) => letter.text)
      .join('')
    out += paint === undefined ? text : paint(text)
    from = to
  }
  return out
}

/**
 * Breaks a text between words at the width of the terminal. Without a terminal it stays one line.
 * @param indent columns before each line
 */
export function wrap(text: string, indent: number, { width }: Screen): string {
  return width === null ? text : wrapPieces([{ text }], width - indent).join(`\n${' '.repeat(indent)}`)
}

/** The beginning of a printable line, with a sign where it was cut. */
export function cutTo(line: string, width: number): string {
  return displayWidth(line) <= width ? line : width < 1 ? '' : `${fitting(line, width - 1)}…`
}
