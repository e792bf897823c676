import type { ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import { partsOrNull } from '../write/pack-message.ts'

/** What a purge removes. At least one condition is set; all that are set must hold. */
export interface PurgeScope {
  /** These chats and their subagents. */
  readonly chatIds: readonly ChatId[] | null
  /** Chats of the projects with these root URIs. */
  readonly projectUris: readonly string[] | null
  /** Messages sent before this time, epoch milliseconds. A chat without later activity is removed as a whole. */
  readonly beforeMs: number | null
  /** Messages that contain this text, in upper or lower case. */
  readonly match: string | null
}

/** A shorter text is part of too many messages. UTF-16 units. */
export const MATCH_LENGTH_MIN = 4
export const MATCH_LENGTH_MAX = 10_000

/** The forms of a text that a purge knows: with both kinds of line ends, as it is, as JSON, and as JSON inside JSON. */
export function formsOf(match: string): readonly string[] {
  const lines = match.replaceAll('\r\n', '\n')
  const plain = [match, lines, lines.replaceAll('\n', '\r\n')]
  const escaped = plain.map(inJson)
  return [...new Set([...plain, ...escaped, ...escaped.map(inJson)])]
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The same forms in lower case, for `holdsAny`. */
export const needlesOf = (match: string): readonly string[] => formsOf(match.toLowerCase())

/** Whether a text contains one of the needles, in upper or lower case. */
export function holdsAny(text: string, needles: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return needles.some((needle) => lower.includes(needle))
}

/** Fields with values of our format, which nobody wrote. */
const NO_TEXT = new Set(['kind', 'status', 'outputFrom', 'durationMs', 'cappedFrom'])

/** All strings and numbers in the parts of a message. */
export const textsOf = (parts: readonly Part[]): readonly string[] =>
  parts
    .flatMap((part) => (part.kind === 'todo' ? part.items.flatMap(Object.entries) : Object.entries(part)))
    .flatMap(([field, value]) => (NO_TEXT.has(field) ? [] : leavesOf(value)))

/** All strings and numbers in a JSON value, and the keys of its objects. */
export function leavesOf(given: unknown): readonly string[] {
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
