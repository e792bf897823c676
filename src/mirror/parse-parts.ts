import type { Part } from '../model/part.ts'

const DAMAGED: Part = { kind: 'error', text: 'The text of this message is damaged in the mirror.' }

/** The parts of a stored message. If a damaged page changed them, they are one error: no read and no pass fails on it. */
export const parseParts = (json: string): readonly Part[] => partsOrNull(json) ?? [DAMAGED]

/** Null if a damaged page changed them. */
export function partsOrNull(json: string): readonly Part[] | null {
  try {
    const parts: unknown = JSON.parse(json)
    if (Array.isArray(parts)) return parts as readonly Part[]
  } catch {
    // Not JSON.
  }
  return null
}

/** Whether `parseParts` gave these in place of damaged ones. They are shown, and never stored. */
export const isSubstitute = ([first]: readonly Part[]): boolean => first === DAMAGED
