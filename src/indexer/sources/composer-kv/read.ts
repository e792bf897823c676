import Database from '../../../sqlite.ts'
import type Sqlite from 'better-sqlite3'
import { crc32 } from 'node:zlib'
import * as files from '../../open-safely/cursor-file.ts'
import type { OpenFile, Portion } from '../../open-safely/cursor-file.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { prepared } from '../../../mirror/sql.ts'
import { type ChatId, type MessageId, asChatId, asMessageId } from '../../../model/ids.ts'
import type { SourceState } from '../../../model/source.ts'

/**
 * The two key families with chats: `composerData:<chat>` and `bubbleId:<chat>:<message>`. No other
 * value of the table is ever selected here. `;` is the character after `:`, so that families and chats are index ranges.
 */
export const CHAT_PREFIX = 'composerData:'
export const MESSAGE_PREFIX = 'bubbleId:'

export interface KeyRange {
  readonly from: string
  /** Exclusive. */
  readonly to: string
}

export const families: readonly KeyRange[] = [
  { from: MESSAGE_PREFIX, to: 'bubbleId;' },
  { from: CHAT_PREFIX, to: 'composerData;' },
]

export type ChatKey =
  | { readonly kind: 'chat'; readonly chatId: ChatId }
  | { readonly kind: 'message'; readonly chatId: ChatId; readonly messageId: MessageId }

const UUID_LENGTH = 36
const COLON = 0x3a
const IS_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Splits a key. A chat's id may contain any character, including a newline or a colon. A message's id was a UUID in
 * every known store, so the text before a UUID at the end is the chat.
 * @returns null for a key of another family, or if its bytes are not UTF-8 (which U+FFFD shows)
 */
export function splitKey(key: string): ChatKey | null {
  if (key.includes('\ufffd')) return null
  if (key.startsWith(CHAT_PREFIX)) {
    return key === CHAT_PREFIX ? null : { kind: 'chat', chatId: asChatId(key.slice(CHAT_PREFIX.length)) }
  }
  if (!key.startsWith(MESSAGE_PREFIX)) return null
  const beforeUuid = key.length - UUID_LENGTH - 1
  const endsInUuid = key.charCodeAt(beforeUuid) === COLON && IS_UUID.test(key.slice(beforeUuid + 1))
  const cut = endsInUuid ? beforeUuid : key.indexOf(':', MESSAGE_PREFIX.length)
  if (cut <= MESSAGE_PREFIX.length || cut === key.length - 1) return null
  return {
    kind: 'message',
    chatId: asChatId(key.slice(MESSAGE_PREFIX.length, cut)),
    messageId: asMessageId(key.slice(cut + 1)),
  }
}

/**
 * Whether a key belongs to this chat, with the same result as `splitKey`. Fast, because it runs for every row of a chat
 * at each change.
 */
export function ofChat(chatId: ChatId): (key: string) => boolean {
  const start = messageRange(chatId).from
  const isPlain = !chatId.includes(':')
  const isPlainMatch = (key: string): boolean =>
    isPlain && key.length > start.length && key.startsWith(start) && !/[:\ufffd]/.test(key.slice(start.length))
  return (key) => isPlainMatch(key) || splitKey(key)?.chatId === chatId
}

export const chatKey = (chatId: ChatId): string => `${CHAT_PREFIX}${chatId}`

export const messageRange = (chatId: ChatId): KeyRange => ({
  from: `${MESSAGE_PREFIX}${chatId}:`,
  to: `${MESSAGE_PREFIX}${chatId};`,
})

type Db = Sqlite.Database

/** A row whose value has not been read. */
export interface RowRef {
  readonly key: string
  readonly rowid: number
}

export interface SizedRef extends RowRef {
  readonly octets: number
}

/** `value` is null for NULL (a deletion) and for a value that is too large; `octets` distinguishes the two. */
export interface RawRow extends SizedRef {
  readonly value: string | null
  /** CRC-32 of the value's bytes; null if it was not read. */
  readonly checksum: number | null
}

export const emptyStore = (file: OpenFile): OpenFile => ({
  ...file,
  read: (use) => {
    const db = new Database(':memory:')
    try {
      db.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
      return use(db)
    } finally {
      db.close()
    }
  },
})

/**
 * Whether the store has the table.
 * @throws UnknownLayout if its rows cannot be tracked
 */
export const hasTable = (db: Db): boolean => hasKnownTable(db, 'cursorDiskKV', ['key', 'value'], 'rowids')

/**
 * SQLite's rowids can be larger than a JavaScript number, below zero too. All of those become the largest number, and the
 * row is read by its key.
 */
export const isExact = (ref: RowRef): boolean => ref.rowid < Number.MAX_SAFE_INTEGER

const withRowid = <Ref extends RowRef>(ref: Ref): Ref =>
  Math.abs(ref.rowid) > Number.MAX_SAFE_INTEGER ? { ...ref, rowid: Number.MAX_SAFE_INTEGER } : ref

/**
 * The unary plus keeps SQLite from using the index on `key`, which would walk every key of the family. Without it
 * SQLite seeks the rowid, and a pass that finds nothing new costs the same in any store.
 */
export const LIST_ABOVE = `
select key, rowid from cursorDiskKV
where rowid > ?
  and ((+key >= 'bubbleId:' and +key < 'bubbleId;') or (+key >= 'composerData:' and +key < 'composerData;'))
order by rowid limit ?
`

/** The same from the index alone, which walks every key; used if the table has a damaged page. */
const LIST_ABOVE_BY_KEY = `
select key, rowid from (
  select key, rowid from cursorDiskKV where key >= 'bubbleId:' and key < 'bubbleId;'
  union all select key, rowid from cursorDiskKV where key >= 'composerData:' and key < 'composerData;'
)
where +rowid > ? order by rowid limit ?
`

/** Less than the least rowid, which no integer is. */
export const BEFORE_ALL = -1e19

/** @param rowid `BEFORE_ALL` lists from the first row */
export function listAbove(db: Db, rowid: number, limit: number): RowRef[] {
  const bound = rowid === BEFORE_ALL ? rowid : BigInt(rowid)
  const list = (sql: string): RowRef[] => prepared<RowRef>(db, sql).all(bound, limit)
  return (files.tryRead(() => list(LIST_ABOVE))?.value ?? list(LIST_ABOVE_BY_KEY)).map(withRowid)
}

/** The limit applies to the inner query, so that rows of other families cost only one step. */
const LIST_TAIL = `
select key, rowid, octets from (
  select key, rowid, octet_length(value) as octets from cursorDiskKV
  where rowid <= ? order by rowid desc limit ?
)
where (key >= 'bubbleId:' and key < 'bubbleId;') or (key >= 'composerData:' and key < 'composerData;')
`

/**
 * The chat rows among the last `limit` rows up to `rowid`, with their sizes; values are not read. Empty if a page is
 * damaged.
 */
export function listTail(db: Db, rowid: number, limit: number): SizedRef[] {
  const tail = files.tryRead(() => prepared<SizedRef>(db, LIST_TAIL).all(BigInt(rowid), limit))
  return (tail?.value ?? []).map(withOctets)
}

const FIND_BY_KEY = `select key, rowid, octet_length(value) as octets from cursorDiskKV where key = ?`
const KEY_AT = `select key from cursorDiskKV where rowid = ?`

export function findByKey(db: Db, key: string): SizedRef | undefined {
  const row = prepared<SizedRef>(db, FIND_BY_KEY).get(key)
  return row === undefined ? undefined : withOctets(row)
}

/**
 * Whether the row at the watermark is the one that was read there, or was itself rewritten. Then no rowid up to the
 * watermark was reused, and everything inserted since is above it.
 */
export function isCanaryWell(db: Db, watermark: number, key: string | null): boolean {
  if (key === null) return true
  const there = prepared<{ key: string | null }>(db, KEY_AT).get(BigInt(watermark))
  if (there !== undefined) return there.key === key
  const now = findByKey(db, key)
  return now !== undefined && now.rowid > watermark
}

const withOctets = ({ key, rowid, octets }: SizedRef): SizedRef => withRowid({ key, rowid, octets: octets ?? 0 })

const FIND_REF = `select key, rowid from cursorDiskKV where key = ?`
const LIST_RANGE = `select key, rowid from cursorDiskKV where key >= ? and key < ?`

/** Every row of one chat, from the index alone. */
export function listChat(db: Db, chatId: ChatId): RowRef[] {
  const { from, to } = messageRange(chatId)
  const own = prepared<RowRef>(db, FIND_REF).get(chatKey(chatId))
  const messages = prepared<RowRef>(db, LIST_RANGE).all(from, to).map(withRowid)
  return own === undefined ? messages : [withRowid(own), ...messages]
}

const LIST_KEYS = `
select key, rowid from cursorDiskKV
where key > cast(? as text) and key < ?
order by key limit ?
`
const KEY_BYTES = `select cast(key as blob) as bytes from cursorDiskKV where rowid = ?`

/**
 * One page of a key family, from the index alone. The bound is bytes and not a string: a key that is not UTF-8 would
 * come back changed from a JavaScript string, and would stop or repeat the walk.
 * @returns `next`: where the next page starts; null after the last page
 */
export function listKeyPage(db: Db, range: KeyRange, after: Buffer, pageRows = 10_000) {
  const refs = prepared<RowRef>(db, LIST_KEYS).all(after, range.to, pageRows).map(withRowid)
  const last = refs.at(-1)
  if (last === undefined || refs.length < pageRows) return { refs, next: null }
  const bytes = isExact(last) ? prepared<{ bytes: Buffer }>(db, KEY_BYTES).get(BigInt(last.rowid))?.bytes : undefined
  return { refs, next: bytes ?? Buffer.from(last.key) }
}

const COUNT_RANGE = `select count(*) as count from cursorDiskKV where key > ? and key < ?`
const COUNT_ALL = `select count(*) as count from cursorDiskKV`
const COUNT_NULL_KEYS = `select count(*) as count from cursorDiskKV where key is null`

export function countRows(db: Db) {
  const count = (sql: string, ...params: unknown[]): number =>
    prepared<{ count: number }>(db, sql).get(...params)?.count ?? 0
  return {
    chatRows: families.reduce((sum, { from, to }) => sum + count(COUNT_RANGE, from, to), 0),
    totalRows: count(COUNT_ALL),
    nullKeys: count(COUNT_NULL_KEYS),
  }
}

/**
 * As text, which is in the JavaScript heap and is collected with it. A buffer's bytes come from malloc, which returns
 * them to the system late or never.
 */
const VALUE_UP_TO = `case when octet_length(value) <= ${files.VALUE_OCTETS_MAX} then cast(value as text) end as value`
const reading = (column: string) => ({
  row: `select key, rowid, octet_length(value) as octets, ${VALUE_UP_TO} from cursorDiskKV where ${column} = ?`,
  bytes: `select cast(value as blob) as bytes from cursorDiskKV where ${column} = ?`,
})
const byRowid = reading('rowid')
const byKey = reading('key')

export interface Page extends Portion {
  readonly rows: readonly RawRow[]
  /** Rows that SQLite could not read from a damaged page. */
  readonly unreadable: readonly RowRef[]
}

/** Reads the values of the first of these rows in one short transaction. Damage affects only the damaged row. */
export function readPage(db: Db, refs: readonly RowRef[], readMsMax: number): Page {
  const found: (Omit<RawRow, 'checksum'> & { readonly bytes: Buffer | null })[] = []
  const unreadable: RowRef[] = []
  const portion = files.readPortion(db, refs, readMsMax, ({ key, rowid }) => {
    const read = files.tryRead(() => readRow(db, { key, rowid }))
    if (read === null) unreadable.push({ key, rowid })
    const row = read?.value
    // Else it was deleted since it was listed, or now has another key.
    if (row?.key !== key) return 0
    const octets = row.octets ?? 0
    found.push({ key, rowid, octets, value: row.value, bytes: row.bytes })
    return row.value === null ? 0 : octets
  })
  // Checksums are calculated after the transaction.
  const rows = found.map(({ bytes, ...row }): RawRow => {
    return { ...row, checksum: row.value === null ? null : crc32(bytes ?? row.value) }
  })
  return { rows, unreadable, ...portion }
}

/** Replaces bytes that are not UTF-8. The text may also contain it itself. */
const REPLACEMENT = '\ufffd'

/** `bytes` is set if the text may differ from the stored bytes. */
function readRow(db: Db, ref: RowRef) {
  const [sql, at] = isExact(ref) ? [byRowid, BigInt(ref.rowid)] : [byKey, ref.key]
  const row = prepared<Omit<RawRow, 'checksum'>>(db, sql.row).get(at)
  const mayDiffer = row?.value?.includes(REPLACEMENT) === true
  const bytes = mayDiffer ? (prepared<{ bytes: Buffer }>(db, sql.bytes).get(at)?.bytes ?? null) : null
  return row === undefined ? undefined : { ...row, bytes }
}

/** The keys of every other kind of row that was ever seen beside chats, by their start. None of them is a chat. */
const KNOWN_STARTS = [
  'agentKv:',
  'ai_accepted_diffs.',
  'ai_hashes.',
  'bcCachedDetails:',
  'bubbleId:',
  'checkpointId:',
  'cloudAgentDraft:',
  'codeBlockDiff:',
  'codeBlockPartialInlineDiffFates:',
  'composer.autoAccept.lastSeenHead',
  'composer.composerHeaders.',
  'composer.content.',
  'composerData:',
  'composerVirtualRowHeights:',
  'expectedContent-',
  'inlineDiff',
  'messageRequestContext:',
  'ofsContent:',
  'patch-graph:',
] as const
const KNOWN_TABLES: ReadonlySet<string> = new Set(['cursorDiskKV', 'ItemTable', 'composerHeaders'])

/** Rows that no source reads and that this version does not know. No value of them is read. */
export interface UnknownRows {
  readonly table: string
  /** How their keys begin, without ids; null for a whole table. `<id>` if the start itself may be data of the user. */
  readonly start: string | null
  readonly rows: number
}

const LIST_TABLES = `select name from sqlite_master where type = 'table' and rootpage > 0 and name not glob 'sqlite_*' order by name`
/** Keys from the index alone, some thousand in a millisecond. */
const LIST_KEY_STARTS = `select cast(substr(key, 1, 200) as text) as key from cursorDiskKV where key > ? order by key limit ?`
const PAGE = 5000

/** What a look at a store finds that reads no value. */
export interface StoreLook {
  readonly state: SourceState
  readonly detail: string | null
  /** The most rows first. */
  readonly unknown: readonly UnknownRows[]
}

export function lookAtStore(path: string): StoreLook {
  const file = files.openCursorFile(path)
  if (file.kind === 'closed') return { state: file.state, detail: file.detail, unknown: [] }
  const counts = new Map<string, number>()
  try {
    const tables = file.read((db) => prepared<{ name: string }>(db, LIST_TABLES).all()).map(({ name }) => name)
    for (let after: string | undefined = tables.includes('cursorDiskKV') ? '' : undefined; after !== undefined;) {
      const from: string = after
      const page = file.read((db) => prepared<{ key: string | null }>(db, LIST_KEY_STARTS).all(from, PAGE))
      for (const { key } of page)
        if (key !== null && !isKnown(key)) counts.set(startOf(key), (counts.get(startOf(key)) ?? 0) + 1)
      after = page.length < PAGE ? undefined : (page.at(-1)?.key ?? undefined)
    }
    const ofKeys = [...counts].map(([start, rows]) => ({ table: 'cursorDiskKV', start, rows }))
    const ofTables = tables
      .filter((name) => !KNOWN_TABLES.has(name))
      .map((name) => ({ table: named(name), start: null, rows: file.read((db) => countTable(db, name)) }))
    const unknown = [...ofKeys, ...ofTables].toSorted((one, other) => other.rows - one.rows)
    return { state: 'ok', detail: null, unknown }
  } catch (error) {
    const { state, detail } = files.endedBy(error)
    return { state, detail, unknown: [] }
  } finally {
    file.close()
  }
}

const isKnown = (key: string): boolean =>
  // In the last one the id comes first.
  KNOWN_STARTS.some((start) => key.startsWith(start)) || key.endsWith(':cloudAgent:metadata')

/** A name as programs have them: a word, not an id, a path or a person's words. */
const isName = (text: string): boolean =>
  /^[A-Za-z_$][\w$.-]{0,39}$/.test(text) &&
  text.replace(/\D/g, '').length <= 3 &&
  !/auth(?!or)|token|secret|mail/i.test(text)

/** The text before the first colon. A key without one may be data of the user as a whole. */
function startOf(key: string): string {
  const colon = key.indexOf(':')
  return colon > 0 && isName(key.slice(0, colon)) ? `${key.slice(0, colon + 1)}<id>` : '<id>'
}

const named = (table: string): string => (isName(table) ? table : '<table>')

const countTable = (db: Db, table: string): number =>
  prepared<{ count: number }>(db, `select count(*) as count from "${table.replaceAll('"', '""')}"`).get()?.count ?? 0
