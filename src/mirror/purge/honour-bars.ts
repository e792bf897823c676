import type { ChatId, MessageId } from '../../model/ids.ts'
import { queuePurge } from '../hub/own-side.ts'
import type { Mirror } from '../open.ts'
import { parseParts } from '../parse-parts.ts'
import { prepared } from '../sql.ts'
import { listChildren } from '../projects/place-chats.ts'
import { emptyBatch } from '../write/batch.ts'
import { addTitleTerms, nextRevision } from '../write/chat-columns.ts'
import { writeBatch } from '../write/write.ts'
import { addBars, Bars } from './bars.ts'
import { dropChat, dropMessage, dropSayings, type GoingMessage } from './drop-chat.ts'
import { FACTS, type Fact, type PurgeTargets } from './find-targets.ts'
import { forgetWords } from './forget-words.ts'
import { matchingTexts } from './message-texts.ts'
import { needlesOf, type PurgeScope } from './scope.ts'
import { beginStages, noteStage } from './stages.ts'

const READ_MESSAGE = `
select chats.id as chatId, messages.id, bodies.parts
from messages join chats on chats.num = messages.chat join bodies on bodies.num = messages.body
where messages.key = ?
`

/**
 * Bars what a purge removes, before anything is removed: from then on it cannot come in, and is removed even after a crash.
 * @returns the chats that have something of it
 */
export function barTargets(db: Mirror, { match, beforeMs }: PurgeScope, targets: PurgeTargets): ReadonlySet<ChatId> {
  // After a purge up to a time, the same text may come later.
  const needles = match === null || beforeMs !== null ? null : needlesOf(match)
  return db.transaction(() => {
    const touched = new Set(targets.chatIds)
    addBars(db, { chatIds: targets.chatIds, messages: [], texts: targets.facts })
    for (const id of targets.chatIds) queuePurge(db, id, '')
    for (const { chatId } of targets.facts) {
      queuePurge(db, chatId, null)
      touched.add(chatId)
    }
    for (const key of targets.keys) {
      const row = prepared<{ chatId: ChatId; id: MessageId; parts: string }>(db, READ_MESSAGE).get(BigInt(key))
      if (row === undefined) continue
      const texts = needles === null ? [] : matchingTexts(row.parts, needles)
      addBars(db, { chatIds: [], messages: [row], texts: texts.map((text) => ({ chatId: row.chatId, text })) })
      queuePurge(db, row.chatId, row.id)
      touched.add(row.chatId)
    }
    beginStages(db)
    return touched
  })()
}

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
export function* honourBars(db: Mirror, nowMs: number, chatIds: Iterable<ChatId> | null): Generator<void, void> {
  // Overwrites removed content also in pages that stay in use.
  db.pragma('secure_delete = on')
  // Keeps former pages out of temporary files.
  db.pragma('temp_store = memory')
  const bars = new Bars(db)
  for (const id of chatIds ?? prepared<ChatId>(db, LIST_IDS).pluck().all()) {
    db.transaction(() => (bars.hasChat(id) ? removeChat(db, id, nowMs) : removeParts(db, bars, id, nowMs)))()
    yield
  }
  yield* forgetWords(db)
  noteStage(db, 'rows')
}

const FIND_CHAT = `select num, source, title, summary, todos from chats where id = ?`
const LIST_MESSAGES = `select key, chat, id, body, is_shadowed as isShadowed from messages where chat = ?`
const LIST_BODIES = `
select key, chat, messages.id, body, is_shadowed as isShadowed, parts
from messages join bodies on bodies.num = messages.body where chat = ?
`
const HAS_ROWS = `select 1 from messages where chat = @num union all select 1 from outlines where chat = @num limit 1`

interface ChatRow {
  readonly num: number
  readonly source: number
  readonly title: string
  readonly summary: string | null
  readonly todos: string | null
}

const findChat = (db: Mirror, id: ChatId): ChatRow | undefined => prepared<ChatRow>(db, FIND_CHAT).get(id)

function removeChat(db: Mirror, id: ChatId, nowMs: number): void {
  const children = listChildren(db, id)
  const chat = findChat(db, id)
  for (const message of prepared<GoingMessage>(db, LIST_MESSAGES).all(chat?.num ?? -1)) dropMessage(db, message)
  dropSayings(db, id, () => {
    if (chat !== undefined) dropChat(db, chat.num)
  })
  // A child may no longer count as a subagent without this chat.
  for (const child of children) update(db, child, nowMs)
}

function removeParts(db: Mirror, bars: Bars, id: ChatId, nowMs: number): void {
  const chat = findChat(db, id)
  const messages = prepared<GoingMessage & { id: MessageId; parts: string }>(db, LIST_BODIES).all(chat?.num ?? -1)
  const going = messages.filter((one) => bars.hasMessage(id, one.id, () => parseParts(one.parts)))
  for (const message of going) dropMessage(db, message)
  const facts = prepared<Fact>(db, `select text from (${FACTS}) where chatId = ?`).all(bars.hasTexts ? id : null)
  const texts = new Set(facts.map(({ text }) => text).filter((text) => bars.hasText(id, text)))
  if (texts.size > 0) removeFacts(db, id, texts)
  if (going.length > 0 || texts.size > 0) update(db, id, nowMs)
}

/** Derives title, counts and order of a chat again from what is left. An empty chat is removed. */
function update(db: Mirror, id: ChatId, nowMs: number): void {
  const chat = findChat(db, id)
  if (chat === undefined) return
  if (prepared(db, HAS_ROWS).get({ num: chat.num }) === undefined)
    return dropSayings(db, id, () => dropChat(db, chat.num))
  const write = { id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
  writeBatch(db, { ...emptyBatch, source: chat.source, nowMs, chats: [write] })
}

const REMOVE_FACT = [
  `update heads set name = null where chat_id = ? and name = ?`,
  `update heads set branch = null where chat_id = ? and branch = ?`,
  `delete from chat_paths where chat_id = ? and uri = ?`,
]
const SAVE_CHAT = `update chats set summary = ?, todos = ?, revision = ? where num = ?`
const DROP_TITLE = `delete from chat_terms where rowid = ?`

function removeFacts(db: Mirror, id: ChatId, texts: ReadonlySet<string>): void {
  for (const text of texts) for (const sql of REMOVE_FACT) prepared(db, sql).run(id, text)
  const chat = findChat(db, id)
  if (chat === undefined) return
  const summary = chat.summary !== null && texts.has(chat.summary) ? null : chat.summary
  const all = JSON.parse(chat.todos ?? '[]') as readonly { readonly content: string }[]
  const left = all.filter(({ content }) => !texts.has(content))
  const todos = left.length === 0 ? null : JSON.stringify(left)
  prepared(db, SAVE_CHAT).run(summary, todos, nextRevision(db), chat.num)
  prepared(db, DROP_TITLE).run(BigInt(chat.num))
  addTitleTerms(db, chat.num, { title: chat.title, summary, todos })
}
