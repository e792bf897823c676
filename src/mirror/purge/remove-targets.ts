import type { ChatId } from '../../model/ids.ts'
import { emptyBatch } from '../write/batch.ts'
import { DigestWords, listCounted, writeDigest } from '../digests/write-digest.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { writeBatch } from '../write/write-batch.ts'
import { listChildren } from '../projects/write-projects.ts'
import { targetName } from './target-name.ts'
import { dropChat, dropMessage, dropSayings, type GoingMessage } from './drop-chat.ts'
import type { Pieces } from './pieces.ts'

/** Messages that one transaction removes, and chats. */
const MESSAGES_MAX = 1000
const CHATS_MAX = 100

const LIST_CHATS = `select name as id from purge_targets where kind = 'chat' limit ${CHATS_MAX}`
const LIST_FACTS = `select name as id from purge_targets where kind = 'facts' limit ${CHATS_MAX}`
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
const READ_PARTS = `select parts from bodies where num = ?`
const FIND_CHAT = `select num, id, source from chats where id = ?`
const CHAT_OF_NUM = `select num, id, source from chats where num = ?`
const DROP_TARGET = `delete from purge_targets where kind = ? and name = ?`
const TELL_LATER = `insert into purge_targets (kind, name) values ('facts', ?) on conflict do nothing`
const IS_LEFT = `select 1 from messages where chat = ? and id = ? limit 1`
const DROP_STRAYS = `delete from purge_targets where kind = 'message'`

interface ChatRow {
  readonly num: number
  readonly id: ChatId
  readonly source: number
}

interface Removing {
  readonly db: Mirror
  readonly nowMs: number
  /** Hears of every body before it goes; null where nobody will look for it. */
  readonly pieces: Pieces | null
}

/**
 * Removes what `beginPurge` noted, in transactions of bounded size: killed between two of them it goes on where it stood.
 * What follows from what is removed (titles, counts, order, places, digests) is made anew with it.
 */
export function* removeTargets(removing: Removing): Generator<void, void> {
  const { db } = removing
  // What is removed is overwritten, in the pages that stay too.
  db.pragma('secure_delete = on')
  // Pages as they were would lie in a temporary file for as long as a statement runs.
  db.pragma('temp_store = memory')
  for (const step of [removeChats, removeMessages, tellFactsAnew]) {
    while (db.transaction(() => step(removing))()) yield
  }
}

function removeChats(removing: Removing): boolean {
  const { db } = removing
  const ids = prepared<{ id: ChatId }>(db, LIST_CHATS).all()
  let left = MESSAGES_MAX
  for (const { id } of ids) {
    const chat = prepared<ChatRow>(db, FIND_CHAT).get(id)
    if (chat !== undefined) {
      const messages = prepared<GoingMessage>(db, LIST_OF_CHAT).all(chat.num)
      for (const message of messages) drop(removing, message)
      left -= messages.length
      // The rest of a long one goes with the next transaction.
      if (messages.length === MESSAGES_MAX) return true
    }
    const children = listChildren(db, id)
    dropSayings(db, id, () => {
      if (chat !== undefined) dropChat(db, chat.num)
    })
    // What was a subagent because this chat said so may be one no more.
    for (const child of children) prepared(db, TELL_LATER).run(child)
    prepared(db, DROP_TARGET).run('chat', id)
    if (left <= 0) return true
  }
  return ids.length > 0
}

function removeMessages(removing: Removing): boolean {
  const { db } = removing
  const messages = prepared<GoingMessage>(db, LIST_MESSAGES).all()
  for (const message of messages) {
    drop(removing, message)
    // Another source may have a row of the same message.
    if (prepared(db, IS_LEFT).get(message.chat, message.id) !== undefined) continue
    prepared(db, DROP_TARGET).run('message', targetName(message.chat, message.id))
  }
  // Not before all of them are gone: telling a chat anew may give its messages other keys.
  for (const num of new Set(messages.map(({ chat }) => chat))) {
    const chat = prepared<ChatRow>(db, CHAT_OF_NUM).get(num)
    if (chat !== undefined) prepared(db, TELL_LATER).run(chat.id)
  }
  if (messages.length === 0) prepared(db, DROP_STRAYS).run()
  return messages.length > 0
}

function tellFactsAnew(removing: Removing): boolean {
  const ids = prepared<{ id: ChatId }>(removing.db, LIST_FACTS)
    .all()
    .map(({ id }) => id)
  tellAnew(removing, ids)
  for (const id of ids) prepared(removing.db, DROP_TARGET).run('facts', id)
  return ids.length > 0
}

function drop({ db, pieces }: Removing, message: GoingMessage): void {
  pieces?.take(prepared<{ parts: string }>(db, READ_PARTS).get(message.body)?.parts ?? '[]')
  dropMessage(db, message)
}

const HAS_MESSAGES = `select 1 from messages where chat = ? limit 1`
const HAS_ROW = `select 1 from outlines where chat = ? limit 1`

/** Makes anew what follows from the messages of these chats. One of which nothing is left is removed. */
function tellAnew({ db, nowMs }: Removing, ids: readonly ChatId[]): void {
  const words = new DigestWords(db)
  for (const id of ids) {
    const chat = prepared<ChatRow>(db, FIND_CHAT).get(id)
    if (chat === undefined) continue
    const isLeft = [HAS_MESSAGES, HAS_ROW].some((sql) => prepared(db, sql).get(chat.num) !== undefined)
    if (!isLeft) {
      dropSayings(db, id, () => dropChat(db, chat.num))
      continue
    }
    const write = { id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
    writeBatch(db, { ...emptyBatch, source: chat.source, nowMs, chats: [write] })
    writeDigest(db, words, chat.num, listCounted(db, chat.num))
  }
}
