import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { lineHash } from '../../archive/chat-file.ts'

/** Text is packed so much at a time: a gzip file may have several members, and a chat of any length needs no more memory. */
const MEMBER_CHARS = 4 * 1024 * 1024

/** Half the work of the usual 6 for 4% more bytes, measured on the text of programs; on chats made up, for none. */
const options = { level: 4 }

/** A chat as it is archived, but for the end of its text, which is not packed yet. */
export interface LaidOut {
  readonly content: string
  /** Of each line behind the first. */
  readonly messages: readonly string[]
  readonly members: readonly Buffer[]
  readonly rest: Buffer
}

/** A chat, packed, that is not yet under its name. */
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

/** Packs the end in a thread of libuv's, several chats at once: most are no longer than that. */
export async function packRest({ content, messages, members, rest }: LaidOut): Promise<PackedObject> {
  const all = rest.length === 0 ? members : [...members, await pack(rest, options)]
  const object = createHash('sha256')
  for (const member of all) object.update(member)
  const bytes = sizeOf(all)
  return { hash: object.digest('hex'), content, bytes, messages, members: all }
}

/** Bytes of memory that it takes. */
export const heldBy = ({ members, rest }: LaidOut): number => sizeOf(members) + rest.length

const sizeOf = (buffers: readonly Buffer[]): number => buffers.reduce((sum, { length }) => sum + length, 0)
