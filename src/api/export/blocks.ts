import { rawBlockOf, type RawBlock } from './block-starts.ts'
import { containerOf, filled, goOn, isBlank, type Container } from './containers.ts'

/** A run of lines, with the line breaks between and after them. */
export interface Stretch {
  /** `code` has its fence lines with it. */
  readonly kind: 'prose' | 'code'
  readonly text: string
}

export interface Blocks {
  /** Together the whole text, to the letter. */
  readonly stretches: readonly Stretch[]
  /** The line that ends what the text leaves open, and what would swallow all that follows it; null where nothing is. */
  readonly closing: string | null
}

/** Finds the fenced blocks of a Markdown text. A message cut off while it was written leaves its last one open. */
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

/** The blocks of CommonMark, as far as it takes to know of each line whether it stands in one that is taken raw. */
class BlockReader {
  #open: readonly Container[] = []
  #raw: RawBlock | null = null
  #isInParagraph = false

  /** What stands in a list or a quote ends with it, before whatever follows at the margin. */
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

  /** @param count of the open containers that the line goes on with */
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
    // A paragraph goes on over lines that are indented less, or stand behind fewer marks.
    if (isInParagraph && !isWithin && isPlain(rest, true)) return (this.#raw = null)
    this.#open = open
    this.#isInParagraph = isPlain(rest, isInParagraph) && !(isInParagraph ? isUnderline(rest) : isIndented(rest))
    const raw = isIndented(rest) ? null : rawBlockOf(rest, isInParagraph)
    // Code ends on a later line; HTML may end where it began.
    this.#raw = raw?.kind === 'prose' && raw.isClosedBy(rest) ? null : raw
    return this.#raw
  }
}

/** Words, or what a paragraph takes for words. */
function isPlain(line: string, isInParagraph: boolean): boolean {
  if (isBlank(line)) return false
  if (isIndented(line)) return true
  return !isBreak(line) && !/^ {0,3}#{1,6}(?: |$)/u.test(line) && rawBlockOf(line, isInParagraph) === null
}

const isIndented = (line: string): boolean => line.startsWith('    ')

/** Three signs and more that part what is above from what is below. */
const isBreak = (line: string): boolean => /^ {0,3}(?:(?:- *){3,}|(?:_ *){3,}|(?:\* *){3,})$/u.test(line)

/** What makes a heading of the paragraph above. */
const isUnderline = (line: string): boolean => /^ {0,3}(?:=+|-+) *$/u.test(line)

/** Tabs as the columns that they stand for. */
function detabbed(line: string): string {
  if (!line.includes('\t')) return line
  let text = ''
  for (const sign of line) text += sign === '\t' ? ' '.repeat(4 - (text.length % 4)) : sign
  return text
}
