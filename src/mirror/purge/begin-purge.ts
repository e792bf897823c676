import type { ChatId, MessageId } from '../../model/ids.ts'
import { queuePurge } from '../hub/own-side.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { addTitleTerms } from '../write/chats/chat-columns.ts'
import { nextRevision } from '../write/revision.ts'
import type { PurgeTargets } from './find-targets.ts'
import { matchingTexts, removedTexts, type MessageText, type RemovedText } from './message-texts.ts'
import { needlesOf, type PurgeScope } from './scope.ts'
import { addTombstones } from './tombstones.ts'

/** What an archive has of what is removed, and the mirror does not have. */
export interface ArchivedTargets {
  readonly chatIds: readonly ChatId[]
  readonly messages: readonly { readonly chatId: ChatId; readonly id: MessageId }[]
  /** Texts of these messages and of their chats that contain the text. */
  readonly texts: readonly RemovedText[]
}

const ADD_PURGE = `insert into purges (begun_at) values (?)`
const ADD_TARGET = `insert into purge_targets (kind, name) values (?, ?) on conflict do nothing`
const READ_MESSAGE = `
select messages.chat, messages.id, chats.id as chatId, bodies.parts
from messages join chats on chats.num = messages.chat join bodies on bodies.num = messages.body
where messages.key = ?
`
const IS_IN_MIRROR = `select 1 from chats where id = ?`

interface MessageRow {
  readonly chat: number
  readonly id: MessageId
  readonly chatId: ChatId
  readonly parts: string
}

/** Names a message to be removed. Not by its key: that changes with its time if a pass writes in between. */
export const targetName = (chat: number, id: MessageId | string): string => JSON.stringify([chat, id])

/**
 * Notes, in one transaction, what is removed: from then on it cannot come back, and is removed even after a crash. Only
 * the names and other facts of chats are removed here.
 */
export function beginPurge(
  db: Mirror,
  scope: PurgeScope,
  targets: PurgeTargets,
  archived: ArchivedTargets,
  nowMs: number,
): void {
  const needles = scope.match === null ? null : needlesOf(scope.match)
  db.transaction(() => {
    prepared(db, ADD_PURGE).run(nowMs)
    const target = prepared(db, ADD_TARGET)
    const gone = archived.chatIds.filter((id) => prepared(db, IS_IN_MIRROR).get(id) === undefined)
    addTombstones(db, { ...archived, chats: [...targets.chatIds, ...gone] })
    for (const id of targets.chatIds) target.run('chat', id)
    for (const id of [...targets.chatIds, ...gone]) queuePurge(db, id, '')
    for (const { chatId, id } of archived.messages) queuePurge(db, chatId, id)
    for (const key of [...targets.messages.values()].flatMap((keys) => [...keys])) {
      const row = prepared<MessageRow>(db, READ_MESSAGE).get(BigInt(key))
      if (row === undefined) continue
      target.run('message', targetName(row.chat, row.id))
      queuePurge(db, row.chatId, row.id)
      const texts = needles === null ? [] : removedTexts(row.chatId, matchingTexts(row.parts, needles), scope)
      addTombstones(db, { messages: [row], texts })
    }
    for (const [id, texts] of targets.facts) {
      addTombstones(db, { texts: removedTexts(id, texts, scope) })
      removeFacts(db, id, texts)
      queuePurge(db, id, null)
      // The title follows from the facts: `removeTargets` derives it again.
      target.run('facts', id)
    }
  })()
}

const REMOVE_FACT = [
  `update heads set name = null where chat_id = ? and name = ?`,
  `update heads set branch = null where chat_id = ? and branch = ?`,
  `delete from chat_paths where chat_id = ? and uri = ?`,
]
const READ_CHAT = `select num, title, summary, todos from chats where id = ?`
const SAVE_CHAT = `update chats set summary = ?, todos = ?, revision = ? where num = ?`
const DROP_TITLE = `delete from chat_terms where rowid = ?`

interface ChatTexts {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly todos: string | null
}

function removeFacts(db: Mirror, id: ChatId, facts: readonly MessageText[]): void {
  const texts = new Set(facts.map(({ text }) => text))
  for (const text of texts) for (const sql of REMOVE_FACT) prepared(db, sql).run(id, text)
  const chat = prepared<ChatTexts>(db, READ_CHAT).get(id)
  if (chat === undefined) return
  const summary = chat.summary !== null && texts.has(chat.summary) ? null : chat.summary
  const all = JSON.parse(chat.todos ?? '[]') as readonly { readonly content: string }[]
  const left = all.filter(({ content }) => !texts.has(content))
  const todos = left.length === all.length ? chat.todos : left.length === 0 ? null : JSON.stringify(left)
  if (summary === chat.summary && todos === chat.todos) return
  prepared(db, SAVE_CHAT).run(summary, todos, nextRevision(db), chat.num)
  prepared(db, DROP_TITLE).run(BigInt(chat.num))
  addTitleTerms(db, chat.num, { title: chat.title, summary, todos })
}
