/** A block that takes lines as they are until it ends. */
export interface RawBlock {
  readonly kind: 'prose' | 'code'
  /** The line that ends it; null where any blank line does. */
  readonly closing: string | null
  readonly isClosedBy: (line: string) => boolean
}

/** HTML that, by CommonMark, goes on over blank lines until its end is found. */
const endless: readonly { readonly opens: RegExp; readonly closes: RegExp; readonly closing: string }[] = [
  { opens: /^ {0,3}<!--/u, closes: /-->/u, closing: '-->' },
  { opens: /^ {0,3}<\?/u, closes: /\?>/u, closing: '?>' },
  { opens: /^ {0,3}<!\[CDATA\[/u, closes: /\]\]>/u, closing: ']]>' },
  { opens: /^ {0,3}<![a-z]/iu, closes: />/u, closing: '>' },
]

/** Tags that begin a block wherever they stand at the beginning of a line. */
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
/** One whole tag and nothing else: a block where no paragraph goes before it. */
const loneTag = new RegExp(String.raw`^ {0,3}<(?:[a-z][a-z\d-]*(?:${attribute})*\s*/?|/[a-z][a-z\d-]*\s*)>\s*$`, 'iu')

/** @param line detabbed, without its end and what its containers take of it */
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
