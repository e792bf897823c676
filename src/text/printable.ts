// A terminal takes these as orders: C0 without tab and line feed, DEL, C1, and the marks that turn the direction of
// writing, with which shown text can be made to differ from real text (CVE-2021-42574).
// eslint-disable-next-line no-control-regex
const orders = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

const hex = (letter: string, digits: number) => letter.charCodeAt(0).toString(16).padStart(digits, '0')

const escaped = (letter: string) => (letter < '\u0100' ? `\\x${hex(letter, 2)}` : `\\u${hex(letter, 4)}`)

/** Text from a chat, fit for a terminal: what would steer the terminal is shown as an escape, such as `\x1b`. */
export function printable(text: string): string {
  return text.replace(orders, escaped)
}

/** The same on one line, each run of white space as one space. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim())
}

/** JSON, two spaces deep. It means the same value to a parser, and holds no order to a terminal. */
export function printableJson(value: unknown): string {
  return printableJsonText(JSON.stringify(value, null, 2) ?? 'null')
}

/** JSON text, or a stretch of it, so that it means the same and holds no order to a terminal. */
export function printableJsonText(json: string): string {
  // Line feeds are JSON's own layout; within strings JSON escapes all of C0 by itself.
  return json.replace(orders, (letter) => `\\u${hex(letter, 4)}`)
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Whether what is written there may have colours. [no-color.org](https://no-color.org): set and not empty is a no,
 * whatever else is said. `FORCE_COLOR` is a yes, but for 0. `CI` is not asked: a terminal is one there, too.
 */
export function wantsColours(isTerminal: boolean, env: Environment): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return isTerminal && env['TERM'] !== 'dumb'
}

/** Wipes the line on which the cursor stands; nothing where that is no terminal, or one that knows no such orders. */
export const lineWipe = (isTerminal: boolean, env: Environment): string =>
  isTerminal && env['TERM'] !== 'dumb' ? '\r\u001b[K' : ''
