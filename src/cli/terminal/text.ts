import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { printable, printableLine } from '../../text/printable.ts'
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
  const broken = wrapAnsi(text, width - indent.length, { hard: true })
  return broken.split('\n').map((each) => indent + each)
}

/**
 * Breaks a text between words at the width of the terminal. Without a terminal it stays one line.
 * @param indent columns before each line
 */
export const wrap = (text: string, indent: number, { width }: Screen): string =>
  width === null ? text : wrapLine(text, width - indent).join(`\n${' '.repeat(indent)}`)

/** The beginning of a printable line, which may have colours, with a sign where it was cut. */
export function cutTo(line: string, width: number): string {
  if (isWithin(line, width)) return line
  if (width < 2) return '…'.repeat(Math.max(0, width))
  // No letter has more than 16 characters for each of its columns.
  const start = line.slice(0, (width + 8) * 16)
  const [fitting = ''] = wrapAnsi(start, width - 1, { hard: true, wordWrap: false, trim: false }).split('\n')
  return `${displayWidth(fitting) < width ? fitting : ''}…`
}

/** Printable lines. A tab is four columns. */
export const lines = (text: string): string[] =>
  printable(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').trimEnd()).split('\n')

/** Sentences as a list. */
export const renderBullets = (sentences: readonly string[], screen: Screen): string =>
  sentences.map((text) => `- ${wrap(printableLine(text), 2, screen)}\n`).join('')

/** What needs attention, if anything does. */
export const renderAttention = (sentences: readonly string[], screen: Screen): string =>
  sentences.length === 0 ? '' : `${screen.colours.bold('Needs attention')}\n${renderBullets(sentences, screen)}`

// A fence, a heading, a list item, code and bold words: only what chats use much.
const fence = /^\s*(```+|~~~+)\s*(\S*)/
const heading = /^#{1,6}\s+(.*?)\s*#*$/
const item = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/
const inline = /(`+)(.+?)\1|\*\*(?=\S)(.+?)\*\*/g

const CODE_INDENT = 4
const NESTED_MAX = 12

/**
 * Markdown as lines of a terminal. Line breaks of the text are kept, because people and agents use them as layout.
 * @param width columns
 */
export function renderMarkdown(text: string, width: number, { colours }: Screen): string[] {
  let opened: string | null = null
  // Without colours the marks stay, because they say what is code.
  const painted = (line: string): string =>
    colours.isColorSupported
      ? line.replaceAll(inline, (_, __, code?: string, strong = '') =>
          code ? colours.cyan(code) : colours.bold(strong),
        )
      : line
  return lines(text).flatMap((line) => {
    const [, mark, language = ''] = fence.exec(line) ?? []
    if (mark !== undefined && (opened === null || (mark.startsWith(opened) && language === ''))) {
      opened = opened === null ? mark : null
      return language === '' ? [] : codeLine(language, width, colours.dim)
    }
    if (opened !== null) return codeLine(line, width, colours.cyan)
    const [, title] = heading.exec(line) ?? []
    if (title !== undefined) return wrapLine(title, width).map(colours.bold)
    const [, indent = '', bullet = '', words] = item.exec(line) ?? []
    if (words === undefined) return wrapLine(painted(line), width)
    const lead = `${indent.slice(0, NESTED_MAX)}${/\d/.test(bullet) ? bullet : '•'} `
    const below = wrapLine(painted(words), width - lead.length)
    return below.map((each, index) => (index === 0 ? lead : ' '.repeat(lead.length)) + each)
  })
}

/** Lines of code: indented, in a colour, and never joined. */
export const renderCode = (text: string, width: number, { colours }: Screen): string[] =>
  lines(text).flatMap((line) => codeLine(line, width, colours.cyan))

const codeLine = (line: string, width: number, paint: (text: string) => string): string[] =>
  wrapLine(line, width - CODE_INDENT).map((each) => ' '.repeat(CODE_INDENT) + paint(each))
