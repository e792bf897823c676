import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { ChatLines, damaged, Damage, lineHash, type Decoded } from '../../archive/chat-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { readArchivedChat, readMessageLines } from '../queries/archived/archived-chat.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { LINE_BYTES_MAX } from './prove-object.ts'

/** A packed chat that is not written yet. */
export interface PackedObject {
  /** Its name: SHA-256 of its bytes. */
  readonly hash: string
  /** SHA-256 of its text. */
  readonly content: string
  /** The hash of each line after the first. */
  readonly messages: readonly string[]
  readonly members: readonly Buffer[]
  readonly bytes: number
}

/**
 * A chat as an object of an archive. Every line is checked as a restore checks it, so nothing is written that cannot be
 * restored. Null if the chat was purged meanwhile.
 * @param origin the mirror's identity
 * @param change rewrites the lines, for a reader who may not see everything
 */
export function packObject(
  db: Mirror,
  num: number,
  origin: string,
  change: (lines: Iterable<string>) => Iterable<string> = (lines) => lines,
): Decoded<PackedObject> | null {
  return inSnapshot(db, () => {
    const chat = readArchivedChat(db, num, origin)
    if (chat === null) return null
    try {
      return { kind: 'sound', value: packLines(fitLines(change(chatLines(JSON.stringify(chat), db, num)))) }
    } catch (error) {
      // JavaScript throws these for a text that is too long, nested too deep or no JSON. Errors of the disk are others.
      if (error instanceof Damage || error instanceof RangeError || error instanceof SyntaxError) {
        return damaged(error.message)
      }
      throw error
    }
  })
}

function* chatLines(first: string, db: Mirror, num: number): Generator<string> {
  yield `${first}\n`
  yield* readMessageLines(db, num)
}

/** @throws Damage at the first line that cannot be archived */
function* fitLines(lines: Iterable<string>): Generator<string> {
  const read = new ChatLines()
  for (const line of lines) {
    const bytes = Buffer.byteLength(line) - 1
    if (bytes > LINE_BYTES_MAX) throw new Damage(`a line of it is ${bytes} bytes long`)
    read.take(line.slice(0, -1))
    yield line
  }
  read.end()
}

/** Length of the text in one gzip member. With several members, a long chat needs no more memory than a short one. */
const MEMBER_CHARS = 4 * 1024 * 1024

/** Takes half the time of the default level 6 and makes source code 4% larger, as measured. */
const options = { level: 4 }

/** @param lines of a chat and its messages, with line feeds */
export function packLines(lines: Iterable<string>): PackedObject {
  const content = createHash('sha256')
  const object = createHash('sha256')
  const hashes: string[] = []
  const members: Buffer[] = []
  let waiting: string[] = []
  let chars = 0
  const pack = (): void => {
    const text = waiting.join('')
    if (text === '') return
    content.update(text)
    const member = gzipSync(text, options)
    object.update(member)
    members.push(member)
    waiting = []
    chars = 0
  }
  for (const line of lines) {
    hashes.push(lineHash(line.slice(0, -1)))
    waiting.push(line)
    chars += line.length
    if (chars >= MEMBER_CHARS) pack()
  }
  pack()
  const bytes = members.reduce((sum, { length }) => sum + length, 0)
  return { hash: object.digest('hex'), content: content.digest('hex'), messages: hashes.slice(1), members, bytes }
}
