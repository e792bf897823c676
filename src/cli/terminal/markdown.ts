import { printable, printableLine } from '../../text/printable.ts'
import { cutTo, wrapLine } from './display-width.ts'
import type { Screen } from './screen.ts'

// A fence, a heading, a list item, a quotation: only what chats use much.
const fence = /^\s*(```+|~~~+)\s*(\S*)/
const heading = /^#{1,6}\s+(.*?)\s*#*$/
const item = /^(\s*)([-*+]|\d{1,4}[.)])\s+(.*)$/
const quotation = /^\s*>\s?(.*)$/
const inline = /(`+)(.+?)\1|\*\*(?=\S)(.+?)\*\*/g

const CODE_INDENT = 4
const NESTED_MAX = 12

type Paint = (text: string) => string

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
    if (opened !== null) {
      if (!mark?.startsWith(opened) || language !== '') return codeLine(line, width, colours.cyan)
      opened = null
      return []
    }
    if (mark !== undefined) {
      opened = mark
      return language === '' ? [] : codeLine(language, width, colours.dim)
    }
    const [, title] = heading.exec(line) ?? []
    if (title !== undefined) return wrapLine(title, width).map(colours.bold)
    const [, indent = '', bullet = '', words] = item.exec(line) ?? []
    if (words !== undefined) {
      const lead = `${indent.slice(0, NESTED_MAX)}${/\d/.test(bullet) ? bullet : '•'} `
      const below = wrapLine(painted(words), width - lead.length)
      return below.map((each, index) => (index === 0 ? lead : ' '.repeat(lead.length)) + each)
    }
    const [, quoted] = quotation.exec(line) ?? []
    if (quoted === undefined) return wrapLine(painted(line), width)
    return wrapLine(painted(quoted), width - 2).map((each) => `${colours.dim('│')} ${each}`)
  })
}

/** Lines of code: indented, in a colour, and never joined. */
export const renderCode = (text: string, width: number, { colours }: Screen): string[] =>
  lines(text).flatMap((line) => codeLine(line, width, colours.cyan))

const codeLine = (line: string, width: number, paint: Paint): string[] =>
  wrapLine(line, width - CODE_INDENT).map((each) => ' '.repeat(CODE_INDENT) + paint(each))

/** Printable lines. A tab is four columns. */
export const lines = (text: string): string[] =>
  printable(text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').trimEnd()).split('\n')

/** The first line of a text that is not blank, cut to the width. */
export const firstLine = (text: string, width: number): string =>
  cutTo(printableLine(text.trimStart().split('\n', 1)[0] ?? ''), width)
