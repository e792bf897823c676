import { asFields, parseJson } from './values.ts'
import type { Fields } from './values.ts'

/** Much deeper than any call, and less deep than what overflows the stack. */
const TOO_DEEP_LEVELS = 10_000

/** The parsed JSON, or the string itself if it is no JSON; null if it is missing or nested too deep. */
export function payloadOf(value: unknown): unknown {
  if (isTooDeep(value)) return null
  if (typeof value !== 'string') return value ?? null
  return value === '' ? null : (parseJson(value) ?? value)
}

export function hasDeepPayload(bubble: Fields): boolean {
  return Object.values(asFields(bubble['toolFormerData']) ?? {}).some(isTooDeep)
}

/** Iterates level by level, because recursion would overflow the stack. */
function isTooDeep(value: unknown): boolean {
  let level = [typeof value === 'string' ? parseJson(value) : value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TOO_DEEP_LEVELS) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}
