import type { Mirror } from '../../mirror/open.ts'
import { readArchivedChat } from '../queries/archived-chat.ts'
import { readMessageLines } from '../queries/archived-messages.ts'
import { inSnapshot } from '../queries/snapshot.ts'
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

/** Null where the chat was purged meanwhile. @param origin the mirror's identity */
export function layOutChat(db: Mirror, num: number, origin: string): LaidOut | null {
  return inSnapshot(db, () => {
    const lines = chatLines(db, num, origin)
    return lines === null ? null : layOut(lines)
  })
}
