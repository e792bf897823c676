import type { Part } from '../../model/part.ts'
import { partsOrNull } from '../parse-parts.ts'
import { holdsAny } from './scope.ts'

/** Fields with values of our format, which nobody wrote. */
const NO_TEXT = new Set(['kind', 'status', 'outputFrom', 'durationMs', 'cappedFrom'])

/** All strings and numbers in the parts of a message. */
export const textsOf = (parts: readonly Part[]): readonly string[] =>
  parts
    .flatMap((part) => (part.kind === 'todo' ? part.items.flatMap(Object.entries) : Object.entries(part)))
    .flatMap(([field, value]) => (NO_TEXT.has(field) ? [] : leavesOf(value)))

/** All strings and numbers in a JSON value, and the keys of its objects. */
function leavesOf(given: unknown): readonly string[] {
  const leaves: string[] = []
  const pending = [given]
  while (pending.length > 0) {
    const value = pending.pop()
    if (typeof value === 'string') leaves.push(value)
    else if (typeof value === 'number') leaves.push(String(value))
    else if (Array.isArray(value)) for (const each of value) pending.push(each)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) pending.push(key, each)
    }
  }
  return leaves
}

/** The texts of a message that contain one of the needles. @param json the parts */
export function matchingTexts(json: string, needles: readonly string[]): readonly string[] {
  // Most messages contain the text in no form, which the JSON alone shows quickly.
  if (!holdsAny(json, needles)) return []
  const parts = partsOrNull(json)
  // A damaged message is purged by what is left of it.
  return parts === null ? [json] : textsOf(parts).filter((text) => holdsAny(text, needles))
}
