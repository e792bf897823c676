import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createRandom, createWriter, type Random } from './words.ts'

export interface StoreShape {
  readonly chats: number
  readonly messages: number
  /** Bytes of one message's row, of which about 14% is text that a person would search. */
  readonly messageBytes: number
  readonly noiseRows: number
  readonly noiseBytes: number
}

/** 1.5 GB: half the bytes in rows that are no chats. */
export const LARGE: StoreShape = {
  chats: 3294,
  messages: 37_000,
  messageBytes: 19_500,
  noiseRows: 8191,
  noiseBytes: 88_000,
}

const T0_MS = Date.UTC(2025, 0, 6)

/** Writes a store in Cursor's format, the same for the same shape. @returns Cursor's `User` folder */
export function makeStore(root: string, shape: StoreShape): string {
  const userDir = join(root, 'Cursor', 'User')
  mkdirSync(join(userDir, 'globalStorage'), { recursive: true })
  const db = new Database(join(userDir, 'globalStorage', 'state.vscdb'))
  db.pragma('journal_mode = wal')
  db.pragma('synchronous = off')
  db.exec('create table ItemTable (key text unique on conflict replace, value blob)')
  db.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
  const insert = db.prepare('insert into cursorDiskKV (key, value) values (?, ?)')
  const random = createRandom(1)
  const write = createWriter(random)
  const perChat = Math.ceil(shape.messages / shape.chats)
  let [message, noise] = [0, 0]
  for (let chat = 0; chat < shape.chats; chat += 1) {
    db.transaction(() => {
      const chatId = makeUuid(random)
      const ids = Array.from({ length: Math.min(perChat, shape.messages - message) }, () => makeUuid(random))
      for (const [index, id] of ids.entries()) {
        const value = makeMessage(write, id, index, T0_MS + chat * 7_200_000 + index * 20_000, shape.messageBytes)
        insert.run(`bubbleId:${chatId}:${id}`, JSON.stringify(value))
      }
      insert.run(`composerData:${chatId}`, JSON.stringify(makeChat(write, chatId, ids, T0_MS + chat * 7_200_000)))
      message += ids.length
      for (; noise < (shape.noiseRows * (chat + 1)) / shape.chats - 1; noise += 1) {
        insert.run(`agentKv:blob:${makeUuid(random)}`, write.filler(shape.noiseBytes))
      }
    })()
  }
  db.pragma('wal_checkpoint(truncate)')
  db.close()
  return userDir
}

type Writer = ReturnType<typeof createWriter>

function makeMessage(write: Writer, id: string, index: number, atMs: number, bytes: number): Record<string, unknown> {
  const isUser = index % 5 === 0
  const text = isUser ? write.text(400) : index % 2 === 0 ? write.text(2000) : ''
  const tool = isUser || text !== '' ? {} : { toolFormerData: makeTool(write) }
  const value = {
    _v: 3,
    type: isUser ? 1 : 2,
    bubbleId: id,
    text,
    createdAt: new Date(atMs).toISOString(),
    tokenCount: { inputTokens: 0, outputTokens: 0 },
    ...tool,
  }
  const rest = bytes - JSON.stringify(value).length
  return { ...value, codebaseContextChunks: [write.filler(Math.max(0, rest))] }
}

function makeTool(write: Writer): Record<string, unknown> {
  return {
    tool: 15,
    name: 'run_terminal_cmd',
    toolCallId: 'call',
    status: 'completed',
    params: JSON.stringify({ command: write.text(80) }),
    result: JSON.stringify({ output: write.text(3000) }),
  }
}

function makeChat(write: Writer, chatId: string, ids: readonly string[], atMs: number): Record<string, unknown> {
  return {
    _v: 10,
    composerId: chatId,
    name: write.text(40),
    createdAt: atMs,
    fullConversationHeadersOnly: ids.map((bubbleId, index) => ({ bubbleId, type: index % 5 === 0 ? 1 : 2 })),
  }
}

function makeUuid(random: Random): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
}
