import { parseJson, asRecord, type JsonRecord } from './json-value.ts'
import { constants } from 'node:buffer'
import type { IssueReason } from '../../../../model/issue.ts'

/**
 * Parses JSON that may contain any number. A number that JavaScript would round, such as a 64-bit row id, becomes a
 * string of its digits: a rounded number is a wrong number.
 */
export function parseExactly(text: string): { readonly value: unknown } | null {
  const parsed = parseJson(text)
  return parsed === null || !holdsRounded(parsed.value) ? parsed : parseJson(withDigitsAsText(text))
}

/** The parsed value if the text is JSON, otherwise the text. A single number stays text if parsing would round it. */
export function parsedOrText(text: string): unknown {
  const parsed = parseExactly(text)
  if (parsed === null) return text
  return typeof parsed.value === 'number' && String(parsed.value) !== text.trim() ? text : parsed.value
}

/** Runs for every row, so it makes no list of an object's values. */
function holdsRounded(root: unknown): boolean {
  const waiting: object[] = []
  const isRounded = (value: unknown): boolean => {
    if (typeof value === 'object' && value !== null) waiting.push(value)
    return typeof value === 'number' && mayBeRounded(value)
  }
  if (isRounded(root)) return true
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    if (Array.isArray(holder)) {
      if (holder.some(isRounded)) return true
    } else for (const name in holder) if (isRounded((holder as Readonly<Record<string, unknown>>)[name])) return true
  }
  return false
}

const mayBeRounded = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))

/** In valid JSON, digits outside strings occur only in numbers. */
function withDigitsAsText(text: string): string {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at)
    const opens = quote < 0 ? text.length : quote
    pieces.push(text.slice(at, opens).replace(/-?\d[\d.eE+-]*/g, exactNumber))
    at = quote < 0 ? opens : endOfString(text, opens)
    pieces.push(text.slice(opens, at))
  }
  return pieces.join('')
}

/** A number in exponent notation stays a number if it is finite: its text is no more exact. */
function exactNumber(written: string): string {
  const value = Number(written)
  const isExact = !mayBeRounded(value) || String(value) === written
  return isExact || (Number.isFinite(value) && /e/i.test(written)) ? written : JSON.stringify(written)
}

/** The position after the closing quote. A quote after an odd number of backslashes is escaped. */
function endOfString(text: string, opens: number): number {
  for (let end = text.indexOf('"', opens + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

export type ParsedRow =
  | { readonly kind: 'record'; readonly record: JsonRecord }
  | { readonly kind: 'issue'; readonly reason: IssueReason }

/** Bytes that are not UTF-8 become U+FFFD, so that one broken character does not make the row unreadable. */
export function parseRow(value: string | Buffer): ParsedRow {
  if (value.length > constants.MAX_STRING_LENGTH) return { kind: 'issue', reason: 'too-large' }
  const parsed = parseExactly(typeof value === 'string' ? value : value.toString('utf8'))
  if (parsed === null) return { kind: 'issue', reason: 'bad-json' }
  const record = asRecord(parsed.value)
  return record === null ? { kind: 'issue', reason: 'not-an-object' } : { kind: 'record', record }
}
