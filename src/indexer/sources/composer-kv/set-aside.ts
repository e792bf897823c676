import type Sqlite from 'better-sqlite3'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { prepared } from '../../../mirror/prepared.ts'
import type { KnownChats } from '../../../model/chat.ts'
import { asMessageId, type ChatId } from '../../../model/ids.ts'
import { endedBy, openCursorFile, type ClosedFile } from '../../open-safely/cursor-file.ts'
import { decodeChatRow } from '../records/chat.ts'
import { decodeMessageRow } from '../records/message.ts'
import { chatKey, families, messageFamily, messageRange, ofChat, splitKey } from './keys.ts'
import { findTable, listChat, readPage, type RawRow } from './read.ts'

// Cursor leaves earlier states of its store beside it: one that it could not open, and the copy that it makes when it
// quits. They may have chats that are nowhere else.

export interface ChatsAside {
  /** Chats with messages that are not known. */
  readonly ids: readonly ChatId[]
  /** Why the file could not be read, or not to its end; null if it could. */
  readonly trouble: ClosedFile | null
}

const SET_ASIDE = /^\.(?:corrupted\..+|backup)$/
const BESIDE = /-(?:wal|shm|journal)$/

/** The files beside a store in which Cursor left an earlier state of it. None if the folder may not be listed. */
export function listSetAside(path: string): string[] {
  const name = basename(path)
  return namesIn(dirname(path))
    .filter((other) => other.startsWith(name) && SET_ASIDE.test(other.slice(name.length)) && !BESIDE.test(other))
    .map((other) => join(dirname(path), other))
    .sort()
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return []
    throw error
  }
}

/**
 * Finds the chats in such a file by one seek each, and reads of each unknown one until a message is found. Cursor does not
 * open it under this name, so what SQLite makes beside it, to read it, is ours and is removed.
 */
export function readSetAside(path: string, known: KnownChats): ChatsAside {
  const absent = [`${path}-wal`, `${path}-shm`].filter((name) => !existsSync(name))
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { ids: [], trouble: file }
  const found = new Set<ChatId>()
  try {
    const table = file.read(findTable)
    if (table.kind === 'unknown')
      return { ids: [], trouble: { kind: 'closed', state: 'unreadable', detail: table.why } }
    file.read((db) => {
      if (table.kind !== 'table') return
      for (const id of eachChat(db)) if (isWanted(db, id, known)) found.add(id)
    })
    return { ids: [...found], trouble: null }
  } catch (error) {
    return { ids: [...found], trouble: endedBy(error) }
  } finally {
    file.close()
    for (const name of absent) rmSync(name, { force: true })
  }
}

const NEXT_KEY = `
select key, cast(key as blob) as bytes from cursorDiskKV where key > cast(? as text) and key < ? order by key limit 1
`

function* eachChat(db: Sqlite.Database): Generator<ChatId> {
  for (const family of families) {
    let after: Buffer = Buffer.from(family.from)
    for (;;) {
      const next = prepared<{ key: string; bytes: Buffer }>(db, NEXT_KEY).get(after, family.to)
      if (next === undefined) break
      const chatId = splitKey(next.key)?.chatId
      if (chatId !== undefined) yield chatId
      const isSkipped = chatId !== undefined && family === messageFamily
      after = isSkipped ? Buffer.from(messageRange(chatId).to) : next.bytes
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
  return decodeMessageRow(value, split, octets).kind === 'message'
}
