import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const NEXT_REVISION = `select coalesce(max(revision), 0) + 1 as revision from chats`

/** Grows with every change of a chat or of what belongs to it, so that a reader can ask what changed since it looked. */
export function nextRevision(db: Mirror): number {
  return prepared<{ revision: number }>(db, NEXT_REVISION).get()?.revision ?? 1
}

const TOUCH = `update chats set revision = ? where id = ?`

/** Something changed that stands in no column of the chat. */
export function touchChat(db: Mirror, id: ChatId): void {
  prepared(db, TOUCH).run(nextRevision(db), id)
}
