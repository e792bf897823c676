import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from '../src/sqlite.ts'
import { createRandom, createWriter, type Random } from './words.ts'

export interface StoreShape {
  /** At most the number of messages. */
  readonly chats: number
  readonly messages: number
  /** How the lengths of chats differ; null for few differences: 1 to 60 messages. */
  readonly lengths: Lengths | null
  /** Bytes of one message's row. About 14% of it is searchable text. */
  readonly messageBytes: number
  /** 1 for texts as long as in chats with an agent, less for shorter texts. */
  readonly textScale: number
  /** Characters of a tool's output. Two of five messages have one. */
  readonly outputLength: number
  readonly noiseRows: number
  readonly noiseBytes: number
}

/** Messages of a chat: half of the chats have fewer than the median, and one of twenty has more than `p95`. */
interface Lengths {
  readonly median: number
  readonly p95: number
  readonly most: number
}

/** 1.5 GB. Half of the bytes are in rows that do not belong to chats. */
export const LARGE: StoreShape = {
  chats: 3294,
  messages: 37_000,
  lengths: null,
  messageBytes: 19_500,
  textScale: 1,
  outputLength: 3000,
  noiseRows: 8191,
  noiseBytes: 88_000,
}

/** As agents leave it: 1.5 GB with 300 MB of indexed text, two thirds of it output of tools. */
export const AGENTS: StoreShape = { ...LARGE, textScale: 3, outputLength: 14_000 }

/** Many short messages in chats of very different lengths, about 0.4 GB of text in 1.4 GB. */
export const MANY: StoreShape = {
  chats: 12_900,
  messages: 500_000,
  lengths: { median: 12, p95: 150, most: 5000 },
  messageBytes: 1500,
  textScale: 0.4,
  outputLength: 1200,
  noiseRows: 8191,
  noiseBytes: 88_000,
}

/** The same proportions, with the number of rows multiplied. */
export const scaled = (shape: StoreShape, factor: number): StoreShape => ({
  ...shape,
  chats: Math.max(1, Math.round(shape.chats * factor)),
  messages: Math.max(1, Math.round(shape.messages * factor)),
  noiseRows: Math.round(shape.noiseRows * factor),
})

const T0_MS = Date.UTC(2025, 0, 6)
const PERIOD_MS = 274 * 86_400_000
const STEP_MS = 20_000
const CHAT_MESSAGES_MAX = 60

/** Writes a store in Cursor's format. The same shape gives the same store. @returns Cursor's `User` folder */
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
  let noise = 0
  for (const [chat, count] of spreadMessages(shape, random).entries()) {
    db.transaction(() => {
      const chatId = makeUuid(random)
      const ids = Array.from({ length: count }, () => makeUuid(random))
      const startedAtMs = T0_MS + Math.floor((chat * PERIOD_MS) / shape.chats)
      for (const [index, id] of ids.entries()) {
        const value = makeMessage(write, id, index, startedAtMs + index * STEP_MS, shape)
        insert.run(`bubbleId:${chatId}:${id}`, JSON.stringify(value))
      }
      insert.run(`composerData:${chatId}`, JSON.stringify(makeChat(write, chatId, ids, startedAtMs)))
      for (; noise < (shape.noiseRows * (chat + 1)) / shape.chats; noise += 1) {
        insert.run(`agentKv:blob:${makeUuid(random)}`, write.filler(shape.noiseBytes))
      }
    })()
  }
  db.pragma('wal_checkpoint(truncate)')
  db.close()
  return userDir
}

/** The number of messages of each chat: many short chats, a few long ones, none empty, with an exact total. */
function spreadMessages({ chats, messages, lengths }: StoreShape, random: Random): number[] {
  const mean = messages / chats
  const most = lengths?.most ?? Math.max(CHAT_MESSAGES_MAX, Math.ceil(2 * mean))
  // For evenly distributed r, the mean of 1 + (most - 1) * r ** power is the wanted mean.
  const power = (most - 1) / (mean - 1) - 1
  const draw = (): number =>
    lengths === null ? Math.round(1 + (most - 1) * random() ** power) : drawLength(lengths, random)
  const counts = Array.from({ length: chats }, draw)
  let missing = messages - counts.reduce((sum, count) => sum + count, 0)
  while (missing !== 0) {
    const chat = Math.floor(random() * chats)
    const count = (counts[chat] ?? 0) + Math.sign(missing)
    if (count < 1 || count > most) continue
    counts[chat] = count
    missing -= Math.sign(missing)
  }
  return counts
}

/** The 95th percentile of a normal distribution, in standard deviations. */
const P95_DEVIATIONS = 1.645

/** A length whose logarithm is normally distributed. */
function drawLength({ median, p95, most }: Lengths, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const length = median * Math.exp((normal * Math.log(p95 / median)) / P95_DEVIATIONS)
  return Math.min(most, Math.max(1, Math.round(length)))
}

type Writer = ReturnType<typeof createWriter>

function makeMessage(
  write: Writer,
  id: string,
  index: number,
  atMs: number,
  { messageBytes, textScale, outputLength }: StoreShape,
): Record<string, unknown> {
  const isUser = index % 5 === 0
  const text = isUser ? write.text(400 * textScale) : index % 2 === 0 ? write.text(2000 * textScale) : ''
  const tool = isUser || text !== '' ? {} : { toolFormerData: makeTool(write.text, outputLength) }
  const value = {
    _v: 3,
    type: isUser ? 1 : 2,
    bubbleId: id,
    text,
    createdAt: new Date(atMs).toISOString(),
    tokenCount: { inputTokens: 0, outputTokens: 0 },
    ...tool,
  }
  const rest = messageBytes - JSON.stringify(value).length
  return { ...value, codebaseContextChunks: [write.filler(Math.max(0, rest))] }
}

export function makeTool(text: Writer['text'], outputLength: number): Record<string, unknown> {
  return {
    tool: 15,
    name: 'run_terminal_cmd',
    toolCallId: 'call',
    status: 'completed',
    params: JSON.stringify({ command: text(80) }),
    result: JSON.stringify({ output: text(outputLength) }),
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
