import type Sqlite from 'better-sqlite3'
import type { KnownChats } from '../../../model/chat.ts'
import { asMessageId, type ChatId } from '../../../model/ids.ts'
import type { OpenFile } from '../../open-safely/cursor-file.ts'
import { decodeChatRow } from '../records/chat.ts'
import { decodeMessageRow } from '../records/message.ts'
import {
  type RawRow,
  chatKey,
  families,
  hasTable,
  listChat,
  listKeyPage,
  messageFamily,
  messageRange,
  ofChat,
  readPage,
  splitKey,
} from './read.ts'

/**
 * Finds the chats in a store by one seek each, and reads of each unknown one until a message is found. All in one read:
 * nobody else uses a file that Cursor set aside, and opening it for each chat takes longer than the seeks.
 */
export function* chatsIn(file: OpenFile, known: KnownChats): Generator<ChatId> {
  if (!file.read(hasTable)) return
  const found: ChatId[] = []
  try {
    file.read((db) => {
      for (const id of eachChat(db)) if (isWanted(db, id, known)) found.push(id)
    })
  } finally {
    yield* found
  }
}

function* eachChat(db: Sqlite.Database): Generator<ChatId> {
  for (const family of families) {
    for (let after: Buffer | null = Buffer.from(family.from); after !== null;) {
      const page = listKeyPage(db, family, after, 1)
      const chatId = splitKey(page.refs[0]?.key ?? '')?.chatId
      if (chatId !== undefined) yield chatId
      const isSkipped = chatId !== undefined && family === messageFamily
      after = isSkipped ? Buffer.from(messageRange(chatId).to) : page.next
    }
  }
}

/** Pages end early only for the sake of Cursor, which does not use this file. */
const PAGE_MS = 1000

function isWanted(db: Sqlite.Database, chatId: ChatId, known: KnownChats): boolean {
  if (known.hasChat(chatId)) return false
  for (let rest = listChat(db, chatId).filter(({ key }) => ofChat(chatId)(key)); rest.length > 0;) {
    const { rows, taken } = readPage(db, rest.slice(0, 10), PAGE_MS)
    if (rows.some((row) => holdsUnknown(row, chatId, known))) return true
    rest = rest.slice(taken)
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
  return decodeMessageRow(value, split.messageId, octets).kind === 'message'
}
