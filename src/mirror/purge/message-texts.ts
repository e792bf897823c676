import type { ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import { holdsAny, type PurgeScope } from './scope.ts'
import { partsOrNull } from '../parse-parts.ts'

/** A string or number in a message. `isWords`: a person or program wrote it. Otherwise it names a file or a tool. */
export interface MessageText {
  readonly text: string
  readonly isWords: boolean
}

const WORDS = new Set(['text', 'error', 'output', 'content'])
/** Fields with values of our format, which nobody wrote. */
const NO_TEXT = new Set(['kind', 'status', 'outputFrom', 'durationMs', 'cappedFrom'])

export function* textsOf(parts: readonly Part[]): Generator<MessageText> {
  for (const part of parts) {
    for (const [field, value] of part.kind === 'todo' ? part.items.flatMap(Object.entries) : Object.entries(part)) {
      if (NO_TEXT.has(field)) continue
      for (const text of leavesOf(value)) yield { text, isWords: WORDS.has(field) }
    }
  }
}

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

/**
 * The texts of a message that contain one of the needles.
 * @param json contains the parts. Most messages contain the text in no form, which the JSON alone shows quickly.
 * @param parts the parts, if they are parsed already; otherwise `json` is the parts
 */
export function matchingTexts(json: string, needles: readonly string[], parts?: readonly Part[]): MessageText[] {
  if (!holdsAny(json, needles)) return []
  const known = parts ?? partsOrNull(json)
  // A damaged message is purged by what is left of it.
  if (known === null) return [{ text: json, isWords: true }]
  return [...textsOf(known)].filter(({ text }) => holdsAny(text, needles))
}

/** A text that was removed. `chatId`: the chat that it stays out of; null: all chats. */
export interface RemovedText {
  readonly text: string
  readonly chatId: ChatId | null
}

/**
 * The tombstones for texts of a chat. Words stay out of every chat, unless the purge is limited to chats or projects.
 * Names of files and tools occur in other chats too: they stay out of this chat only. A purge of a time needs none,
 * because the same text may come later.
 */
export function removedTexts(chatId: ChatId, texts: readonly MessageText[], scope: PurgeScope): RemovedText[] {
  if (scope.beforeMs !== null) return []
  const isEverywhere = scope.chatIds === null && scope.projectUris === null
  return texts.map(({ text, isWords }) => ({ text, chatId: isWords && isEverywhere ? null : chatId }))
}
