import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { targetName } from './target-name.ts'
import { Tombstones } from './tombstones.ts'

const LIST_CHATS = `select id from chats`
const LIST_MESSAGES = `
select messages.chat, messages.id, chats.id as chatId, messages.created_at as atMs, parts
from messages join chats on chats.num = messages.chat join bodies on bodies.num = messages.body
`
const ADD_PURGE = `insert into purges (begun_at, archives_at) values (?, ?)`
const ADD_TARGET = `insert into purge_targets (kind, name) values (?, ?) on conflict do nothing`

interface Row {
  readonly chat: number
  readonly id: MessageId
  readonly chatId: ChatId
  readonly atMs: number | null
  readonly parts: string
}

/**
 * Notes for removal what is in the mirror though it was purged. A damaged file may have an older state of a page, and a
 * salvage then saves a row that was removed.
 */
export function notePurged(db: Mirror, nowMs: number): void {
  const tombstones = new Tombstones(db)
  if (tombstones.isEmpty) return
  const targets: (readonly [kind: string, name: string])[] = []
  for (const { id } of prepared<{ id: ChatId }>(db, LIST_CHATS).iterate()) {
    if (tombstones.hasChat(id)) targets.push(['chat', id])
  }
  for (const { chat, id, chatId, atMs, parts } of prepared<Row>(db, LIST_MESSAGES).iterate()) {
    const isGone =
      tombstones.hasMessage(chatId, id) ||
      (tombstones.comparesTexts && tombstones.hasTextIn(JSON.parse(parts) as readonly Part[], { chatId, atMs }))
    if (isGone) targets.push(['message', targetName(chat, id)])
  }
  if (targets.length === 0) return
  db.transaction(() => {
    prepared(db, ADD_PURGE).run(nowMs, nowMs)
    for (const [kind, name] of targets) prepared(db, ADD_TARGET).run(kind, name)
  })()
}
