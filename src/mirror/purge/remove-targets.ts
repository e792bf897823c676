import type { ChatId } from '../../model/ids.ts'
import { emptyBatch } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { writeBatch } from '../write/write-batch.ts'
import { listChildren } from '../projects/write-projects.ts'
import { targetName } from './begin-purge.ts'
import { dropChat, dropMessage, dropSayings, type GoingMessage } from './drop-chat.ts'
import { forgetWords } from './forget-words.ts'
import { noteStage, readUnfinished } from './state.ts'

/** How much one transaction removes. */
const MESSAGES_MAX = 1000
const CHATS_MAX = 100

const LIST_TARGETS = `select name from purge_targets where kind = ? limit ${CHATS_MAX}`
const LIST_MESSAGES = `
select messages.key, messages.chat, messages.id, messages.body, messages.is_shadowed as isShadowed
from purge_targets
  join messages on messages.chat = purge_targets.name ->> 0 and messages.id = purge_targets.name ->> 1
where purge_targets.kind = 'message'
order by messages.chat, messages.key limit ${MESSAGES_MAX}
`
const LIST_OF_CHAT = `
select key, chat, id, body, is_shadowed as isShadowed from messages where chat = ? limit ${MESSAGES_MAX}
`
const FIND_CHAT = `select num, id, source from chats where id = ?`
const ID_OF_CHAT = `select id from chats where num = ?`
const DROP_TARGET = `delete from purge_targets where kind = ? and name = ?`
const UPDATE_LATER = `insert into purge_targets (kind, name) values ('facts', ?) on conflict do nothing`
const IS_LEFT = `select 1 from messages where chat = ? and id = ? limit 1`
const DROP_STRAYS = `delete from purge_targets where kind = 'message'`

interface ChatRow {
  readonly num: number
  readonly id: ChatId
  readonly source: number
}

/**
 * Removes from the mirror whatever any purge noted: the rows, and the words that nothing contains any more. It works in
 * transactions of bounded size and continues after a crash. Then only unused places of the file can contain bytes of
 * what was removed: see `endCompaction`.
 */
export function* endRemoval(db: Mirror, nowMs: number): Generator<void, void> {
  if (!readUnfinished(db).rows) return
  // Overwrites removed content also in pages that stay in use.
  db.pragma('secure_delete = on')
  // Keeps former pages out of temporary files.
  db.pragma('temp_store = memory')
  for (const step of [removeChats, removeMessages, updateChats]) {
    while (db.transaction(() => step(db, nowMs))()) yield
  }
  yield* forgetWords(db)
  noteStage(db, 'rows', nowMs)
}

const listTargets = (db: Mirror, kind: 'chat' | 'facts'): ChatId[] =>
  prepared<ChatId>(db, LIST_TARGETS).pluck().all(kind)

function removeChats(db: Mirror): boolean {
  const ids = listTargets(db, 'chat')
  let left = MESSAGES_MAX
  for (const id of ids) {
    const chat = prepared<ChatRow>(db, FIND_CHAT).get(id)
    if (chat !== undefined) {
      const messages = prepared<GoingMessage>(db, LIST_OF_CHAT).all(chat.num)
      for (const message of messages) dropMessage(db, message)
      left -= messages.length
      // The next transaction removes the rest of a long chat.
      if (messages.length === MESSAGES_MAX) return true
    }
    // A child may no longer count as a subagent without this chat.
    for (const child of listChildren(db, id)) prepared(db, UPDATE_LATER).run(child)
    dropSayings(db, id, () => {
      if (chat !== undefined) dropChat(db, chat.num)
    })
    prepared(db, DROP_TARGET).run('chat', id)
    if (left <= 0) return true
  }
  return ids.length > 0
}

function removeMessages(db: Mirror): boolean {
  const messages = prepared<GoingMessage>(db, LIST_MESSAGES).all()
  for (const message of messages) {
    dropMessage(db, message)
    // Another source may have a row of the same message.
    if (prepared(db, IS_LEFT).get(message.chat, message.id) !== undefined) continue
    prepared(db, DROP_TARGET).run('message', targetName(message.chat, message.id))
  }
  // Updating a chat may change the keys of its messages, so it waits until all of them are removed.
  for (const num of new Set(messages.map(({ chat }) => chat))) {
    const id = prepared<ChatId>(db, ID_OF_CHAT).pluck().get(num)
    if (id !== undefined) prepared(db, UPDATE_LATER).run(id)
  }
  if (messages.length === 0) prepared(db, DROP_STRAYS).run()
  return messages.length > 0
}

const HAS_ROWS = `select 1 from messages where chat = @num union all select 1 from outlines where chat = @num limit 1`

/** Derives titles, counts and order of chats again from what is left. An empty chat is removed. */
function updateChats(db: Mirror, nowMs: number): boolean {
  const ids = listTargets(db, 'facts')
  for (const id of ids) {
    prepared(db, DROP_TARGET).run('facts', id)
    const chat = prepared<ChatRow>(db, FIND_CHAT).get(id)
    if (chat === undefined) continue
    if (prepared(db, HAS_ROWS).get({ num: chat.num }) === undefined) {
      dropSayings(db, id, () => dropChat(db, chat.num))
      continue
    }
    const write = { id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
    writeBatch(db, { ...emptyBatch, source: chat.source, nowMs, chats: [write] })
  }
  return ids.length > 0
}
