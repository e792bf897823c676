import { printable, printableLine } from '../../text/printable.ts'
import { cutTo, wrapPieces, type Piece } from './display-width.ts'
import type { Screen } from './screen.ts'

// A fence, a heading, a list item, a quotation, a rule: only what chats use much.
const fence = /^\s*(```+|~~~+)\s*(\S*)/
const heading = /^#{1,6}\s+(.*?)\s*#*$/
const item = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/
const quotation = /^\s*>\s?(.*)$/
const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/
const inline = /(`+)(.+?)\1|\*\*(?=\S)(.+?)\*\*/g

const CODE_INDENT = 4
const NESTED_MAX = 12
const RULE_WIDTH = 40

/**
 * Markdown as lines of a terminal. Line breaks of the text are kept, because people and agents use them as layout.
 * @param width columns
 */
export function renderMarkdown(text: string, width: number, screen: Screen): string[] {
  const { colours, hasBlocks } = screen
  let opened: string | null = null
  return lines(text).flatMap((line) => {
    const [, mark, language] = fence.exec(line) ?? []
    if (opened !== null) {
      if (mark === undefined || !mark.startsWith(opened) || language !== '') return codeLine(line, width, screen)
      opened = null
      return []
    }
    if (mark !== undefined) {
      opened = mark
      return language === ''
        ? []
        : [colours.dim(`${' '.repeat(CODE_INDENT)}${cutTo(language ?? '', width - CODE_INDENT)}`)]
    }
    const [, title] = heading.exec(line) ?? []
    if (title !== undefined) return wrapPieces([{ text: title, paint: colours.bold }], width)
    if (rule.test(line)) return [colours.dim((hasBlocks ? '─' : '-').repeat(Math.min(width, RULE_WIDTH)))]
    const [, indent = '', bullet = '', words] = item.exec(line) ?? []
    if (words !== undefined) {
      const sign = /\d/.test(bullet) || !hasBlocks ? bullet : '•'
      return hanging(`${' '.repeat(Math.min(indent.length, NESTED_MAX))}${sign} `, words, width, screen)
    }
    const [, quoted] = quotation.exec(line) ?? []
    if (quoted === undefined) return wrapPieces(inlinePieces(line, screen), width)
    const bar = hasBlocks ? '│ ' : '> '
    return wrapPieces(inlinePieces(quoted, screen), width - bar.length).map((each) => colours.dim(bar) + each)
  })
}

/** Lines of code: indented, in a colour, and never joined. */
export const renderCode = (text: string, width: number, screen: Screen): string[] =>
  lines(text).flatMap((line) => codeLine(line, width, screen))

const codeLine = (line: string, width: number, { colours }: Screen): string[] =>
  wrapPieces([{ text: line, paint: colours.cyan }], width - CODE_INDENT).map((each) => ' '.repeat(CODE_INDENT) + each)

/** Printable lines. A tab is four columns. */
export const lines = (text: string): string[] =>
  printable(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').trimEnd()).split('\n')

function hanging(lead: string, words: string, width: number, screen: Screen): string[] {
  return wrapPieces(inlinePieces(words, screen), width - lead.length).map(
    (line, index) => (index === 0 ? lead : ' '.repeat(lead.length)) + line,
  )
}

/** Without colours the marks stay, because they say what is code. */
function inlinePieces(line: string, { colours }: Screen): Piece[] {
  if (!colours.isColorSupported) return [{ text: line }]
  const pieces: Piece[] = []
  let end = 0
  for (const match of line.matchAll(inline)) {
    const [whole, , code, strong] = match
    pieces.push({ text: line.slice(end, match.index) })
    pieces.push(code === undefined ? { text: strong ?? '', paint: colours.bold } : { text: code, paint: colours.cyan })
    end = match.index + whole.length
  }
  return [...pieces, { text: line.slice(end) }]
}

/** The first line of a text that is not blank, cut to the width. */
export const firstLine = (text: string, width: number): string =>
  cutTo(printableLine(text.trimStart().split('\n', 1)[0] ?? ''), width)
