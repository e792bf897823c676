import { ChatLines, damaged, type Decoded } from '../../archive/chat-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { readArchivedChat } from '../queries/archived/archived-chat.ts'
import { readMessageLines } from '../queries/archived/archived-messages.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { LINE_BYTES_MAX } from './cut-lines.ts'
import { layOut, type LaidOut } from './pack-object.ts'

/** A chat's lines as they stand in the mirror; to be taken within one transaction. Null where there is no such chat. */
export function chatLines(db: Mirror, num: number, origin: string): Iterable<string> | null {
  const chat = readArchivedChat(db, num, origin)
  return chat === null ? null : linesOf(JSON.stringify(chat), readMessageLines(db, num))
}

function* linesOf(first: string, messages: Iterable<string>): Generator<string> {
  yield `${first}\n`
  yield* messages
}

/**
 * A chat as it is to be archived, every line of it looked at as a restore would: what could not be read back is not
 * written. Null where the chat was purged meanwhile.
 * @param origin the mirror's identity
 */
export function layOutChat(db: Mirror, num: number, origin: string): Decoded<LaidOut> | null {
  return inSnapshot(db, () => {
    try {
      const lines = chatLines(db, num, origin)
      return lines === null ? null : layOutFit(lines)
    } catch (error) {
      // So says JavaScript that a text is longer than it can hold, or too deep, or no JSON. Of the disk it says otherwise.
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

/** Lines up to the first that an archive cannot hold. */
class FitLines implements Iterable<string> {
  /** What is wrong with that one. */
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
  // The line feed is none of the line.
  const bytes = Buffer.byteLength(line) - 1
  if (bytes > LINE_BYTES_MAX) return `a line of it is ${bytes} bytes long`
  const message = read.take(line.slice(0, -1))
  return message.kind === 'damaged' ? message.why : null
}
