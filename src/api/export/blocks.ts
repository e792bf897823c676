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

interface Block {
  readonly kind: Stretch['kind']
  readonly closing: string
  readonly isClosedBy: (line: string) => boolean
}

/** HTML that, by CommonMark, goes on over blank lines until its end is found. */
const htmlBlocks: readonly { readonly opens: RegExp; readonly closes: RegExp; readonly closing: string }[] = [
  { opens: /^ {0,3}<!--/u, closes: /-->/u, closing: '-->' },
  { opens: /^ {0,3}<\?/u, closes: /\?>/u, closing: '?>' },
  { opens: /^ {0,3}<!\[CDATA\[/u, closes: /\]\]>/u, closing: ']]>' },
  { opens: /^ {0,3}<![a-z]/iu, closes: />/u, closing: '>' },
]

/** Finds the fenced blocks of a Markdown text. A message cut off while it was written leaves its last one open. */
export function readBlocks(text: string): Blocks {
  const stretches: { kind: Stretch['kind']; text: string }[] = []
  let open: Block | null = null
  const add = (kind: Stretch['kind'], line: string, isNew: boolean): void => {
    const last = stretches.at(-1)
    if (last === undefined || last.kind !== kind || isNew) stretches.push({ kind, text: line })
    else last.text += line
  }
  for (const [line] of text.matchAll(/[^\n]*\n|[^\n]+$/gu)) {
    if (open !== null) {
      add(open.kind, line, false)
      if (open.isClosedBy(line)) open = null
      continue
    }
    open = openedBy(line)
    add(open?.kind ?? 'prose', line, open?.kind === 'code')
    // Code ends on a later line; HTML may end where it began.
    if (open?.kind === 'prose' && open.isClosedBy(line)) open = null
  }
  return { stretches, closing: open?.closing ?? null }
}

function openedBy(line: string): Block | null {
  const fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/u.exec(line)?.[1]
  if (fence !== undefined) return fencedBlock(fence)
  const tag = /^ {0,3}<(script|pre|style|textarea)(?:[\s>]|$)/iu.exec(line)?.[1]
  if (tag !== undefined) {
    return htmlBlock(/<\/(?:script|pre|style|textarea)>/iu, `</${tag.toLowerCase()}>`)
  }
  const html = htmlBlocks.find(({ opens }) => opens.test(line))
  return html === undefined ? null : htmlBlock(html.closes, html.closing)
}

function fencedBlock(fence: string): Block {
  const closes = new RegExp(`^ {0,3}${fence.charAt(0)}{${fence.length},}\\s*$`, 'u')
  return { kind: 'code', closing: fence, isClosedBy: (line) => closes.test(line) }
}

function htmlBlock(closes: RegExp, closing: string): Block {
  return { kind: 'prose', closing, isClosedBy: (line) => closes.test(line) }
}
