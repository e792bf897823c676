import { ChatLines, damaged, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { readArchivedChat } from '../queries/archived/archived-chat.ts'
import { readMessageLines } from '../queries/archived/archived-messages.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { LINE_BYTES_MAX } from './unpack-lines.ts'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'

/** A chat's lines from the mirror, to be read within one transaction. Null if there is no such chat. */
export function chatLines(db: Mirror, num: number, origin: string): Iterable<string> | null {
  const chat = readArchivedChat(db, num, origin)
  return chat === null ? null : linesOf(JSON.stringify(chat), readMessageLines(db, num))
}

function* linesOf(first: string, messages: Iterable<string>): Generator<string> {
  yield `${first}\n`
  yield* messages
}

/**
 * A chat prepared for an archive. Every line is checked as a restore checks it, so nothing is written that cannot be
 * restored. Null if the chat was purged meanwhile.
 * @param origin the mirror's identity
 * @param change rewrites the lines, for a reader who may not see everything
 */
export function layOutChat(
  db: Mirror,
  num: number,
  origin: string,
  change: (lines: Iterable<string>) => Iterable<string> = (lines) => lines,
): Decoded<LaidOut> | null {
  return inSnapshot(db, () => {
    try {
      const lines = chatLines(db, num, origin)
      return lines === null ? null : layOutFit(change(lines))
    } catch (error) {
      // JavaScript throws these for a text that is too long, nested too deep or no JSON. Errors of the disk are others.
      if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error
      return damaged(error.message)
    }
  })
}

function layOutFit(lines: Iterable<string>): Decoded<LaidOut> {
  const fit = new FitLines(lines)
  const laidOut = layOut(fit)
  return fit.why === null ? { kind: 'sound', value: laidOut } : damaged(fit.why)
}

/** The lines before the first one that cannot be archived. */
class FitLines implements Iterable<string> {
  /** What is wrong with that line. */
  why: string | null = null
  readonly #lines: Iterable<string>

  constructor(lines: Iterable<string>) {
    this.#lines = lines
  }

  *[Symbol.iterator](): Generator<string> {
    const read = new ChatLines()
    for (const line of this.#lines) {
      this.why = whyUnfit(read, line)
      if (this.why !== null) return
      yield line
    }
    const chat = read.end()
    if (chat.kind === 'damaged') this.why = chat.why
  }
}

function whyUnfit(read: ChatLines, line: string): string | null {
  // Without the line feed.
  const bytes = Buffer.byteLength(line) - 1
  if (bytes > LINE_BYTES_MAX) return `a line of it is ${bytes} bytes long`
  const message = read.take(line.slice(0, -1))
  return message.kind === 'damaged' ? message.why : null
}

/** Length of the text in one gzip member. With several members, a long chat needs no more memory than a short one. */
const MEMBER_CHARS = 4 * 1024 * 1024

/** Takes half the time of the default level 6 and makes source code 4% larger, as measured. */
const options = { level: 4 }

/** A chat whose text is packed except for the last piece. */
export interface LaidOut {
  readonly content: string
  /** The hash of each line after the first. */
  readonly messages: readonly string[]
  readonly members: readonly Buffer[]
  readonly rest: Buffer
}

/** A packed chat that is not written yet. */
export interface PackedObject extends Omit<LaidOut, 'rest'> {
  readonly hash: string
  readonly bytes: number
}

/** @param lines as `encodeChat` gives them */
export function layOut(lines: Iterable<string>): LaidOut {
  const content = createHash('sha256')
  const hashes: string[] = []
  const members: Buffer[] = []
  let waiting: string[] = []
  let chars = 0
  const take = (): Buffer => {
    const text = Buffer.from(waiting.join(''))
    content.update(text)
    waiting = []
    chars = 0
    return text
  }
  for (const line of lines) {
    hashes.push(lineHash(line.slice(0, -1)))
    waiting.push(line)
    chars += line.length
    if (chars >= MEMBER_CHARS) members.push(gzipSync(take(), options))
  }
  const rest = take()
  return { content: content.digest('hex'), messages: hashes.slice(1), members, rest }
}

const pack = promisify<Buffer, typeof options, Buffer>(gzip)

/** Packs the last piece in a thread of libuv, so that several chats are packed at the same time. Most chats have only one piece. */
export async function packRest({ content, messages, members, rest }: LaidOut): Promise<PackedObject> {
  const all = rest.length === 0 ? members : [...members, await pack(rest, options)]
  const object = createHash('sha256')
  for (const member of all) object.update(member)
  const bytes = sizeOf(all)
  return { hash: object.digest('hex'), content, bytes, messages, members: all }
}

/** Its size in memory, in bytes. */
export const heldBy = ({ members, rest }: LaidOut): number => sizeOf(members) + rest.length

const sizeOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, { length }) => sum + length, 0)
