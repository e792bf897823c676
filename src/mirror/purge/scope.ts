import type { ChatId } from '../../model/ids.ts'

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

/** Whether the scope is a text and nothing else. Then the text is in no file after the purge. */
export const isOfText = ({ chatIds, projectUris, beforeMs, match }: PurgeScope): boolean =>
  match !== null && chatIds === null && projectUris === null && beforeMs === null
