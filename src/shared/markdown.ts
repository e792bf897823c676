/** Consecutive lines with their line breaks. `code` includes its fence lines. */
export interface Stretch {
  readonly kind: 'prose' | 'code'
  readonly text: string
}

export interface Blocks {
  /** Joined, they are exactly the text. */
  readonly stretches: readonly Stretch[]
  /** The line that closes the last block if the text leaves it open. Without it, the block would swallow what follows. Null if none is open. */
  readonly closing: string | null
}

/** A list item or a quote. It ends at the first line that does not continue it, and the block in it ends with it. */
interface Container {
  readonly continues: (line: string) => boolean
}

/**
 * Finds the fenced blocks of a Markdown text. A message that was interrupted leaves its last block open. It knows the
 * outermost container of a block, and no HTML.
 */
export function readBlocks(text: string): Blocks {
  const stretches: { kind: Stretch['kind']; text: string }[] = []
  let container = null as Container | null
  let fence: string | null = null
  for (const [whole] of text.matchAll(/[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$/gu)) {
    const line = whole.replace(/[\r\n]+$/u, '').replaceAll('\t', '    ')
    if (container !== null && !container.continues(line)) {
      container = null
      fence = null
    }
    const isWithin = fence !== null
    let isNew = false
    if (fence === null) {
      container ??= containerOf(line)
      fence = fenceOf(container === null ? line : line.replace(MARKS, ''))
      isNew = fence !== null
    } else if (closes(fence, container === null ? line : line.replace(/^[ >]*/u, ''))) fence = null
    const kind = isWithin || isNew ? 'code' : 'prose'
    const last = stretches.at(-1)
    if (last === undefined || last.kind !== kind || isNew) stretches.push({ kind, text: whole })
    else last.text += whole
  }
  return { stretches, closing: container === null ? fence : null }
}

/** The marks of quotes and list items at the beginning of a line. */
const MARKS = /^(?: *(?:>|(?:[-+*]|\d{1,9}[.)])(?= )))* */u
/** A thematic break: three or more of the same sign. */
const BREAK = /^ {0,3}(?:(?:- *){3,}|(?:_ *){3,}|(?:\* *){3,})$/u

function containerOf(line: string): Container | null {
  if (BREAK.test(line)) return null
  if (/^ {0,3}>/u.test(line)) return { continues: (next) => /^ {0,3}>/u.test(next) }
  const mark = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?=[^ ])| |$)/u.exec(line)?.[0]
  if (mark === undefined) return null
  const indent = ' '.repeat(mark.trimEnd().length + Math.max(1, mark.length - mark.trimEnd().length))
  return { continues: (next) => next.startsWith(indent) || /^ *$/u.test(next) }
}

const fenceOf = (line: string): string | null => /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line)?.[1] ?? null

function closes(fence: string, line: string): boolean {
  const [, signs = ''] = /^ {0,3}(`+|~+) *$/u.exec(line) ?? []
  return signs.startsWith(fence)
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
