import type { ChatId, MessageId } from '../../model/ids.ts'
import { queuePurge } from '../hub/own-side.ts'
import type { Mirror } from '../open.ts'
import { parseParts } from '../parse-parts.ts'
import { prepared } from '../prepared.ts'
import { listChildren } from '../projects/write-projects.ts'
import { emptyBatch } from '../write/batch.ts'
import { fillTitles } from '../write/chats/chat-columns.ts'
import { nextRevision } from '../write/revision.ts'
import { writeBatch } from '../write/write-batch.ts'
import { barChat, barMessage, Bars, barText } from './bars.ts'
import { dropChat, dropMessage, dropSayings, type GoingMessage } from './drop-chat.ts'
import { FACTS, type Fact, type PurgeTargets } from './find-targets.ts'
import { forgetWords } from './forget-words.ts'
import { noteStage } from './stages.ts'

/** Bars what a purge removes, before anything is removed: it cannot come in, and is removed even after a crash. */
export const barTargets = (db: Mirror, { chatIds, messages, facts }: PurgeTargets): void =>
  db.transaction(() => {
    for (const id of chatIds) {
      barChat(db, id)
      queuePurge(db, id, '')
    }
    for (const { chatId, id, texts } of messages) {
      barMessage(db, chatId, id)
      for (const text of texts) barText(db, chatId, text)
      queuePurge(db, chatId, id)
    }
    for (const { chatId, text } of facts) {
      barText(db, chatId, text)
      queuePurge(db, chatId, null)
    }
    noteStage(db, 'known')
  })()

const LIST_IDS = `
select id from chats union select chat_id from heads union select chat_id from tracked
union select chat_id from evidence union select chat_id from chat_paths
`

/**
 * Removes from the mirror whatever is barred: rows, and words that nothing contains any more. A chat is one transaction,
 * so after a crash it can simply run again. Then only unused places of the file can contain bytes of what was removed: see
 * `compact`. Call it, too, for a mirror that was put back from before a purge.
 * @param chatIds only these chats have something of it; null if that is unknown
 */
export function honourBars(db: Mirror, nowMs: number, chatIds: Iterable<ChatId> | null): void {
  // Overwrites removed content also in pages that stay in use.
  db.pragma('secure_delete = on')
  // Keeps former pages out of temporary files.
  db.pragma('temp_store = memory')
  const bars = new Bars(db)
  for (const id of chatIds ?? prepared<ChatId>(db, LIST_IDS).pluck().all()) {
    db.transaction(() => (bars.hasChat(id) ? removeChat(db, id, nowMs) : removeParts(db, bars, id, nowMs)))()
  }
  fillTitles(db)
  forgetWords(db)
  noteStage(db, 'rows')
}

const FIND_CHAT = `
select num, source,
  exists (select 1 from messages where chat = num) or exists (select 1 from outlines where chat = num) as hasRows
from chats where id = ?
`
const LIST_MESSAGES = `
select key, chat, messages.id, body, is_shadowed as isShadowed, parts
from messages join bodies on bodies.num = messages.body where chat = ?
`

interface ChatRow {
  readonly num: number
  readonly source: number
  readonly hasRows: number
}
type MessageRow = GoingMessage & { readonly id: MessageId; readonly parts: string }

const findChat = (db: Mirror, id: ChatId): ChatRow | undefined => prepared<ChatRow>(db, FIND_CHAT).get(id)

const listMessages = (db: Mirror, chat: ChatRow | undefined): readonly MessageRow[] =>
  chat === undefined ? [] : prepared<MessageRow>(db, LIST_MESSAGES).all(chat.num)

function removeChat(db: Mirror, id: ChatId, nowMs: number): void {
  const children = listChildren(db, id)
  const chat = findChat(db, id)
  for (const message of listMessages(db, chat)) dropMessage(db, message)
  dropSayings(db, id, () => {
    if (chat !== undefined) dropChat(db, chat.num)
  })
  // A child may no longer count as a subagent without this chat.
  for (const child of children) update(db, child, nowMs)
}

const REMOVE_FACT = [
  `update heads set name = null where chat_id = @id and name = @text`,
  `update heads set branch = null where chat_id = @id and branch = @text`,
  `delete from chat_paths where chat_id = @id and uri = @text`,
  `update chats set summary = null where id = @id and summary = @text`,
  `update chats set todos = (
    select nullif(json_group_array(json(value)), '[]') from json_each(todos) where value ->> 'content' <> @text
  ) where id = @id and todos is not null`,
  `update chats set revision = @revision where id = @id`,
  // It is indexed again without the text.
  `delete from chat_terms where rowid = (select num from chats where id = @id)`,
]

function removeParts(db: Mirror, bars: Bars, id: ChatId, nowMs: number): void {
  const messages = listMessages(db, findChat(db, id))
  const going = messages.filter((one) => bars.hasMessage(id, one.id, () => parseParts(one.parts)))
  for (const message of going) dropMessage(db, message)
  const facts = bars.hasTexts ? prepared<Fact>(db, `select * from (${FACTS}) where chatId = ?`).all(id) : []
  const barred = facts.filter(({ text }) => bars.hasText(id, text))
  const revision = barred.length > 0 ? nextRevision(db) : 0
  for (const { text } of barred) for (const sql of REMOVE_FACT) prepared(db, sql).run({ id, text, revision })
  if (going.length > 0 || barred.length > 0) update(db, id, nowMs)
}

/** Derives title, counts and order of a chat again from what is left. An empty chat is removed. */
function update(db: Mirror, id: ChatId, nowMs: number): void {
  const chat = findChat(db, id)
  if (chat === undefined) return
  if (chat.hasRows === 0) return dropSayings(db, id, () => dropChat(db, chat.num))
  const write = { id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
  writeBatch(db, { ...emptyBatch, source: chat.source, nowMs, chats: [write] })
}
