import { isUtf8 } from 'node:buffer'
import { createHash, hash as digest } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import { ChatLines, Damage, damaged, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { objectPath } from '../../archive/names.ts'
import type { ArchivedMessage, ArchivedPlace, ProvenChat } from '../../archive/record.ts'
import { readPlainFile, saysWhy } from './archive-files.ts'

/** No known row of Cursor makes a longer line. A longer one is not unpacked to its end. */
export const LINE_BYTES_MAX = 128 * 1024 * 1024
const LINE_FEED = 0x0a

/** An object's bytes, compared with its name. @throws Error that says what is wrong */
export function readPacked(dir: string, hash: string): Buffer {
  const packed = readPlainFile(dir, objectPath(hash))
  if (digest('sha256', packed) !== hash) throw new Damage('its bytes do not match its name')
  return packed
}

/** What is wrong with an object's bytes; null if nothing is. */
export function whyUnsound(dir: string, { object, bytes }: Pick<ChatEntry, 'object' | 'bytes'>): string | null {
  try {
    return readPacked(dir, object).length === bytes ? null : 'its size differs'
  } catch (error) {
    return saysWhy(error)
  }
}

/** What an object holds. A manifest that names it must say the same. */
export type ObjectFacts = Pick<ChatEntry, 'id' | 'content' | 'bytes' | 'messages'>

/** A hash of the facts: short, however long the chat is. */
export const sumOf = ({ id, content, bytes, messages }: ObjectFacts): string =>
  digest('sha256', JSON.stringify([id, content, bytes, messages]))

export interface ExaminedChat extends ProvenChat {
  /** `sumOf` what it holds. */
  readonly sum: string
}

/**
 * Reads a whole object in bounded memory and compares every byte with its name, and with what a manifest says about it.
 * Never throws: the result is a chat, or a sentence that says what is wrong.
 * @param sum `sumOf` the manifest's entry; null if there is none
 */
export async function proveChat(dir: string, object: string, sum: string | null): Promise<Decoded<ExaminedChat>> {
  try {
    const packed = readPacked(dir, object)
    const content = createHash('sha256')
    const lines = new ChatLines()
    const places: ArchivedPlace[] = []
    const messages: string[] = []
    for await (const line of unpackLines(packed)) {
      content.update(line).update('\n')
      const message = lines.take(line)
      if (message === null) continue
      messages.push(lineHash(line))
      places.push({ id: message.id, position: message.position })
    }
    const chat = lines.end()
    const found = sumOf({ id: chat.id, content: content.digest('hex'), bytes: packed.length, messages })
    if (sum !== null && sum !== found) return damaged('it is not the chat that its manifest describes')
    const value = { kind: 'sound', chat, places, sum: found, messages: () => messagesIn(packed) } as const
    return { kind: 'sound', value }
  } catch (error) {
    return damaged(saysWhy(error))
  }
}

async function* messagesIn(packed: Buffer): AsyncGenerator<ArchivedMessage> {
  const lines = new ChatLines()
  for await (const line of unpackLines(packed)) {
    const message = lines.take(line)
    if (message !== null) yield message
  }
}

/** An object's lines without line feeds. Memory has no more than the longest line. @throws Error that says what is wrong */
export async function* unpackLines(packed: Buffer): AsyncGenerator<string> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  gunzip.end(packed)
  let begun: Buffer[] = []
  let length = 0
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const line = Buffer.concat([...begun, chunk.subarray(start, end)])
      if (!isUtf8(line)) throw new Damage('it is not UTF-8')
      yield line.toString()
      begun = []
      length = 0
      start = end + 1
    }
    begun.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > LINE_BYTES_MAX) throw new Damage('a line of it is longer than any message')
  }
  if (length > 0) throw new Damage('its last line is cut off')
}
