import { toolStatuses, type ToolStatus, type Part } from '../../model/part.ts'

/** One tool call, with the facts that statistics count. */
export interface CallFact {
  readonly name: string
  readonly status: ToolStatus
  /** Files and folders that the call names, without duplicates. */
  readonly paths: readonly string[]
}

const noCalls: readonly CallFact[] = []
/** A call with more paths than this lists files; it does not work on each of them. */
const PATHS_MAX = 100

export function callsOf(parts: readonly Part[]): readonly CallFact[] {
  // Most messages have no tool call. They share one empty list.
  if (!parts.some((part) => part.kind === 'tool')) return noCalls
  return parts.flatMap((part) => {
    if (part.kind !== 'tool') return []
    const { name, status, paths } = part
    return [{ name, status, paths: paths.length < 2 ? paths : [...new Set(paths)].slice(0, PATHS_MAX) }]
  })
}

/**
 * A chat's digest is an array of 32-bit integers: 7 for the chat, then 5 for each message of its thread. After each
 * message come 2 for each tool call, plus 1 for each file that the call names:
 *
 *   chat | length of the digest | messages with a time | first time, in two halves | last time, in two halves
 *   time, in two halves | body | model | flags and the number of calls
 *   tool | status and the number of files | file...
 *
 * Names are stored as numbers of `digest_words`; 0 means none. Each digest contains its own length, so the digests of all
 * chats can be read as one concatenated value. Half a million messages take 13 MB, and one value of that size is cheaper
 * to read than fifty thousand small ones.
 */
const CHAT_WORDS = 7
const MESSAGE_WORDS = 5
const CALL_WORDS = 2

const IS_USER = 1
const HAS_TIME = 2
const HAS_OWN_TIME = 4
const FLAG_BITS = 3
const STATUS_BITS = 3
const STATUS_MASK = 7
const HALF = 2 ** 32

export interface DigestMessage {
  /** Number of the message's body. It identifies the message. */
  readonly body: number
  /** Epoch milliseconds. */
  readonly atMs: number | null
  /** False if the time was taken from a neighbour or from the chat. */
  readonly hasOwnTime: boolean
  readonly isUser: boolean
  readonly model: number
  readonly callCount: number
  /** The results of `packCall`, concatenated. */
  readonly calls: readonly number[]
}

export function packCall(tool: number, status: ToolStatus, paths: readonly number[]): number[] {
  // A damaged body may contain an unknown status. It counts as the first one, as in the list of calls.
  const code = Math.max(0, toolStatuses.indexOf(status))
  return [tool, (paths.length << STATUS_BITS) | code, ...paths]
}

export function packDigest(chat: number, messages: readonly DigestMessage[]): Buffer {
  const length = messages.reduce((sum, { calls }) => sum + MESSAGE_WORDS + calls.length, CHAT_WORDS)
  const words = new Int32Array(length)
  let [timed, firstMs, lastMs] = [0, Infinity, -Infinity]
  let at = CHAT_WORDS
  for (const message of messages) {
    const { atMs } = message
    if (atMs !== null) {
      timed += 1
      if (atMs < firstMs) firstMs = atMs
      if (atMs > lastMs) lastMs = atMs
    }
    at = putMessage(words, at, message)
  }
  words[0] = chat
  words[1] = length
  words[2] = timed
  if (timed > 0) putTime(words, 3, firstMs)
  if (timed > 0) putTime(words, 5, lastMs)
  return Buffer.from(words.buffer)
}

/** @returns the index after the message */
function putMessage(words: Int32Array, at: number, message: DigestMessage): number {
  const { body, atMs, hasOwnTime, isUser, model, callCount, calls } = message
  if (atMs !== null) putTime(words, at, atMs)
  const flags = (isUser ? IS_USER : 0) | (atMs === null ? 0 : HAS_TIME) | (hasOwnTime ? HAS_OWN_TIME : 0)
  words[at + 2] = body
  words[at + 3] = model
  words[at + 4] = (callCount << FLAG_BITS) | flags
  words.set(calls, at + MESSAGE_WORDS)
  return at + MESSAGE_WORDS + calls.length
}

/**
 * Replaces one message in a chat's digest, found by its body. The chat's first and last time stay the same.
 * @param message the new state of the message; its time must be unchanged
 * @returns null if the digest does not contain the message
 */
export function replaceInDigest(digest: Buffer, message: DigestMessage): Buffer | null {
  const walk = new DigestWalk(digest)
  const place = walk.nextChat() ? walk.find(message.body) : null
  if (place === null) return null
  const words = place.words
  const entry = new Int32Array(MESSAGE_WORDS + message.calls.length)
  putMessage(entry, 0, message)
  const next = new Int32Array(words.length - (place.end - place.start) + entry.length)
  next.set(words.subarray(0, place.start))
  next.set(entry, place.start)
  next.set(words.subarray(place.end), place.start + entry.length)
  next[1] = next.length
  return Buffer.from(next.buffer)
}

function putTime(words: Int32Array, at: number, ms: number): void {
  const upper = Math.floor(ms / HALF)
  words[at] = upper
  words[at + 1] = ms - upper * HALF
}

/** Walks digests by chat, message and call. It allocates no objects, so it causes no garbage collection. */
export class DigestWalk {
  readonly #words: Int32Array
  #chat = 0
  #chatEnd = 0
  #at = 0
  #next = 0
  #call = 0
  // Facts that every message is asked for are decoded once into plain fields: the search processes run without inlining.
  /** Epoch milliseconds; undefined in meaning unless `hasTime` is true. */
  atMs = 0
  hasTime = false
  hasOwnTime = false
  isUser = false
  model = 0
  callCount = 0

  /** @param digests one digest, or several concatenated */
  constructor(digests: Buffer) {
    const bytes = digests.byteOffset % 4 === 0 ? digests : new Uint8Array(digests)
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 4))
  }

  /** Moves to the next chat, before its first message. @returns false after the last chat */
  nextChat(): boolean {
    this.#chat = this.#chatEnd
    const length = this.#word(this.#chat + 1)
    if (length < CHAT_WORDS || this.#chat + length > this.#words.length) return false
    this.#chatEnd = this.#chat + length
    this.#next = this.#chat + CHAT_WORDS
    return true
  }

  get chat(): number {
    return this.#word(this.#chat)
  }

  /** How many messages have a time. If 0, `firstMs` and `lastMs` have no meaning. */
  get timed(): number {
    return this.#word(this.#chat + 2)
  }

  /** Epoch milliseconds. */
  get firstMs(): number {
    return this.#time(this.#chat + 3)
  }

  /** Epoch milliseconds. */
  get lastMs(): number {
    return this.#time(this.#chat + 5)
  }

  /** Moves to the chat's next message, before its first call. @returns false after the last message */
  next(): boolean {
    this.#at = this.#next
    if (this.#at >= this.#chatEnd) return false
    const words = this.#words
    const flags = words[this.#at + 4] ?? 0
    this.atMs = (words[this.#at] ?? 0) * HALF + ((words[this.#at + 1] ?? 0) >>> 0)
    this.model = words[this.#at + 3] ?? 0
    this.isUser = (flags & IS_USER) !== 0
    this.hasTime = (flags & HAS_TIME) !== 0
    this.hasOwnTime = (flags & HAS_OWN_TIME) !== 0
    this.callCount = flags >> FLAG_BITS
    this.#call = this.#at + MESSAGE_WORDS
    let next = this.#call
    for (let left = this.callCount; left > 0; left -= 1) next += CALL_WORDS + ((words[next + 1] ?? 0) >> STATUS_BITS)
    this.#next = next
    return true
  }

  /** Moves to the chat's message with this body. @returns its range in the array; null if there is none */
  find(body: number): { readonly words: Int32Array; readonly start: number; readonly end: number } | null {
    while (this.next()) if (this.body === body) return { words: this.#words, start: this.#at, end: this.#next }
    return null
  }

  get body(): number {
    return this.#word(this.#at + 2) >>> 0
  }

  /** The message's calls in their packed form. */
  get calls(): number[] {
    return [...this.#words.subarray(this.#at + MESSAGE_WORDS, this.#next)]
  }

  /** Tool of the current call. After `next`, that is the message's first call. */
  get tool(): number {
    return this.#word(this.#call)
  }

  /** Index into `toolStatuses`. */
  get status(): number {
    return this.#word(this.#call + 1) & STATUS_MASK
  }

  get pathCount(): number {
    return this.#word(this.#call + 1) >> STATUS_BITS
  }

  path(index: number): number {
    return this.#word(this.#call + CALL_WORDS + index)
  }

  /** Moves to the message's next call. There are `callCount` calls. */
  nextCall(): void {
    this.#call += CALL_WORDS + this.pathCount
  }

  #time(at: number): number {
    return this.#word(at) * HALF + (this.#word(at + 1) >>> 0)
  }

  #word(at: number): number {
    return this.#words[at] ?? 0
  }
}
