import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

const NEXT_REVISION = `select coalesce(max(revision), 0) + 1 as revision from chats`

/** Grows with every write of a chat, so that a reader can ask what changed since it last looked. */
export function nextRevision(db: Mirror): number {
  return prepared<{ revision: number }>(db, NEXT_REVISION).get()?.revision ?? 1
}
