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
export const withoutEscapes = (text: string): string =>
  text.includes('\\') && beginsLikeJson(text) ? unescaped(text) : text

/** The same for a piece of JSON with any beginning. */
export function unescaped(text: string): string {
  return text.replaceAll(escaped, (all, code: string | undefined, sign: string | undefined) =>
    code === undefined ? (spaces.get(sign ?? '') ?? all) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
