import { asFields, parseJson } from './values.ts'
import type { Fields } from './values.ts'

/** Far deeper than any call, and far less deep than what ends a recursion. */
const TOO_DEEP_LEVELS = 10_000

/** Parsed where it parses, else the string as it stands; null where there is none, and where it is too deep to hold. */
export function payloadOf(value: unknown): unknown {
  if (isTooDeep(value)) return null
  if (typeof value !== 'string') return value ?? null
  return value === '' ? null : (parseJson(value) ?? value)
}

export function hasDeepPayload(bubble: Fields): boolean {
  return Object.values(asFields(bubble['toolFormerData']) ?? {}).some(isTooDeep)
}

/** Level by level, since a recursion would not come back. */
function isTooDeep(value: unknown): boolean {
  let level = [typeof value === 'string' ? parseJson(value) : value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TOO_DEEP_LEVELS) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}
