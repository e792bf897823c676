import { asFields, parseJson } from './values.ts'
import type { Fields } from './values.ts'

/** Much deeper than any real call, and far below the limit of a recursion. */
const TOO_DEEP_LEVELS = 10_000

/** Parsed if it is JSON, else the string itself; null if there is none or it is nested too deeply. */
export function payloadOf(value: unknown): unknown {
  if (isTooDeep(value)) return null
  if (typeof value !== 'string') return value ?? null
  return value === '' ? null : (parseJson(value) ?? value)
}

export function hasDeepPayload(bubble: Fields): boolean {
  return Object.values(asFields(bubble['toolFormerData']) ?? {}).some(isTooDeep)
}

/** Level by level, because a recursion would overflow the stack. */
function isTooDeep(value: unknown): boolean {
  let level = [typeof value === 'string' ? parseJson(value) : value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TOO_DEEP_LEVELS) return true
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  }
  return false
}
