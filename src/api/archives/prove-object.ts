import { createHash } from 'node:crypto'
import { ChatLines, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { ChatEntry } from '../../archive/manifest.ts'
import { readPacked } from './object-files.ts'
import { linesOf, unpackMembers } from './unpack-members.ts'

/** What an object says of itself: what a manifest that names it must say, too. */
export type ObjectFacts = Omit<ChatEntry, 'revision'>

/**
 * Reads an object back as a restore would, a member of it at a time.
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
  const content = createHash('sha256')
  const lines = new ChatLines()
  const comparison = new Comparison(current)
  const messages: string[] = []
  for (const line of linesOf(packed.value, (bytes) => content.update(bytes))) {
    if (line.kind === 'damaged') return line
    const message = lines.take(line.value)
    if (message.kind === 'damaged') return message
    if (message.value !== null) messages.push(lineHash(line.value))
    comparison.take(line.value)
  }
  const chat = lines.end()
  if (chat.kind === 'damaged') return chat
  if (!comparison.isSame()) return damaged('the mirror differs')
  const bytes = packed.value.length
  return { kind: 'sound', value: { id: chat.value.id, object, content: content.digest('hex'), bytes, messages } }
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

/** An object that was just written: `other` where it is as it was packed, and the mirror now says something else. */
export type WriteProof = 'sound' | 'other' | 'damaged'

/**
 * Reads back an object whose lines were looked at before they were packed, and compares every byte of it with what was
 * packed, and with the mirror.
 * @param current as above
 */
export function proveWritten(dir: string, entry: ChatEntry, current: Iterable<string> | null): WriteProof {
  const packed = readPacked(dir, entry.object)
  if (packed.kind === 'damaged' || contentOf(packed.value) !== entry.content) return 'damaged'
  return current === null || hashOf(current) === entry.content ? 'sound' : 'other'
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

/** Holds lines against those that the mirror has, as both come. */
class Comparison {
  readonly #current: Iterator<string> | null
  #isSame = true

  constructor(current: Iterable<string> | null) {
    this.#current = current?.[Symbol.iterator]() ?? null
  }

  take(line: string): void {
    if (this.#current === null || !this.#isSame) return
    const next = this.#current.next()
    // The mirror's has its line feed.
    this.#isSame = next.done !== true && next.value.length === line.length + 1 && next.value.startsWith(line)
  }

  /** To be asked behind the last line. */
  isSame(): boolean {
    return this.#isSame && (this.#current === null || this.#current.next().done === true)
  }
}

const damaged = (why: string): { readonly kind: 'damaged'; readonly why: string } => ({ kind: 'damaged', why })
