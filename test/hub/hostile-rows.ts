import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** What a member with push rights could write as one row of the hub, by SQL of its own. */
export interface HostileRow {
  readonly chat?: string
  readonly project?: string
  /** As SQL. */
  readonly sequence?: string
  /** As it stands in the table. By default that of a sound chat. */
  readonly object?: Buffer
  /** True if the reader shows it like any other chat. By default its line of the ledger is marked as damaged. */
  readonly isSound?: true
}

type Json = Readonly<Record<string, unknown>>

/** A chat and its only message, as the lines of an object. */
const CHAT = `{"format":"cursordex-chat","version":1,"id":"","title":"T","origin":"abc","source":"composer-kv",
"storeFormat":"split","name":"T","summary":null,"todos":[],"createdAt":null,"updatedAt":null,"mode":null,"branch":null,
"model":null,"status":null,"isArchived":false,"isDraft":false,"isSubagent":false,"deletedAt":null,"parentChatId":null,
"childChatIds":[],"linesAdded":null,"linesRemoved":null,"filesChanged":null,"contextTokens":null,"recordedCostCents":null,
"octets":1,"evidence":[],"paths":[],"outline":null,"messageCount":1}`
const MESSAGE = `{"id":"m","alias":null,"position":0,"role":"user","sentAt":"2026-02-03T08:00:00.000Z","startedAt":null,
"timingAt":null,"model":null,"tokens":null,"isSimulated":false,"isOrphan":false,"deletedAt":null,"source":"composer-kv",
"octets":1,"parts":[{"kind":"text","text":"hello"}]}`
const CALL = `{"kind":"tool","name":"t","status":"completed","callId":null,"input":0,"output":0,"error":null,"paths":[]}`

const firstLine = (id: string, more: Json = {}): Json => ({ ...(JSON.parse(CHAT) as Json), id, ...more })
const message = (more: Json = {}): Json => ({ ...(JSON.parse(MESSAGE) as Json), ...more })
const times = (count: number, value: Json): readonly Json[] => Array.from({ length: count }, () => value)

const packed = (...lines: readonly unknown[]): Buffer =>
  gzipSync(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''), { level: 1 })

/** An object of the chat, with fields of the chat and of its only message. */
export const objectOf = (chat: string, ofChat: Json = {}, ofMessage: Json = {}): Buffer =>
  packed(firstLine(chat, ofChat), message(ofMessage))

const text = (content: string): Json => ({ parts: [{ kind: 'text', text: content }] })
const call = (input: string): string =>
  JSON.stringify(message({ parts: [JSON.parse(CALL)] })).replace('"input":0', `"input":${input}`)

const MB = 1024 * 1024
/** Text of so many megabytes that takes two bytes in memory for each of them. */
const wide = (megabytes: number): string => `${'x y '.repeat((megabytes * MB) / 4)}文`
/** Members of a gzip file that unpack to 4 GB, one after the other. */
const bomb = (): Buffer => Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(64 * MB))))

/** By name: rows of chats with these names. Each is written into a table that refuses nothing. */
export const hostileRows = (): Readonly<Record<string, HostileRow>> => ({
  'sequence beyond 2^53': { sequence: '9007199254740993' },
  'largest sequence': { sequence: '9223372036854775807' },
  'sequence 0': { sequence: '0' },
  'sequence -1': { sequence: '-1' },
  'smallest sequence': { sequence: '-9223372036854775808' },
  'one sequence, first': { sequence: '500', isSound: true },
  'one sequence, second': { sequence: '500' },
  'no bytes': { object: Buffer.alloc(0) },
  'garbage bytes': { object: Buffer.alloc(5000, 'rubbish') },
  'truncated gzip': { object: objectOf('truncated gzip').subarray(0, 80) },
  'changed byte of gzip': { object: objectOf('changed byte of gzip').fill(255, 60, 70) },
  'gzip of 4 GB': { object: bomb() },
  'object of 70 MB': { object: Buffer.concat([objectOf('object of 70 MB'), Buffer.alloc(70 * MB)]) },
  'text of 65 MB': { object: objectOf('text of 65 MB', {}, text('x'.repeat(65 * MB))) },
  'wrong id': { object: objectOf('another id') },
  'id with NUL': { object: objectOf('id with NUL\0') },
  'id of 100 kB': { chat: `long ${'x'.repeat(100_000)}` },
  'id without letters': { chat: '', object: objectOf('') },
  'project of 100 kB': { project: 'x'.repeat(100_000) },
  'not UTF-8': { object: gzipSync(Buffer.from([0xff, 0xfe, 10])) },
  'empty text': { object: gzipSync('') },
  'JSON null': { object: packed(null) },
  'JSON list': { object: packed([1, 2]) },
  'JSON cut off': { object: packed('{"format":"cursordex-chat"') },
  'wrong type': { object: objectOf('wrong type', { title: 7 }) },
  'parts of a wrong type': { object: objectOf('parts of a wrong type', {}, { parts: 'none' }) },
  'too deep': { object: packed(firstLine('too deep'), call('['.repeat(100_000) + ']'.repeat(100_000))) },
  '10 million lists': { object: packed(firstLine('10 million lists'), call(`[${'[],'.repeat(10_000_000)}[]]`)) },
  'million keys': {
    object: packed(
      firstLine('million keys'),
      call(`{${Array.from({ length: 2_000_000 }, (_, key) => `"${key}":0`).join()}}`),
    ),
  },
  '150,000 messages': {
    object: packed(
      firstLine('150,000 messages', { messageCount: 150_000 }),
      Array.from({ length: 150_000 }, (_, at) => JSON.stringify(message({ id: `m${at}` }))).join('\n'),
    ),
  },
  'two messages of one id': {
    object: packed(firstLine('two messages of one id', { messageCount: 2 }), message(), message()),
  },
  'count too large': { object: objectOf('count too large', { octets: 2 ** 53 }) },
  'title of 10 MB': { object: objectOf('title of 10 MB', { title: 'x'.repeat(10 * MB), name: 'x'.repeat(10 * MB) }) },
  'message id of 10 MB': { object: objectOf('message id of 10 MB', {}, { id: 'x'.repeat(10 * MB) }) },
  'many kinds of stores': {
    object: packed(
      firstLine('many kinds of stores', { messageCount: 100 }),
      ...Array.from({ length: 100 }, (_, at) => message({ id: `m${at}`, source: `kind-${at}` })),
    ),
  },
  'kind of 1 MB': { object: objectOf('kind of 1 MB', { source: 'x'.repeat(MB) }) },
  'many todos': {
    object: objectOf(
      'many todos',
      {},
      { parts: [{ kind: 'todo', items: times(150_000, { id: null, content: 'x', status: null }) }] },
    ),
  },
  'many files': {
    object: packed(
      firstLine('many files'),
      message({
        parts: times(2000, {
          ...(JSON.parse(CALL) as Json),
          paths: Array.from({ length: 100 }, (_, at) => `/f${at}`),
        }),
      }),
    ),
    isSound: true,
  },
  'many children': {
    object: objectOf('many children', { childChatIds: Array.from({ length: 200_000 }, (_, at) => `c${at}`) }),
    isSound: true,
  },
  'text with NUL': { object: objectOf('text with NUL', { name: 'a\0b' }, text('a\0b')), isSound: true },
  'numbers of 1e308': {
    object: objectOf('numbers of 1e308', { contextTokens: { used: 1e308, limit: -1e308 }, recordedCostCents: 1e308 }),
    isSound: true,
  },
  'text of 60 MB': { object: objectOf('text of 60 MB', {}, text('x'.repeat(60 * MB))) },
  'title of 15 MB': { object: objectOf('title of 15 MB', { title: wide(15), name: wide(15), summary: 'x' }) },
  'eight texts of 7 MB': {
    object: packed(
      firstLine('eight texts of 7 MB', { messageCount: 8 }),
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((at) => message({ id: `m${at}`, ...text('x y '.repeat((7 * MB) / 4)) })),
    ),
    isSound: true,
  },
  'nine wide texts of 3 MB': {
    object: packed(
      firstLine('nine wide texts of 3 MB', { messageCount: 9 }),
      ...[0, 1, 2, 3, 4, 5, 6, 7, 8].map((at) => message({ id: `m${at}`, ...text(wide(3)) })),
    ),
    isSound: true,
  },
  'thirty wide texts of 1 MB': {
    object: packed(
      firstLine('thirty wide texts of 1 MB', { messageCount: 30 }),
      ...Array.from({ length: 30 }, (_, at) => message({ id: `m${at}`, ...text(wide(1)) })),
    ),
    isSound: true,
  },
  'random 7 MB': {
    object: objectOf('random 7 MB', {}, text(randomBytes(5 * MB).toString('base64'))),
    isSound: true,
  },
  'as many values as may be': {
    object: packed(firstLine('as many values as may be'), call(`[${'[],'.repeat(240_000)}[]]`)),
    isSound: true,
  },
  '20,000 messages': {
    object: packed(
      firstLine('20,000 messages', { messageCount: 20_000 }),
      ...Array.from({ length: 20_000 }, (_, at) => message({ id: `m${at}` })),
    ),
    isSound: true,
  },
  'time in 2200': {
    object: objectOf(
      'time in 2200',
      { createdAt: '2200-01-01T00:00:00.000Z', updatedAt: '2200-01-01T00:00:00.000Z' },
      { sentAt: '2200-01-01T00:00:00.000Z' },
    ),
    isSound: true,
  },
  'time in 9999': {
    object: objectOf(
      'time in 9999',
      { updatedAt: '9999-01-01T00:00:00.000Z' },
      { sentAt: '+099999-01-01T00:00:00.000Z' },
    ),
    isSound: true,
  },
})
