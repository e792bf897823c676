import { hash as digest } from 'node:crypto'
import { asMessageId, type ChatId, type MessageId } from '../../../../model/ids.ts'
import type { NameMessage, Piece, WholeChat } from '../../../open-safely/whole-store.ts'
import { boundJson } from '../json/bound-json.ts'
import type { JsonRecord } from '../json/json-value.ts'

/** Not by the store: where two stores hold the same chat, its messages are the same ones. */
export const nameMessage: NameMessage = (chatId, ordinal) => madeId([chatId, ordinal])

export const madeId = (whatTellsItApart: readonly (string | number)[]): MessageId =>
  asMessageId(`made-${digest('sha256', JSON.stringify(whatTellsItApart)).slice(0, 32)}`)

/**
 * What one entry takes of an item that holds many: Cursor writes them as `JSON.stringify` does. One too deep for that is
 * told as nothing.
 */
export const octetsOf = (entry: JsonRecord): number =>
  boundJson(entry).isTooDeep ? 0 : Buffer.byteLength(JSON.stringify(entry))

/** A list that names a chat twice is taken by its fuller word. */
export function fullest(chats: readonly WholeChat[]): readonly WholeChat[] {
  const byId = new Map<ChatId, WholeChat>()
  for (const chat of chats) {
    const before = byId.get(chat.id)
    if (before === undefined || before.messages.length < chat.messages.length) byId.set(chat.id, chat)
  }
  return [...byId.values()]
}

/** A chat that was moved from one item to another, and left behind in the first, is taken where it is fullest. */
export function eachChatOnce(pieces: readonly Piece[]): Piece[] {
  const fullestOf = new Set(fullest(pieces.flatMap(({ chats }) => chats)))
  return pieces.map((piece) => ({ ...piece, chats: piece.chats.filter((chat) => fullestOf.has(chat)) }))
}
