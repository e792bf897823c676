import { constants } from 'node:buffer'
import type { IssueReason } from '../../../model/issue.ts'
import { COUNT_MAX, type Json } from '../../../model/json.ts'

/** An object from Cursor's JSON. Its fields can have any type; the readers below check them. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The value is wrapped in an object, because `null` is itself a JSON value. */
export function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

export function asRecord(value: unknown): JsonRecord | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonRecord) : null
}

const MAY_BE_RECORD = /^\s*\{/

/** Depending on its version, Cursor writes many objects as a JSON string inside the JSON. */
export function parsedRecord(value: unknown): JsonRecord | null {
  if (typeof value !== 'string') return asRecord(value)
  // A failed parse is slow, and many of these strings are no JSON.
  return MAY_BE_RECORD.test(value) ? asRecord(parseJson(value)?.value) : null
}

export const isBlank = (text: string): boolean => !/\S/u.test(text)

/** An escape such as `\ud800` parses to half a surrogate pair, which SQLite would store as invalid UTF-8. */
export const wellFormed = (text: string): string => text.toWellFormed()

export const isWellFormed = (text: string): boolean => text.isWellFormed()

export function stringIn(record: JsonRecord | null, name: string): string | null {
  const value = record?.[name]
  return typeof value === 'string' ? wellFormed(value) : null
}

/** The string unchanged; null for other types and for blank strings. */
export function filledString(value: unknown): string | null {
  return typeof value === 'string' && !isBlank(value) ? wellFormed(value) : null
}

export const filledStringIn = (record: JsonRecord | null, name: string): string | null => filledString(record?.[name])

/** The first of the fields that is not blank. */
export function firstFilledIn(record: JsonRecord | null, names: readonly string[]): string | null {
  for (const name of names) {
    const text = filledStringIn(record, name)
    if (text !== null) return text
  }
  return null
}

/** Finite only: `1e999` parses to Infinity. */
export function numberIn(record: JsonRecord | null, name: string): number | null {
  const value = record?.[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** An integer from 0 to `COUNT_MAX`, as the mirror and archives require; a fraction is cut off. */
export function countIn(record: JsonRecord | null, name: string): number | null {
  const count = Math.floor(numberIn(record, name) ?? -1)
  return count >= 0 && count <= COUNT_MAX ? count : null
}

export function recordIn(record: JsonRecord | null, name: string): JsonRecord | null {
  return asRecord(record?.[name])
}

export function listIn(record: JsonRecord | null, name: string): readonly unknown[] {
  const value = record?.[name]
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

/** False for null, blank text, `[]` and `{}`. */
export function holdsSomething(value: unknown): boolean {
  if (value === null || value === undefined) return false
  if (typeof value === 'string') return !isBlank(value)
  return typeof value === 'object' ? Object.keys(value).length > 0 : true
}

export interface BoundedJson {
  /** Null if the value was too deep. */
  readonly value: Json
  readonly isTooDeep: boolean
}

/** `JSON.parse` reads any depth, but `JSON.stringify` and every recursive reader would overflow the stack. */
export const DEPTH_MAX = 500

/** Returns a parsed value that can be stored and walked; it is the same object if nothing needs repair. */
export function boundJson(value: unknown): BoundedJson {
  const found = inspect(value)
  if (found === 'too-deep') return { value: null, isTooDeep: true }
  return { value: found === 'ill-formed' ? repaired(value as Json) : ((value ?? null) as Json), isTooDeep: false }
}

function inspect(root: unknown): 'fine' | 'ill-formed' | 'too-deep' {
  let isFine = true
  const waiting = [{ value: root, depth: 0 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next
    if (typeof value === 'string') isFine &&= isWellFormed(value)
    if (typeof value !== 'object' || value === null) continue
    if (depth === DEPTH_MAX) return 'too-deep'
    if (!Array.isArray(value)) isFine &&= Object.keys(value).every(isWellFormed)
    for (const child of Object.values(value)) waiting.push({ value: child, depth: depth + 1 })
  }
  return isFine ? 'fine' : 'ill-formed'
}

/** Recursive, so call it only on a shallow value. `fromEntries` makes a key `__proto__` an ordinary key. */
function repaired(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(repaired)
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [wellFormed(key), repaired(child)]))
}

const leavesMax = 100
const visitsMax = 10_000

/** Every distinct non-blank string in a value, in order; for objects whose field names are not known. */
export function stringLeaves(root: unknown): readonly string[] {
  const leaves = new Set<string>()
  const waiting = [{ value: root, depth: 0 }]
  for (let visits = 0; visits < visitsMax && leaves.size < leavesMax; visits += 1) {
    const next = waiting.pop()
    if (next === undefined) break
    const { value, depth } = next
    if (typeof value === 'string' && !isBlank(value)) leaves.add(wellFormed(value))
    if (typeof value !== 'object' || value === null || depth === DEPTH_MAX) continue
    const children: readonly unknown[] = Object.values(value)
    for (const child of children.slice(0, visitsMax).reverse()) waiting.push({ value: child, depth: depth + 1 })
  }
  return [...leaves]
}

/**
 * Parses JSON that may contain any number. A number that JavaScript would round, such as a 64-bit row id, becomes a
 * string of its digits: a rounded number is a wrong number.
 */
export const parseExactly = (text: string): { readonly value: unknown } | null =>
  parseJson(MAY_BE_ROUNDED.test(text) ? withDigitsAsText(text) : text)

/** Runs for every row. A number may be rounded if it has 16 digits, or an exponent. */
const MAY_BE_ROUNDED = /(?:^|[:,[\s])-?\d(?:\d{15}|[\d.]*e)/i

/** The parsed value if the text is JSON, otherwise the text. A single number stays text if parsing would round it. */
export function parsedOrText(text: string): unknown {
  const parsed = parseExactly(text)
  if (parsed === null) return text
  return typeof parsed.value === 'number' && String(parsed.value) !== text.trim() ? text : parsed.value
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
