import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { dropChat, dropMessage, dropUnusedProject, type GoingMessage } from '../purge/drop-chat.ts'
import { HUB } from '../sources/sources.ts'
import { writeState } from './own-side.ts'

/** Better than all other evidence of a pulled chat, and used for nothing else. */
export const HUB_RANK = 73

/** The root of a project that was made for pulled chats starts with this. */
export const HUB_ROOT = 'cursordex-hub:///'

const FIND = `select num from chats where id = ? and machine is not null`
const LIST_MESSAGES = `select key, chat, id, body, is_shadowed as isShadowed from messages where chat = ?`
const PROJECTS_OF = `select project from evidence where chat_id = ? and rank = ${HUB_RANK}`
const FORGET = [
  ...['chat_metadata', 'tracked'].map(
    (table) => `delete from ${table} where chat_id = ? and source in (select num from sources where kind = '${HUB}')`,
  ),
  `delete from evidence where chat_id = ? and rank = ${HUB_RANK}`,
  `delete from chat_links where parent_id = ?`,
]

/**
 * Removes a pulled copy, in the caller's transaction. Removed content is overwritten. Does nothing if the chat is not in the
 * mirror, or is one of this machine.
 * @param kept ids of messages that come back at once. Somebody may have taken back the others: then their words go too, at
 *   the end of the pull
 */
export function dropCopy(db: Mirror, chat: string, kept: ReadonlySet<string> = new Set()): void {
  const num = prepared<number>(db, FIND).pluck().get(chat)
  if (num === undefined) return
  db.pragma('secure_delete = on')
  const projects = prepared<number>(db, PROJECTS_OF).pluck().all(chat)
  const messages = prepared<GoingMessage>(db, LIST_MESSAGES).all(num)
  if (messages.some(({ id }) => !kept.has(id))) writeState(db, 'words', '1')
  for (const message of messages) dropMessage(db, message)
  for (const sql of FORGET) prepared(db, sql).run(chat)
  dropChat(db, num)
  for (const project of projects) dropUnusedProject(db, project)
}
