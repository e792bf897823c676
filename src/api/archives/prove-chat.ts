import { createHash } from 'node:crypto'
import { ChatLines, damaged, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import type { ArchivedPlace, ProvenChat } from '../../archive/proven-chat.ts'
import type { ArchivedMessage } from '../../archive/record.ts'
import { readPacked } from './object-files.ts'
import { saysWhy } from './plain-files.ts'
import { unpackLines } from './unpack-lines.ts'

/** What a manifest says of the object; null where there is no manifest to ask, and the object speaks for itself. */
export type Claim = Pick<ChatEntry, 'id' | 'content' | 'bytes' | 'messages'> | null

/**
 * Reads an object to its end, in bounded memory, and compares every byte with its name and with what a manifest says of
 * it. Total: whatever lies there, it is a chat or a sentence about what is wrong with it.
 */
export async function proveChat(dir: string, object: string, claim: Claim): Promise<Decoded<ProvenChat>> {
  const packed = readPacked(dir, object, claim?.bytes)
  if (packed.kind === 'damaged') return packed
  if (claim !== null && packed.value.length !== claim.bytes) return damaged('its size is another')
  try {
    return await prove(packed.value, claim)
  } catch (error) {
    return damaged(saysWhy(error))
  }
}

async function prove(packed: Buffer, claim: Claim): Promise<Decoded<ProvenChat>> {
  const content = createHash('sha256')
  const lines = new ChatLines()
  const places: ArchivedPlace[] = []
  for await (const line of unpackLines(packed, (bytes) => content.update(bytes))) {
    const message = lines.take(line)
    if (message.kind === 'damaged') return message
    if (message.value === null) continue
    if (claim !== null && lineHash(line) !== claim.messages[places.length]) return ANOTHER
    places.push({ id: message.value.id, position: message.value.position })
  }
  const chat = lines.end()
  if (chat.kind === 'damaged') return chat
  if (claim !== null && chat.value.id !== claim.id) return damaged('it holds another chat')
  if (claim !== null && places.length !== claim.messages.length) return ANOTHER
  if (claim !== null && content.digest('hex') !== claim.content) return damaged('its text is another')
  return { kind: 'sound', value: { kind: 'sound', chat: chat.value, places, messages: () => messagesIn(packed) } }
}

async function* messagesIn(packed: Buffer): AsyncGenerator<ArchivedMessage> {
  const lines = new ChatLines()
  for await (const line of unpackLines(packed, () => undefined)) {
    const message = lines.take(line)
    // The same bytes said so before.
    if (message.kind === 'damaged') throw new Error(message.why)
    if (message.value !== null) yield message.value
  }
}

const ANOTHER = damaged('its messages are not those that were archived')
