import { stretchesOf } from '../text/passages/stretches.ts'

/**
 * The line that closes the last fenced block of a Markdown text if the text leaves it open, as an interrupted message does. Without
 * it, the block would swallow what follows. Null if none is open, or if it is indented: such a block ends with the list item that it is in.
 */
export function closingOf(text: string): string | null {
  const last = stretchesOf(text)?.at(-1)
  if (last === undefined || !last.isCode) return null
  const block = text.slice(last.start)
  const [, fence] = /^(`{3,}|~{3,})/u.exec(block) ?? []
  if (fence === undefined) return null
  const [first = '', ...rest] = block.trimEnd().split('\n')
  const isOneLine = fence.startsWith('`') && first.slice(fence.length).includes('`')
  const end = rest.at(-1)?.trim() ?? ''
  return isOneLine || (end.startsWith(fence) && /^(`+|~+)$/u.test(end)) ? null : fence
}

/** A code block whose fence is longer than any within. @param info text after the opening fence */
export function fenced(text: string, info = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  const end = text === '' || text.endsWith('\n') ? '' : '\n'
  return `${fence}${info.replace(/[^\w+#.-]/gu, '')}\n${text}${end}${fence}\n`
}

/** Code within a line. */
export function codeSpan(text: string): string {
  const line = oneLine(text)
  const ticks = '`'.repeat(longestRun(line) + 1)
  const pad = line === '' || /^`|`$/u.test(line) ? ' ' : ''
  return `${ticks}${pad}${line}${pad}${ticks}`
}

/** Text within a line, with the signs of Markdown and HTML escaped. */
export const plain = (text: string): string => oneLine(text).replace(/[\\`*_[\]<>&#|~]/gu, String.raw`\$&`)

/** Every line as a quote. */
export function quoted(text: string): string {
  const lines = text.trimEnd().split(/\r\n?|\n/u)
  return lines.map((line) => (line === '' ? '>\n' : `> ${line}\n`)).join('')
}

const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()

function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/gu)) longest = Math.max(longest, run.length)
  return longest
}
