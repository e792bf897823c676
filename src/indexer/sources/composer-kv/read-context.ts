import type Database from 'better-sqlite3'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import type { ChatId } from '../../../model/ids.ts'
import { contextRange, splitContextKey } from './keys.ts'
import type { RowRef } from './read.ts'

const LIST_HOMELESS = `
select id from chats where source = ? and (project is null or project_source = 'files') order by last_activity_at desc
`

/** Chats of this source of which nothing tells where they belong, newest first. */
export const listHomeless = (mirror: Mirror, source: number): ChatId[] =>
  prepared<{ id: ChatId }>(mirror, LIST_HOMELESS)
    .all(source)
    .map(({ id }) => id)

const FIND_CONTEXT = `select key, rowid from cursorDiskKV where key > ? and key < ? order by key limit 1`

/** One row of what was sent along with a chat's requests, out of the index alone. */
export function findContext(db: Database.Database, chatId: ChatId): RowRef | null {
  const { from, to } = contextRange(chatId)
  const row = prepared<RowRef>(db, FIND_CONTEXT).get(from, to)
  // The range of one chat's keys also holds those of a chat whose id goes on after a colon.
  return row !== undefined && splitContextKey(row.key) === chatId ? row : null
}
