import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'
import { dropChat, dropMessage, dropSayings, type GoingMessage } from '../../purge/drop-chat.ts'

const ADD_SUPERSEDED = `insert into superseded_messages (chat_id, id) values (?, ?) on conflict do nothing`
const LIST_SUPERSEDED = `select id from superseded_messages where chat_id = ?`

/** Ids of a chat's messages that only an older decoder yielded. A restore skips them. */
export const listSuperseded = (db: Mirror, chatId: ChatId): readonly MessageId[] =>
  prepared<MessageId>(db, LIST_SUPERSEDED).pluck().all(chatId)

/** Deletes a message that only an older decoder yielded, and saves its id. */
export function dropSuperseded(db: Mirror, chatId: ChatId, message: GoingMessage): void {
  dropMessage(db, message)
  prepared(db, ADD_SUPERSEDED).run(chatId, message.id)
}

const LIST_OF_SOURCE = `
select key, chat, id, body, is_shadowed as isShadowed from messages where chat = ? and source = ?
`
const DROP_OUTLINE = `delete from outlines where chat = ? and source = ?`
const IS_LEFT = `
select 1 from messages where chat = @num union all select 1 from outlines where chat = @num limit 1
`

/** Deletes one source's rows of a chat, and the chat itself if no other source has it. @returns whether the chat was deleted */
export function dropSupersededChat(
  db: Mirror,
  { num, id, source }: { readonly num: number; readonly id: ChatId; readonly source: number },
): boolean {
  const messages = prepared<GoingMessage>(db, LIST_OF_SOURCE).all(num, source)
  for (const message of messages) dropSuperseded(db, id, message)
  prepared(db, DROP_OUTLINE).run(num, source)
  if (prepared(db, IS_LEFT).get({ num }) !== undefined) return false
  dropSayings(db, id, () => dropChat(db, num))
  return true
}
