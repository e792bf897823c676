import { parseJson, asRecord, type JsonRecord } from './json-value.ts'
import { constants } from 'node:buffer'
import type { IssueReason } from '../../../../model/issue.ts'

/**
 * Parses JSON in which a program wrote what it liked. A number that JavaScript would round, such as the 64-bit id of a row,
 * is read as a text of its digits: another number than the one that was said helps nobody.
 */
export function parseExactly(text: string): { readonly value: unknown } | null {
  const parsed = parseJson(text)
  return parsed === null || !holdsRounded(parsed.value) ? parsed : parseJson(withDigitsAsText(text))
}

/** Parsed where the text is JSON, else the text as it stood; a number stays text where parsing would round it. */
export function parsedOrText(text: string): unknown {
  const parsed = parseExactly(text)
  if (parsed === null) return text
  return typeof parsed.value === 'number' && String(parsed.value) !== text.trim() ? text : parsed.value
}

/** Each row comes by here, so that no list is made of what an object holds. */
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

/** Of valid JSON: between its strings, digits stand in numbers alone. */
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

/** What is written with an exponent is no more exact than a number is, if it is one. */
function exactNumber(written: string): string {
  const value = Number(written)
  const isExact = !mayBeRounded(value) || String(value) === written
  return isExact || (Number.isFinite(value) && /e/i.test(written)) ? written : JSON.stringify(written)
}

/** Behind the quote that closes it: one with an odd number of backslashes before it closes nothing. */
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

/** Bytes that are no UTF-8 become U+FFFD, so that one broken character does not cost the row. */
export function parseRow(value: string | Buffer): ParsedRow {
  if (value.length > constants.MAX_STRING_LENGTH) return { kind: 'issue', reason: 'too-large' }
  const parsed = parseExactly(typeof value === 'string' ? value : value.toString('utf8'))
  if (parsed === null) return { kind: 'issue', reason: 'bad-json' }
  const record = asRecord(parsed.value)
  return record === null ? { kind: 'issue', reason: 'not-an-object' } : { kind: 'record', record }
}
