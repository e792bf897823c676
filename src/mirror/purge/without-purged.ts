import type { ChatId } from '../../model/ids.ts'
import { tellsFacts, type Batch, type ChatFacts, type ChatWrite, type MessageWrite } from '../write/batch.ts'
import { comparable } from '../write/messages/pack-message.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { readOutline } from '../threads/outlines.ts'
import { textsOf } from './message-texts.ts'
import { addTombstones, Tombstones } from './tombstones.ts'
import { parseParts } from '../parse-parts.ts'

/**
 * A batch without what was purged, whichever source it comes from. The source's rows stay, so that they count as read:
 * only their keys, sizes and checksums are stored.
 */
export function withoutPurged(db: Mirror, batch: Batch): Batch {
  const tombstones = new Tombstones(db)
  if (tombstones.isEmpty) return batch
  const stays = ({ chatId }: { readonly chatId: ChatId }): boolean => !tombstones.hasChat(chatId)
  const spared = sparing(tombstones)
  return {
    ...batch,
    chats: batch.chats.flatMap((chat) => spareChat(tombstones, chat) ?? []),
    evidence: batch.evidence.filter(stays),
    heads: batch.heads
      .filter(stays)
      .map((head) => ({ ...head, name: spared(head.chatId, head.name), branch: spared(head.chatId, head.branch) })),
    tracked: batch.tracked.filter(stays),
    paths: batch.paths.filter(stays).map(({ chatId, uris }) => ({
      chatId,
      uris: uris.filter((uri) => spared(chatId, uri) !== null),
    })),
  }
}

/** Null instead of a text that was purged. */
const sparing =
  (tombstones: Tombstones) =>
  (chatId: ChatId, text: string | null): string | null =>
    tombstones.hasText(text, { chatId, atMs: null }) ? null : text

/** Null if nothing is left to write. */
function spareChat(tombstones: Tombstones, chat: ChatWrite): ChatWrite | null {
  if (tombstones.hasChat(chat.id)) return null
  const messages = chat.messages.filter(
    (message) => !tombstones.hasMessage(chat.id, message.id) && !isPurged(tombstones, chat.id, message),
  )
  const isNothing = messages.length === 0 && chat.messages.length > 0 && chat.vanished.length === 0
  if (isNothing && chat.ownRow.kind === 'unread' && chat.part?.isLast !== true) return null
  const { ownRow } = chat
  if (!tellsFacts(ownRow) || !tombstones.comparesTexts) return { ...chat, messages }
  return { ...chat, messages, ownRow: { ...ownRow, facts: spareFacts(tombstones, chat.id, ownRow.facts) } }
}

/** Whether one of the texts of a message was purged. */
export function isPurged(tombstones: Tombstones, chatId: ChatId, message: MessageWrite): boolean {
  if (!tombstones.comparesTexts) return false
  const atMs = message.sentAtMs ?? message.startedAtMs ?? message.timingAtMs
  return tombstones.hasTextIn(parseParts(message.partsJson), { chatId, atMs })
}

function spareFacts(tombstones: Tombstones, chatId: ChatId, facts: ChatFacts): ChatFacts {
  const spared = sparing(tombstones)
  return {
    ...facts,
    name: spared(chatId, facts.name),
    summary: spared(chatId, facts.summary),
    branch: spared(chatId, facts.branch ?? null),
    todos: facts.todos.filter(({ content }) => spared(chatId, content) !== null),
  }
}

const FIND_CHAT = `select num from chats where id = ?`
const LIST_PARTS = `select parts from messages join bodies on bodies.num = messages.body where messages.chat = ?`

/**
 * Keeps purged messages out of a chat that a newer decoder reads. Messages of a store without ids are numbered, and a
 * newer decoder may number or cut them differently: then a tombstone names another message. So if the chat has a purged
 * message, each message with a text that the mirror does not have is kept out too. This may keep out too much.
 * @param chat what the newer decoder yields, before it is written
 */
export function barRenumbered(db: Mirror, source: number, chat: ChatWrite): ChatWrite {
  const tombstones = new Tombstones(db)
  if (tombstones.isEmpty || tombstones.hasChat(chat.id) || chat.messages.length === 0) return chat
  const num = prepared<{ num: number }>(db, FIND_CHAT).get(chat.id)?.num
  const former = num === undefined ? [] : (readOutline(db, num, source) ?? [])
  if (!former.some(({ id }) => id !== null && tombstones.hasMessage(chat.id, id))) return chat
  const known = prepared<string>(db, LIST_PARTS).pluck().all(num).flatMap(wordsOf).join(' ')
  const isNew = ({ partsJson }: MessageWrite): boolean => wordsOf(partsJson).some((text) => !known.includes(text))
  const barred = new Set(chat.messages.filter(isNew).map(({ id }) => id))
  db.transaction(() => addTombstones(db, { messages: [...barred].map((id) => ({ chatId: chat.id, id })) }))()
  const { ownRow } = chat
  if (ownRow.kind !== 'read') return chat
  const embeddedIds = new Set([...ownRow.embeddedIds].filter((id) => !barred.has(id)))
  return { ...chat, ownRow: { ...ownRow, embeddedIds } }
}

const wordsOf = (partsJson: string): readonly string[] =>
  [...textsOf(parseParts(partsJson))].flatMap(({ text }) => comparable(text) ?? [])
