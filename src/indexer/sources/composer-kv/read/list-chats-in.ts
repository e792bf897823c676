import { asMessageId, type ChatId } from '../../../../model/ids.ts'
import { endedBy, openCursorFile, type OpenFile } from '../../../open-safely/cursor-file.ts'
import type { ChatsIn, KnownChats } from '../../../source.ts'
import { decodeChatRow } from '../../records/chat/decode-chat.ts'
import { decodeMessageRow } from '../../records/message/decode-message.ts'
import { families, messageFamily, messageRange, ofChat, splitKey, chatKey } from '../keys.ts'
import { findTable, listChat, nextKey, readPage, type RawRow } from './read.ts'

/** Finds the chats in a store by one seek each, and reads of each unknown one until a message is found. */
export function listChatsIn(path: string, known: KnownChats): ChatsIn {
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { ids: [], trouble: file }
  const found = new Set<ChatId>()
  try {
    const table = file.read(findTable)
    if (table.kind === 'unknown')
      return { ids: [], trouble: { kind: 'closed', state: 'unreadable', detail: table.why } }
    if (table.kind === 'table') for (const id of eachChat(file)) if (isWanted(file, id, known)) found.add(id)
    return { ids: [...found], trouble: null }
  } catch (error) {
    return { ids: [...found], trouble: endedBy(error) }
  } finally {
    file.close()
  }
}

function* eachChat(file: OpenFile): Generator<ChatId> {
  for (const family of families) {
    let after: Buffer = Buffer.from(family.from)
    for (;;) {
      const next = file.read((db) => nextKey(db, family, after))
      if (next === null) break
      const chatId = splitKey(next.key)?.chatId
      if (chatId !== undefined) yield chatId
      const isSkipped = chatId !== undefined && family === messageFamily
      after = isSkipped ? Buffer.from(messageRange(chatId).to) : next.bytes
    }
  }
}

function isWanted(file: OpenFile, chatId: ChatId, known: KnownChats): boolean {
  if (known.hasChat(chatId)) return false
  for (let rest = file.read((db) => listChat(db, chatId)).filter(({ key }) => ofChat(chatId)(key)); rest.length > 0;) {
    const from = rest
    const { rows, taken } = file.read((db) => readPage(db, from.slice(0, 10), file.readMsMax))
    if (rows.some((row) => holdsUnknown(row, chatId, known))) return true
    rest = from.slice(taken)
  }
  return false
}

function holdsUnknown({ key, value, octets }: RawRow, chatId: ChatId, known: KnownChats): boolean {
  if (value === null) return false
  if (key === chatKey(chatId)) {
    const chat = decodeChatRow(value, chatId, (ordinal) => asMessageId(String(ordinal)))
    return chat.kind === 'chat' && chat.embedded.some(({ id }) => !known.hasMessage(chatId, id))
  }
  const split = splitKey(key)
  if (split?.kind !== 'message' || known.hasMessage(chatId, split.messageId)) return false
  return decodeMessageRow(value, split, octets).kind === 'message'
}
