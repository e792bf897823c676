/** A stretch of a Markdown text, either prose or fenced code. */
export interface Stretch {
  /** UTF-16 offsets, end exclusive. */
  readonly start: number
  readonly end: number
  /** The fence lines themselves belong to the code. */
  readonly isCode: boolean
}

/**
 * A fence after blanks or marks of quotes and lists. Without the `m` flag: with it, a carriage return begins a line too, and
 * a text of only carriage returns and blanks would be scanned again from each of them.
 */
const FENCE = /(?:^|\n)([ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*){0,6})(`{3,}|~{3,})([^\n]*)/g
const QUOTED = /^[ \t>]*$/

/**
 * The stretches of a text in order, which together cover all of it; null if it has no fence. An unclosed fence continues to
 * the end, because the message may still be streaming. A fence that opens and closes on one line is code up to its end.
 */
export function stretchesOf(text: string): readonly Stretch[] | null {
  if (!text.includes('```') && !text.includes('~~~')) return null
  const stretches: Stretch[] = []
  let from = 0
  let opened: { readonly start: number; readonly fence: string } | null = null
  const add = (start: number, end: number, isCode: boolean): void => {
    if (end > start) stretches.push({ start, end, isCode })
  }
  for (const { index, 0: match, 1: before = '', 2: fence = '', 3: rest = '' } of text.matchAll(FENCE)) {
    const end = index + match.length
    const start = end - rest.length - fence.length - before.length
    if (opened === null) {
      const closing = fence.startsWith('`') ? rest.indexOf(fence) : -1
      add(from, start, false)
      from = start
      if (closing < 0) opened = { start, fence }
      else add(start, (from = end - rest.length + closing + fence.length), true)
    } else if (fence.startsWith(opened.fence) && QUOTED.test(before) && rest.trim() === '') {
      from = end
      add(opened.start, end, true)
      opened = null
    }
  }
  if (opened === null && stretches.length === 0) return null
  add(from, text.length, opened !== null)
  return stretches
}

/** A terminal escape sequence (CSI), for example a colour or a cursor movement. */
// oxlint-disable-next-line no-control-regex
const escapeSequence = /\u001b\[([\d;:?]*)([@-~])/g
const ESCAPE = '\u001b'

/** Removes terminal escape sequences: `\u001b[31mfailed` becomes `failed`, and no word begins with the `m` of the colour. */
export function withoutOrders(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(escapeSequence, (_, given: string, kind: string) => shownFor(given, kind))
}

/** The replacement of a sequence. Colours may be inside words, where a match was highlighted; cursor movements split words. */
export const shownFor = (given: string, kind: string): '' | ' ' =>
  kind === 'm' || (kind === 'K' && given === '') ? '' : ' '

const jsonBeginning = /^\s*[[{]\s*["[{]/
const escaped = /\\(?:u([\da-f]{4})|([^]))/gi
const spaces: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\n'],
  ['t', '\t'],
])

export const beginsLikeJson = (text: string): boolean => jsonBeginning.test(text)

/** Decodes the escapes of JSON: in `"first\nsecond"` no word begins with `n`, and `\u00e9` is a letter. Other text stays. */
export function withoutEscapes(text: string): string {
  if (!text.includes('\\') || !beginsLikeJson(text)) return text
  return text.replaceAll(escaped, (all, code: string | undefined, sign: string | undefined) =>
    code === undefined ? (spaces.get(sign ?? '') ?? all) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
