import { existsSync } from 'node:fs'
import type { ChatId } from '../../model/ids.ts'
import { fillTerms } from '../maintenance/rebuild-terms.ts'
import { noteDone } from '../maintenance/upkeep-times.ts'
import type { Mirror } from '../open.ts'
import { noteUncounted } from '../usage/estimates.ts'
import { prepared } from '../prepared.ts'
import { emptyBatch } from '../write/batch.ts'
import { writeBatch } from '../write/write-batch.ts'
import { DamagedFile, listTables, type Column, type Table } from './damaged-file.ts'
import { mendLinks } from './mend-links.ts'
import { listSetAside, nextTo } from './set-aside.ts'
import type { Value } from './walk-rows.ts'

/** Rows per transaction. */
const ROWS_MAX = 2000

const FIND_UNDONE = `select file from salvages where done_at is null order by file desc limit 1`
const IS_EMPTY = `select not exists (select 1 from salvages) and not exists (select 1 from chats)`

/** The file that was set aside and not yet salvaged, or not to the end. Null if there is none. */
export function pendingSalvage(db: Mirror, path: string): string | null {
  const undone = db.prepare<[], string>(FIND_UNDONE).pluck().get()
  if (undone !== undefined && existsSync(nextTo(path, undone))) return undone
  const isEmpty = db.prepare<[], number>(IS_EMPTY).pluck().get() === 1
  return isEmpty ? (listSetAside(path)[0] ?? null) : null
}

export interface Saving {
  readonly path: string
  /** The name of the damaged file, in the folder of the mirror. */
  readonly file: string
  readonly nowMs: number
}

const BEGIN = `insert into salvages (file, begun_at) values (?, ?) on conflict do nothing`
const END = `
update salvages set done_at = ?, lost = ?,
  chats = (select count(*) from chats), messages = (select count(*) from messages)
where file = ?
`

/**
 * Copies all rows that SQLite can read of a damaged mirror into an empty one, under the numbers that they had. The
 * damaged file stays as it is. All sources count as unread afterwards: the next pass reads again what Cursor still
 * holds, and marks what it does not. A salvage that was killed, or found the disk full, starts again; the rows that it
 * saved stay. Each step is one transaction.
 */
export function* salvage(db: Mirror, { path, file, nowMs }: Saving): Generator<void, void> {
  db.prepare(BEGIN).run(file, nowMs)
  const damaged = new DamagedFile(nextTo(path, file))
  // Until the end, rows name rows that are not there yet.
  db.pragma('foreign_keys = off')
  try {
    const unread = new Set<string>()
    let lost = 0
    for (const table of listTables(db).filter(({ name }) => !NOT_SAVED.has(name))) {
      const saved = yield* saveTable(db, damaged, table)
      lost += saved.misfits
      if (!saved.isWhole) unread.add(table.name)
    }
    if (unread.has('messages')) lost += countLost(db, damaged)
    lost += db.transaction(() => mendLinks(db, damaged))()
    db.transaction(() => fillTerms(db))()
    yield
    yield* rewriteChats(db, nowMs)
    noteUncounted(db)
    if (hasLostBars(db, unread)) noteDone(db, 'bars-lost', nowMs)
    db.prepare(END).run(nowMs, lost, file)
  } finally {
    damaged.close()
    if (db.open) db.pragma('foreign_keys = on')
  }
}

/** Tables that follow from others or from the stores, and the name of the mirror: the new one is another mirror. */
const NOT_SAVED = new Set(
  'unindexed unlisted sweeps calls uncounted unplaced misdated identity message_sums live_rows'.split(' '),
)

/**
 * A row that a source counts as read may be lost. So each source counts as unread; of its rows only their keys are
 * saved, and the next pass compares all of them with the store.
 */
const FORGOTTEN: Readonly<Record<string, Readonly<Record<string, Value>>>> = {
  sources: {
    identity: null,
    signature: null,
    watermark: null,
    watermark_key: null,
    counted_at: null,
    reconciled_at: null,
  },
  source_rows: { source_rowid: -1, octets: -1, checksum: null },
}

interface Saved {
  /** Rows that are not of this table, or not whole. */
  readonly misfits: number
  readonly isWhole: boolean
}

/** Rows that are there already stay. */
function* saveTable(db: Mirror, damaged: DamagedFile, { name, columns }: Table): Generator<void, Saved> {
  const former = damaged.table(name)
  // An older mirror has fewer tables and columns.
  if (former === null) return { misfits: 0, isWhole: damaged.isSchemaWhole }
  const wanted = columns.filter((column) => former.columns.some((one) => one.name === column.name))
  const names = wanted.map((column) => column.name)
  const insert = `insert or ignore into ${name} (${names.join(', ')}) values (?${', ?'.repeat(names.length - 1)})`
  const forgotten = FORGOTTEN[name] ?? {}
  const forget = (value: Value, at: number): Value | undefined =>
    names[at] !== undefined && names[at] in forgotten ? forgotten[names[at]] : value
  const isWholeRow = (row: readonly Value[]): boolean =>
    wanted.every((column, at) => fits(column, row[at] ?? null)) && (name !== 'bodies' || isArray(row[1]))
  const saved = { misfits: 0, isWhole: false }
  for (const walk of damaged.walks(former, names, isWholeRow)) {
    for (const rows of inPortions(walk.rows())) {
      db.transaction(() => rows.forEach((row) => prepared(db, insert).run(...row.map(forget))))()
      yield
    }
    saved.misfits += walk.misfits
    saved.isWhole = !walk.isDamaged && walk.misfits === 0
    if (saved.isWhole) break
  }
  return saved
}

function fits({ type, isRequired, pk }: Column, value: Value): boolean {
  if (value === null) return isRequired === 0 && pk === 0
  if (type === 'text') return typeof value === 'string'
  if (type === 'blob') return Buffer.isBuffer(value)
  return typeof value === (type === 'real' ? 'number' : 'bigint')
}

/** A body is a JSON array. One with bytes of another page in its middle is none. */
function isArray(parts: Value | undefined): boolean {
  try {
    return Array.isArray(JSON.parse(String(parts)))
  } catch {
    return false
  }
}

const HAS_MESSAGE = `select 1 from messages where key = ?`

/** How many messages an index names that were not saved. */
function countLost(db: Mirror, damaged: DamagedFile): number {
  const lost = new Set<Value | undefined>()
  for (const [key] of damaged.indexed('messages', ['key'])) {
    if (prepared(db, HAS_MESSAGE).get(key) === undefined) lost.add(key)
  }
  return lost.size
}

const HAS_PURGED = `select exists (select 1 from purges) or exists (select 1 from tombstones)`

/**
 * Whether something was purged, or may have been, and what kept it from coming in again is lost: a tombstone, or the
 * salt of the hashes.
 */
function hasLostBars(db: Mirror, unread: ReadonlySet<string>): boolean {
  if (!unread.has('tombstones') && !unread.has('purge_salt')) return false
  return unread.has('purges') || db.prepare<[], number>(HAS_PURGED).pluck().get() === 1
}

function* inPortions<Item>(items: Iterable<Item>): Generator<Item[]> {
  let portion: Item[] = []
  for (const item of items) {
    portion.push(item)
    if (portion.length < ROWS_MAX) continue
    yield portion
    portion = []
  }
  if (portion.length > 0) yield portion
}

const LIST_CHATS = `select id, source from chats order by source, num`
const CHATS_MAX = 200

/** What follows from a chat's messages is rebuilt: some of them may be lost, and it too. */
function* rewriteChats(db: Mirror, nowMs: number): Generator<void> {
  const all = db.prepare<[], { id: ChatId; source: number }>(LIST_CHATS).all()
  for (const source of new Set(all.map((chat) => chat.source))) {
    const ids = all.filter((chat) => chat.source === source).map(({ id }) => id)
    for (let at = 0; at < ids.length; at += CHATS_MAX) {
      const chats = ids.slice(at, at + CHATS_MAX).map(unread)
      writeBatch(db, { ...emptyBatch, source, nowMs, chats, isIndexedLater: true })
      yield
    }
  }
}

const unread = (id: ChatId) => ({ id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] })

export interface SalvageReport {
  readonly file: string
  readonly chats: number
  readonly messages: number
  /** Rows that are known to be lost. */
  readonly lost: number
  /** 1 if what was purged may come in again. */
  readonly hasLostBars: number
}

const LIST_DONE = `
select file, chats, messages, lost,
  exists (select 1 from upkeep where task = 'bars-lost' and upkeep.done_at = salvages.done_at) as hasLostBars
from salvages where done_at is not null order by file
`

/** The salvages whose damaged files are still there. */
export const listSalvages = (db: Mirror, path: string): SalvageReport[] =>
  db
    .prepare<[], SalvageReport>(LIST_DONE)
    .all()
    .filter(({ file }) => existsSync(nextTo(path, file)))
