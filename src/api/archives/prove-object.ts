import { createHash } from 'node:crypto'
import { ChatLines, damaged, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { readPacked } from './object-files.ts'
import { linesOf, unpackLines, unpackMembers } from './unpack-lines.ts'
import type { ArchivedMessage, ArchivedPlace, ProvenChat } from '../../archive/record.ts'
import { saysWhy } from './plain-files.ts'

/** What an object says of itself: what a manifest that names it must say, too. */
export type ObjectFacts = Omit<ChatEntry, 'revision'>

/** Reads an object back as a restore would, a member of it at a time. */
export function examineObject(dir: string, object: string): Decoded<ObjectFacts> {
  const packed = readPacked(dir, object)
  if (packed.kind === 'damaged') return packed
  const content = createHash('sha256')
  const lines = new ChatLines()
  const messages: string[] = []
  for (const line of linesOf(packed.value, (bytes) => content.update(bytes))) {
    if (line.kind === 'damaged') return line
    const message = lines.take(line.value)
    if (message.kind === 'damaged') return message
    if (message.value !== null) messages.push(lineHash(line.value))
  }
  const chat = lines.end()
  if (chat.kind === 'damaged') return chat
  const bytes = packed.value.length
  return { kind: 'sound', value: { id: chat.value.id, object, content: content.digest('hex'), bytes, messages } }
}

/** Compares every byte of an object with what the manifest says of it. */
export function proveObject(dir: string, entry: ChatEntry): Decoded<ObjectFacts> {
  const facts = examineObject(dir, entry.object)
  if (facts.kind === 'damaged') return facts
  const { id, content, bytes, messages } = facts.value
  if (id !== entry.id) return damaged('it holds another chat')
  if (content !== entry.content || bytes !== entry.bytes) return damaged('its text is another')
  return isSameList(messages, entry.messages) ? facts : damaged('its messages are not those that were archived')
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((item, at) => item === other[at])

/** An object that was just written: `other` where it is as it was packed, and the mirror now says something else. */
export type WriteProof = 'sound' | 'other' | 'damaged'

/**
 * Reads back an object whose lines were looked at before they were packed, and compares every byte of it with what was
 * packed, and with the mirror.
 * @param current the chat's lines as the mirror has them now; null where there are none to compare with
 */
export function proveWritten(dir: string, entry: ChatEntry, current: Iterable<string> | null): WriteProof {
  const packed = readPacked(dir, entry.object)
  if (packed.kind === 'damaged' || contentOf(packed.value) !== entry.content) return 'damaged'
  return current === null || hashOf(current) === entry.content ? 'sound' : 'other'
}

/**
 * The same of an object that was there already, whose lines were looked at when it was written, and of what the manifest
 * says of each of its messages.
 */
export function isProvenAgain(dir: string, entry: ChatEntry, current: Iterable<string> | null): boolean {
  if (current === null) return proveWritten(dir, entry, null) === 'sound'
  const hashes: string[] = []
  return proveWritten(dir, entry, noting(current, hashes)) === 'sound' && isSameList(hashes.slice(1), entry.messages)
}

function* noting(lines: Iterable<string>, hashes: string[]): Generator<string> {
  for (const line of lines) {
    hashes.push(lineHash(line.slice(0, -1)))
    yield line
  }
}

/** Null where it cannot be unpacked. */
function contentOf(packed: Buffer): string | null {
  try {
    return hashOf(unpackMembers(packed))
  } catch {
    return null
  }
}

function hashOf(pieces: Iterable<string | Buffer>): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

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
