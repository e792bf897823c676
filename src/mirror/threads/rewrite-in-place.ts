import type { MessageId } from '../../model/ids.ts'
import type { MessageWrite } from '../write/batch.ts'
import { findHeldMessage } from '../write/messages/held-messages.ts'
import type { HeldMessage, NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import type { Place, ThreadWrite } from './place-thread.ts'
import { prepared } from '../prepared.ts'
import { upsertMessage } from '../write/messages/upsert-message.ts'
import { splitTextKeys } from '../write/messages/text-key.ts'
import { isUnplaced } from './place-part.ts'

/** Larger writes do not come many times a second. */
const MESSAGES_MAX = 8

/**
 * Writes messages that were read again and keep their places, if this affects no other message of the chat. While an
 * agent answers, Cursor rewrites its last message many times a second. To place all messages each time would take longer
 * the longer the chat is.
 * @returns the messages as they are now; null if another message may move, or may start or stop to repeat the thread
 */
export function rewriteInPlace(db: Mirror, thread: ThreadWrite): (readonly [NextMessage, Place])[] | null {
  const { chatNum, source, write } = thread
  if (thread.isNew || !thread.isOrderKnown || thread.isPrompts || write.vanished.length > 0) return null
  if (write.messages.length === 0 || write.messages.length > MESSAGES_MAX) return null
  if (isUnplaced(db, chatNum) || !isBestSource(db, thread)) return null
  const held = new Map<MessageId, HeldMessage>()
  for (const message of write.messages) {
    const before = findHeldMessage(db, chatNum, message.id, source)
    if (before === null || !isPlacedAlike(before, message) || touchesOthers(db, chatNum, before, message)) return null
    held.set(message.id, before)
  }
  const next = new Map(
    write.messages.map((message) => [message.id, upsertMessage(db, thread, held.get(message.id) ?? null, message)]),
  )
  return [...next.values()].map((message) => [message, message.columns])
}

const LIST_SOURCES = `select distinct source from messages where chat = ?`

/** Whether this source gives the order, even if some of the chat's messages are gone. */
function isBestSource(db: Mirror, { chatNum, source, tools: { ranks } }: ThreadWrite): boolean {
  const sources = prepared<number>(db, LIST_SOURCES).pluck().all(chatNum)
  return !ranks.isArchive(source) && sources.every((one) => one === source || ranks.of(source) < ranks.of(one))
}

/** Whether the message is in the thread, and nothing changed that decides its place and time. */
const isPlacedAlike = (held: HeldMessage, message: MessageWrite): boolean =>
  held.is_live === 1 &&
  held.is_orphan === 0 &&
  held.sent_at === message.sentAtMs &&
  held.started_at === message.startedAtMs &&
  held.timing_at === message.timingAtMs &&
  held.role === message.role &&
  held.alias === message.alias &&
  held.tool_calls > 0 === message.toolCalls > 0 &&
  !message.isEmbedded &&
  !message.remembered

/**
 * Finds another message that the change may affect. It may be a copy of this message, before or after the change: it has
 * the same content, or it is of another source and has one of the changed texts. Or it is a message that was in the
 * chat's own row, and may be gone from it.
 */
const FIND_TOUCHED = `
select 1 from messages
where chat = @chat and key <> @key and (
  content_hash in (@before, @after)
  or case when source = @source then is_embedded
    else exists (select 1 from json_each(@texts) where instr(messages.text_keys, value) > 0) end
)
limit 1
`

function touchesOthers(db: Mirror, chat: number, held: HeldMessage, message: MessageWrite): boolean {
  const { key, source, content_hash: before } = held
  const former = new Set(splitTextKeys(held.text_keys))
  const latter = new Set(splitTextKeys(message.textKeys))
  const texts = JSON.stringify([...former, ...latter].filter((text) => former.has(text) !== latter.has(text)))
  return prepared(db, FIND_TOUCHED).get({ chat, key, source, before, after: message.contentHash, texts }) !== undefined
}
