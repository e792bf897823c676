import type Database from 'better-sqlite3'
import type { Mirror } from '../../../../mirror/open.ts'
import { prepared } from '../../../../mirror/prepared.ts'
import type { ChatId } from '../../../../model/ids.ts'
import { contextFamily, contextRange, splitContextKey } from '../keys.ts'
import { tryRead } from '../../../open-safely/try-read.ts'
import type { RowRef } from './read.ts'

const LIST_HOMELESS = `
select id from chats where source = ? and (project is null or project_source = 'files') order by last_activity_at desc
`

/** Chats of this source of which nothing tells where they belong, newest first. */
export const listHomeless = (mirror: Mirror, source: number): ChatId[] =>
  prepared<{ id: ChatId }>(mirror, LIST_HOMELESS)
    .all(source)
    .map(({ id }) => id)

/** Many rows tell of no folder; a chat of hundreds of requests says the same in each of the rest. */
const ROWS_A_CHAT = 8
const LIST_CONTEXTS = `select key, rowid from cursorDiskKV where key > ? and key < ? order by key limit ${ROWS_A_CHAT}`

/** The first rows of what was sent along with a chat's requests, out of the index alone. */
export function listContexts(db: Database.Database, chatId: ChatId): RowRef[] {
  const { from, to } = contextRange(chatId)
  // The range of one chat's keys also holds those of a chat whose id goes on after a colon.
  return prepared<RowRef>(db, LIST_CONTEXTS)
    .all(from, to)
    .filter(({ key }) => splitContextKey(key) === chatId)
}

const HAS_CONTEXTS = `select 1 from cursorDiskKV where key >= ? and key < ? limit 1`

/** On a damaged page none are known. */
export function hasContexts(db: Database.Database): boolean {
  const found = tryRead(() => prepared(db, HAS_CONTEXTS).get(contextFamily.from, contextFamily.to))
  return found !== null && found.value !== undefined
}
