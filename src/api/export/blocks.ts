/** Consecutive lines with their line breaks. */
export interface Stretch {
  /** `code` includes its fence lines. */
  readonly kind: 'prose' | 'code'
  readonly text: string
}

export interface Blocks {
  /** Joined, they are exactly the text. */
  readonly stretches: readonly Stretch[]
  /** The line that closes the last block if the text leaves it open. Without it, the block would swallow what follows. Null if none is open. */
  readonly closing: string | null
}

/** Finds the fenced blocks of a Markdown text. A message that was interrupted leaves its last block open. */
export function readBlocks(text: string): Blocks {
  const stretches: { kind: Stretch['kind']; text: string }[] = []
  const reader = new BlockReader()
  for (const [line] of text.matchAll(/[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$/gu)) {
    const { kind, isNew } = reader.take(detabbed(line.replace(/[\r\n]+$/u, '')))
    const last = stretches.at(-1)
    if (last === undefined || last.kind !== kind || isNew) stretches.push({ kind, text: line })
    else last.text += line
  }
  return { stretches, closing: reader.closing }
}

/** Reads as much of CommonMark's block structure as is needed to know which lines are raw. */
class BlockReader {
  #open: readonly Container[] = []
  #raw: RawBlock | null = null
  #isInParagraph = false

  /** A block in a list or quote ends with its container, so it needs no closing line. */
  get closing(): string | null {
    return this.#open.length === 0 ? (this.#raw?.closing ?? null) : null
  }

  take(line: string): { readonly kind: Stretch['kind']; readonly isNew: boolean } {
    const { count, rest } = goOn(this.#open, line)
    const isWithin = count === this.#open.length
    const raw = this.#raw
    if (raw !== null && isWithin) {
      if (raw.isClosedBy(rest)) this.#raw = null
      return { kind: raw.kind, isNew: false }
    }
    const kind = this.#begin(rest, count)?.kind ?? 'prose'
    return { kind, isNew: kind === 'code' }
  }

  /** @param count number of open containers that the line continues */
  #begin(line: string, count: number): RawBlock | null {
    const isWithin = count === this.#open.length
    const goingOn = this.#open.slice(0, count)
    const open = isBlank(line) ? goingOn : goingOn.map(filled)
    let rest = line
    let isInParagraph = this.#isInParagraph
    for (;;) {
      if (isIndented(rest) || isBreak(rest)) break
      const begun = containerOf(rest, open.length, isInParagraph && isWithin)
      if (begun === null) break
      open.push(begun.container)
      rest = rest.slice(begun.taken)
      isInParagraph = false
    }
    // A paragraph continues over lines with less indent or fewer marks.
    if (isInParagraph && !isWithin && isPlain(rest, true)) return (this.#raw = null)
    this.#open = open
    this.#isInParagraph = isPlain(rest, isInParagraph) && !(isInParagraph ? isUnderline(rest) : isIndented(rest))
    const raw = isIndented(rest) ? null : rawBlockOf(rest, isInParagraph)
    // Code ends on a later line. HTML may end on the same line.
    this.#raw = raw?.kind === 'prose' && raw.isClosedBy(rest) ? null : raw
    return this.#raw
  }
}

/** Text, or what counts as text within a paragraph. */
function isPlain(line: string, isInParagraph: boolean): boolean {
  if (isBlank(line)) return false
  if (isIndented(line)) return true
  return !isBreak(line) && !/^ {0,3}#{1,6}(?: |$)/u.test(line) && rawBlockOf(line, isInParagraph) === null
}

const isIndented = (line: string): boolean => line.startsWith('    ')

/** A thematic break: three or more of the same sign. */
const isBreak = (line: string): boolean => /^ {0,3}(?:(?:- *){3,}|(?:_ *){3,}|(?:\* *){3,})$/u.test(line)

/** An underline, which makes the paragraph above a heading. */
const isUnderline = (line: string): boolean => /^ {0,3}(?:=+|-+) *$/u.test(line)

/** Replaces tabs with spaces, to the next multiple of four columns. */
function detabbed(line: string): string {
  if (!line.includes('\t')) return line
  let text = ''
  for (const sign of line) text += sign === '\t' ? ' '.repeat(4 - (text.length % 4)) : sign
  return text
}

/** A block whose lines are raw until it ends. */
export interface RawBlock {
  readonly kind: 'prose' | 'code'
  /** The line that ends it. Null if any blank line does. */
  readonly closing: string | null
  readonly isClosedBy: (line: string) => boolean
}

/** HTML blocks that continue over blank lines until their end, by CommonMark. */
const endless: readonly { readonly opens: RegExp; readonly closes: RegExp; readonly closing: string }[] = [
  { opens: /^ {0,3}<!--/u, closes: /-->/u, closing: '-->' },
  { opens: /^ {0,3}<\?/u, closes: /\?>/u, closing: '?>' },
  { opens: /^ {0,3}<!\[CDATA\[/u, closes: /\]\]>/u, closing: ']]>' },
  { opens: /^ {0,3}<![a-z]/iu, closes: />/u, closing: '>' },
]

/** Tags that start a block at the beginning of any line. */
const blockTag = new RegExp(
  `^ {0,3}</?(?:${[
    'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt',
    'fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu',
    'menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr',
    'track|ul',
  ].join('|')})(?:\\s|/?>|$)`,
  'iu',
)
const attribute = String.raw`\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>\x60]+|'[^']*'|"[^"]*"))?`
/** One complete tag and nothing else. It starts a block, except within a paragraph. */
const loneTag = new RegExp(String.raw`^ {0,3}<(?:[a-z][a-z\d-]*(?:${attribute})*\s*/?|/[a-z][a-z\d-]*\s*)>\s*$`, 'iu')

/** @param line without tabs, line end and the marks of its containers */
export function rawBlockOf(line: string, isInParagraph: boolean): RawBlock | null {
  const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line)?.[1]
  if (fence !== undefined) return fencedBlock(fence)
  const tag = /^ {0,3}<(script|pre|style|textarea)(?:[\s>]|$)/iu.exec(line)?.[1]
  if (tag !== undefined) {
    return htmlBlock(/<\/(?:script|pre|style|textarea)>/iu, `</${tag.toLowerCase()}>`)
  }
  const html = endless.find(({ opens }) => opens.test(line))
  if (html !== undefined) return htmlBlock(html.closes, html.closing)
  return blockTag.test(line) || (!isInParagraph && loneTag.test(line)) ? htmlBlock(/^ *$/u, null) : null
}

function fencedBlock(fence: string): RawBlock {
  const closes = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},} *$`, 'u')
  return { kind: 'code', closing: fence, isClosedBy: (line) => closes.test(line) }
}

function htmlBlock(closes: RegExp, closing: string | null): RawBlock {
  return { kind: 'prose', closing, isClosedBy: (line) => closes.test(line) }
}

/** A quote, or a list item with the indent of its lines in columns. */
export type Container = { readonly kind: 'quote' } | Item
interface Item {
  readonly kind: 'item'
  readonly width: number
  /** Its first line is empty, so a blank line ends it. */
  readonly isBare: boolean
}

/** Deeper marks count as text, so that reading time stays bounded. */
const DEPTH_MAX = 100

/** Whether a line is blank in Markdown: other white space is text. */
export const isBlank = (line: string): boolean => /^ *$/u.test(line)

/** The container after a line that is not blank. */
export const filled = (container: Container): Container =>
  container.kind === 'item' && container.isBare ? { ...container, isBare: false } : container

/** How many containers a line continues, and the line without their marks. */
export function goOn(open: readonly Container[], line: string): { readonly count: number; readonly rest: string } {
  let rest = line
  for (const [count, container] of open.entries()) {
    const taken = container.kind === 'quote' ? quoteMark(rest) : indentOf(container, rest)
    if (taken === null) return { count, rest }
    rest = rest.slice(taken)
  }
  return { count: open.length, rest }
}

function indentOf({ width, isBare }: Item, rest: string): number | null {
  if (isBlank(rest)) return isBare ? null : Math.min(width, rest.length)
  return rest.startsWith(' '.repeat(width)) ? width : null
}

function quoteMark(rest: string): number | null {
  return /^ {0,3}> ?/u.exec(rest)?.[0].length ?? null
}

/** The container that starts here, and the width of its mark in columns. */
export function containerOf(
  rest: string,
  depth: number,
  isInterrupting: boolean,
): { readonly container: Container; readonly taken: number } | null {
  if (depth >= DEPTH_MAX) return null
  const quote = quoteMark(rest)
  if (quote !== null) return { container: { kind: 'quote' }, taken: quote }
  const [mark, before = '', sign = ''] = /^( {0,3})([-+*]|\d{1,9}[.)])(?= |$)/u.exec(rest) ?? []
  if (mark === undefined) return null
  const tail = rest.slice(mark.length)
  const isBare = isBlank(tail)
  // A list item can interrupt a paragraph only if it is not empty and is the first of its list.
  if (isInterrupting && (isBare || (/^\d/u.test(sign) && Number.parseInt(sign, 10) !== 1))) return null
  const gap = /^ */u.exec(tail)?.[0].length ?? 0
  const padding = isBare || gap > 4 ? 1 : gap
  const width = before.length + sign.length + padding
  return { container: { kind: 'item', width, isBare }, taken: Math.min(width, rest.length) }
}
