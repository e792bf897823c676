/** A colour, or an order to the cursor, as programs print them for a terminal. */
// oxlint-disable-next-line no-control-regex
const order = /\u001b\[([\d;:?]*)([@-~])/g
const ESCAPE = '\u001b'

/** A text without what only a terminal reads: `\u001b[31mfailed` says `failed`, and holds no word that begins with an m. */
export function withoutOrders(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(order, (_, given: string, kind: string) => shownFor(given, kind))
}

/** Colours stand inside words too, where something was looked for. Whatever moves the cursor parts them. */
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

/** What JSON says: in `"first\nsecond"` is no word that begins with an n, and `\u00e9` is a letter. Other text stays. */
export const withoutEscapes = (text: string): string =>
  text.includes('\\') && beginsLikeJson(text) ? unescaped(text) : text

/** The same of a piece of JSON, however it begins. */
export function unescaped(text: string): string {
  return text.replaceAll(escaped, (all, code: string | undefined, sign: string | undefined) =>
    code === undefined ? (spaces.get(sign ?? '') ?? all) : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
