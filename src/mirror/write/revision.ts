import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const NEXT_REVISION = `select coalesce(max(revision), 0) + 1 as revision from chats`

/** The next revision. Every change of a chat, or of data that belongs to it, uses one, so readers can ask for changes. */
export function nextRevision(db: Mirror): number {
  return prepared<{ revision: number }>(db, NEXT_REVISION).get()?.revision ?? 1
}

const TOUCH = `update chats set revision = ? where id = ?`

/** Gives a chat a new revision after a change outside its own columns. */
export function touchChat(db: Mirror, id: ChatId): void {
  prepared(db, TOUCH).run(nextRevision(db), id)
}
