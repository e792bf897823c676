import { createHash } from 'node:crypto'
import { ChatLines, damaged, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { readPacked } from './object-files.ts'
import { linesOf, unpackLines, unpackMembers } from './unpack-lines.ts'
import type { ArchivedMessage, ArchivedPlace, ProvenChat } from '../../archive/record.ts'
import { saysWhy } from './plain-files.ts'

/** Facts of an object. A manifest that names it must say the same. */
export type ObjectFacts = Omit<ChatEntry, 'revision'>

/** Reads an object as a restore does, one gzip member at a time. */
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

/** Compares every byte of an object with its manifest entry. */
export function proveObject(dir: string, entry: ChatEntry): Decoded<ObjectFacts> {
  const facts = examineObject(dir, entry.object)
  if (facts.kind === 'damaged') return facts
  const { id, content, bytes, messages } = facts.value
  if (id !== entry.id) return damaged('it contains another chat')
  if (content !== entry.content || bytes !== entry.bytes) return damaged('its text differs')
  return isSameList(messages, entry.messages) ? facts : damaged('its messages differ from those that were archived')
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((item, at) => item === other[at])

/** Result for an object that was just written. `other`: it is as it was packed, but the mirror has changed since. */
export type WriteProof = 'sound' | 'other' | 'damaged'

/**
 * Reads an object back and compares every byte with what was packed, and with the mirror. Its lines were checked before
 * they were packed.
 * @param current the chat's lines in the mirror now; null if there are none to compare with
 */
export function proveWritten(dir: string, entry: ChatEntry, current: Iterable<string> | null): WriteProof {
  const packed = readPacked(dir, entry.object)
  if (packed.kind === 'damaged' || contentOf(packed.value) !== entry.content) return 'damaged'
  return current === null || hashOf(current) === entry.content ? 'sound' : 'other'
}

/** The same for an object of an earlier run. Also compares the hash of each message in the manifest. */
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

/** Null if the object cannot be unpacked. */
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

/** What a manifest says about the object. Null if there is no manifest: then the object is checked by itself. */
export type Claim = Pick<ChatEntry, 'id' | 'content' | 'bytes' | 'messages'> | null

/**
 * Reads a whole object in bounded memory and compares every byte with its name and its manifest entry. Never throws: the
 * result is a chat, or a sentence that says what is wrong.
 */
export async function proveChat(dir: string, object: string, claim: Claim): Promise<Decoded<ProvenChat>> {
  const packed = readPacked(dir, object, claim?.bytes)
  if (packed.kind === 'damaged') return packed
  if (claim !== null && packed.value.length !== claim.bytes) return damaged('its size differs')
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
  if (claim !== null && chat.value.id !== claim.id) return damaged('it contains another chat')
  if (claim !== null && places.length !== claim.messages.length) return ANOTHER
  if (claim !== null && content.digest('hex') !== claim.content) return damaged('its text differs')
  return { kind: 'sound', value: { kind: 'sound', chat: chat.value, places, messages: () => messagesIn(packed) } }
}

async function* messagesIn(packed: Buffer): AsyncGenerator<ArchivedMessage> {
  const lines = new ChatLines()
  for await (const line of unpackLines(packed, () => undefined)) {
    const message = lines.take(line)
    // These bytes were checked before.
    if (message.kind === 'damaged') throw new Error(message.why)
    if (message.value !== null) yield message.value
  }
}

const ANOTHER = damaged('its messages differ from those that were archived')
