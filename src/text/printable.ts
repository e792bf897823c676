// Characters that control a terminal: C0 without tab and line feed, DEL, C1, the line breaks of Unicode, and marks that
// change the direction of writing, which can make the shown text differ from the real text (CVE-2021-42574).
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const hex = (letter: string, digits: number) => letter.charCodeAt(0).toString(16).padStart(digits, '0')

const escaped = (letter: string) => (letter < '\u0100' ? `\\x${hex(letter, 2)}` : `\\u${hex(letter, 4)}`)

/** Makes a chat's text safe for a terminal: control characters become visible escapes such as `\x1b`. */
export function printable(text: string): string {
  return text.replace(controls, escaped)
}

/** The same on one line; each run of white space becomes one space. */
export function printableLine(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim())
}

/** JSON with an indent of two spaces. A parser reads the same value, and no character controls a terminal. */
export function printableJson(value: unknown): string {
  return printableJsonText(JSON.stringify(value, null, 2) ?? 'null')
}

/** Makes JSON text, or a part of it, safe for a terminal without changing its value. */
export function printableJsonText(json: string): string {
  // Line feeds are layout only: inside strings, JSON escapes all of C0.
  return json.replace(controls, (letter) => `\\u${hex(letter, 4)}`)
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Whether output may have colours. A non-empty `NO_COLOR` always means no ([no-color.org](https://no-color.org)).
 * `FORCE_COLOR` means yes, unless it is 0. `CI` has no effect: a terminal is a terminal there, too.
 */
export function wantsColours(isTerminal: boolean, env: Environment): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0'
  return isTerminal && env['TERM'] !== 'dumb'
}

/** The sequence that clears the cursor's line; empty if the output is no terminal or does not support it. */
export const lineWipe = (isTerminal: boolean, env: Environment): string =>
  isTerminal && env['TERM'] !== 'dumb' ? '\r\u001b[K' : ''
