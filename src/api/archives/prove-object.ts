import { hash as digest } from 'node:crypto'
import { lineHash, readChat, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { readPacked, unpack } from './object-files.ts'

/** What an object says of itself: what a manifest that names it must say, too. */
export type ObjectFacts = Omit<ChatEntry, 'revision'>

/**
 * Reads an object back as a restore would.
 * @param current the chat's lines as the mirror has them now, to be compared one by one; null where there are none to
 *   compare with
 */
export function examineObject(
  dir: string,
  object: string,
  current: Iterable<string> | null = null,
): Decoded<ObjectFacts> {
  const packed = readPacked(dir, object)
  if (packed.kind === 'damaged') return packed
  const text = unpack(packed.value)
  if (text.kind === 'damaged') return text
  const messages: string[] = []
  const lines = text.value.toString()
  const chat = readChat(lines, (_, line) => messages.push(lineHash(line)))
  if (chat.kind === 'damaged') return chat
  if (current !== null && !isSame(lines, current)) return damaged('the mirror differs')
  const content = digest('sha256', text.value)
  return { kind: 'sound', value: { id: chat.value.id, object, content, bytes: packed.value.length, messages } }
}

/** Compares every byte of an object with what the manifest says of it. @param current as above */
export function proveObject(dir: string, entry: ChatEntry, current: Iterable<string> | null): Decoded<ObjectFacts> {
  const facts = examineObject(dir, entry.object, current)
  if (facts.kind === 'damaged') return facts
  const { id, content, bytes, messages } = facts.value
  if (id !== entry.id) return damaged('it holds another chat')
  if (content !== entry.content || bytes !== entry.bytes) return damaged('its text is another')
  const isSameMessages =
    messages.length === entry.messages.length && messages.every((hash, at) => hash === entry.messages[at])
  return isSameMessages ? facts : damaged('its messages are not those that were archived')
}

function isSame(text: string, current: Iterable<string>): boolean {
  let at = 0
  for (const line of current) {
    if (!text.startsWith(line, at)) return false
    at += line.length
  }
  return at === text.length
}

const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })
