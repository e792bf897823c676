import { COUNT_MAX } from '../../../../model/json.ts'

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
