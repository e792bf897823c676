import { hash as digest } from 'node:crypto'
import { asMessageId, type ChatId, type MessageId } from '../../../../model/ids.ts'
import type { NameMessage, Piece, WholeChat } from '../../../open-safely/whole-store.ts'
import { boundJson } from '../json/bound-json.ts'
import type { JsonRecord } from '../json/json-value.ts'

/** The store is not part of the id, so that the messages of one chat in two stores are the same messages. */
export const nameMessage: NameMessage = (chatId, ordinal) => madeId([chatId, ordinal])

export const madeId = (identity: readonly (string | number)[]): MessageId =>
  asMessageId(`made-${digest('sha256', JSON.stringify(identity)).slice(0, 32)}`)

/**
 * The size of one entry of an item with many entries. Cursor writes items with `JSON.stringify`. An entry that is too
 * deep for it counts as 0.
 */
export const octetsOf = (entry: JsonRecord): number =>
  boundJson(entry).isTooDeep ? 0 : Buffer.byteLength(JSON.stringify(entry))

/** If a list contains a chat twice, the one with more messages is used. */
export function mostComplete(chats: readonly WholeChat[]): readonly WholeChat[] {
  const byId = new Map<ChatId, WholeChat>()
  for (const chat of chats) {
    const before = byId.get(chat.id)
    if (before === undefined || before.messages.length < chat.messages.length) byId.set(chat.id, chat)
  }
  return [...byId.values()]
}

/**
 * A chat may have been moved from one item to another and left behind in the first. It is used from the item with the
 * most messages.
 */
export function eachChatOnce(pieces: readonly Piece[]): Piece[] {
  const used = new Set(mostComplete(pieces.flatMap(({ chats }) => chats)))
  return pieces.map((piece) => ({ ...piece, chats: piece.chats.filter((chat) => used.has(chat)) }))
}
