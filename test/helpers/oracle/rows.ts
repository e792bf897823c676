import Database from 'better-sqlite3'
import { hasDeepPayload } from './payload.ts'
import { asFields, parseJson } from './values.ts'
import type { Fields } from './values.ts'

export interface BubbleRow {
  readonly chatId: string
  readonly id: string
  readonly value: Fields
}

export interface StoreRows {
  /** Null for a deleted chat: its row exists without a value. */
  readonly chats: ReadonlyMap<string, Fields | null>
  readonly bubbles: readonly BubbleRow[]
  readonly issues: Readonly<Record<string, number>>
}

interface RawRow {
  readonly key: Buffer | null
  readonly value: Buffer | null
}

const TOO_LARGE_BYTES = 32 * 1024 * 1024
const chatKey = /^composerData:([^]*)$/
/** A chat's id may contain any character, so the message's id is the part after the last colon. */
const bubbleKey = /^bubbleId:([^]*):([^:]*)$/

/** All rows of a store in memory, checked one by one. */
export function readRows(path: string): StoreRows {
  const chats = new Map<string, Fields | null>()
  const bubbles: BubbleRow[] = []
  const issues: Record<string, number> = {}
  const report = (reason: string): void => {
    issues[reason] = (issues[reason] ?? 0) + 1
  }
  for (const row of readAll(path)) {
    if (row.key === null) {
      report('null-key')
      continue
    }
    const key = row.key.toString('utf8')
    const [, chatId] = chatKey.exec(key) ?? []
    const [, bubbleChatId, bubbleId] = bubbleKey.exec(key) ?? []
    if (!key.startsWith('composerData:') && !key.startsWith('bubbleId:')) continue
    const isWhole = Buffer.from(key).equals(row.key)
    if (!isWhole || (chatId ?? bubbleChatId ?? '') === '' || (chatId === undefined && (bubbleId ?? '') === '')) {
      report('bad-key')
      continue
    }
    const value = judge(row.value)
    if (typeof value === 'string' && value !== 'deletion') report(value)
    else if (typeof value !== 'string' && hasDeepPayload(value)) report('too-deep')
    if (chatId !== undefined && (typeof value !== 'string' || value === 'deletion')) {
      chats.set(chatId, typeof value === 'string' ? null : value)
    }
    if (bubbleChatId !== undefined && bubbleId !== undefined && typeof value !== 'string') {
      bubbles.push({ chatId: bubbleChatId, id: bubbleId, value })
    }
  }
  return { chats, bubbles, issues }
}

function readAll(path: string): RawRow[] {
  const db = new Database(path, { readonly: true })
  try {
    const isThere = db.prepare(`select 1 from sqlite_master where name = 'cursorDiskKV'`).get() !== undefined
    if (!isThere) return []
    return db.prepare<[], RawRow>('select cast(key as blob) key, cast(value as blob) value from cursorDiskKV').all()
  } finally {
    db.close()
  }
}

/** @returns the row's object, `deletion` for NULL, or the reason why it cannot be read */
function judge(bytes: Buffer | null): Fields | string {
  if (bytes === null) return 'deletion'
  if (bytes.length > TOO_LARGE_BYTES) return 'too-large'
  const text = bytes.toString('utf8')
  const value = parseJson(text)
  if (value === undefined) return 'bad-json'
  return asFields(value) ?? 'not-an-object'
}
