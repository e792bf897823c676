import { decodeChat, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { createHash } from 'node:crypto'
import { readObject } from './object-files.ts'

/**
 * Reads an object back as a restore would, and compares every byte with the manifest.
 * @param current the chat's lines as the mirror has them now, to be compared one by one; null where the chat has changed
 *   since, or is not there
 */
export function proveObject(dir: string, entry: ChatEntry, current: Iterable<string> | null): Decoded<string> {
  const read = readObject(dir, entry.object)
  if (read.kind === 'damaged') return read
  const text = read.value
  if (createHash('sha256').update(text).digest('hex') !== entry.content) return damaged('its text is another')
  const chat = decodeChat(text)
  if (chat.kind === 'damaged') return chat
  if (chat.value.chat.id !== entry.id) return damaged('it holds another chat')
  const lines = text.slice(0, -1).split('\n')
  const hashes = lines.slice(1).map(lineHash)
  if (hashes.length !== entry.messages.length || hashes.some((hash, index) => hash !== entry.messages[index])) {
    return damaged('its messages are not those that were archived')
  }
  return current === null || isSame(lines, current) ? { kind: 'sound', value: text } : damaged('the mirror differs')
}

function isSame(lines: readonly string[], current: Iterable<string>): boolean {
  let index = 0
  for (const line of current) {
    if (line !== `${lines[index] ?? ''}\n`) return false
    index += 1
  }
  return index === lines.length
}

const damaged = (why: string): Decoded<string> => ({ kind: 'damaged', why })
