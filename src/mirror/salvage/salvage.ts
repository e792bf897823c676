import { existsSync } from 'node:fs'
import type { ChatId } from '../../model/ids.ts'
import { emptyBatch } from '../write/batch.ts'
import { noteUndigested } from '../digests/digest-backlog.ts'
import type { Mirror } from '../open.ts'
import { fillTerms } from '../maintenance/rebuild-terms.ts'
import { noteDone } from '../maintenance/upkeep-times.ts'
import { writeBatch } from '../write/write-batch.ts'
import { mendLinks, readNames } from './mend-links.ts'
import { PageFile } from './page-file.ts'
import { DamagedFile } from './read-rows.ts'
import { isWhole, restoreRows } from './restore-rows.ts'
import { listSetAside, nextTo } from './set-aside.ts'

/** Rows that one transaction saves. */
const ROWS_MAX = 2000

const FIND_UNDONE = `select file from salvages where done_at is null order by file desc limit 1`
const IS_EMPTY = `select not exists (select 1 from salvages) and not exists (select 1 from chats)`

/** The file that was set aside and not yet salvaged, or not to the end. Null where there is none. */
export function pendingSalvage(db: Mirror, path: string): string | null {
  const undone = db.prepare<[], string>(FIND_UNDONE).pluck().get()
  if (undone !== undefined && existsSync(nextTo(path, undone))) return undone
  const isEmpty = db.prepare<[], number>(IS_EMPTY).pluck().get() === 1
  return isEmpty ? (listSetAside(path)[0] ?? null) : null
}

export interface Saving {
  /** The mirror's path, and the name of the file beside it. */
  readonly path: string
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
 * Brings everything that can be read of a damaged mirror into an empty one, marks and all, and leaves the file as it is.
 * Sources count as unread afterwards, so that a first pass follows: what Cursor still holds is read again and what it
 * holds no more is marked, by the one way in which this is done. Killed at any moment, or out of room, it is begun
 * again, and what was saved stays. Each step is one transaction.
 */
export function* salvage(db: Mirror, { path, file, nowMs }: Saving): Generator<void, void> {
  db.prepare(BEGIN).run(file, nowMs)
  const pages = new PageFile(nextTo(path, file))
  // Until the end, rows name rows that are not there yet.
  db.pragma('foreign_keys = off')
  try {
    const damaged = new DamagedFile(pages)
    let badBodies = 0
    for (const portion of inPortions(damaged.rows())) {
      db.transaction(() => {
        for (const { shape, rows } of portion) {
          const whole = rows.filter((row) => isWhole(shape, row))
          badBodies += rows.length - whole.length
          restoreRows(db, { shape, rows: whole })
        }
      })()
      yield
    }
    const lost = db.transaction(() => mendLinks(db, readNames(damaged)))()
    db.transaction(() => fillTerms(db))()
    yield
    yield* tellAnew(db, nowMs)
    noteUndigested(db)
    if (hasLostBars(db, damaged)) noteDone(db, 'bars-lost', nowMs)
    db.prepare(END).run(nowMs, lost + damaged.badRows + badBodies, file)
  } finally {
    pages.close()
    if (db.open) db.pragma('foreign_keys = on')
  }
}

const HAS_PURGED = `select exists (select 1 from purges) or exists (select 1 from tombstones)`

/** Whether something was purged, and a page is lost that kept it from coming in again, or the salt of its hashes. */
function hasLostBars(db: Mirror, { unread }: DamagedFile): boolean {
  const isHit = unread.has('tombstones') || unread.has('purge_salt')
  return isHit && db.prepare<[], number>(HAS_PURGED).pluck().get() === 1
}

function* inPortions<Item extends { readonly rows: readonly unknown[] }>(items: Iterable<Item>): Generator<Item[]> {
  let portion: Item[] = []
  let rows = 0
  for (const item of items) {
    portion.push(item)
    rows += item.rows.length
    if (rows < ROWS_MAX) continue
    yield portion
    portion = []
    rows = 0
  }
  if (portion.length > 0) yield portion
}

const LIST_CHATS = `select id, source from chats order by source, num`
const CHATS_MAX = 200

/** What follows from a chat's messages is made anew: some of them may be lost, and it too. */
function* tellAnew(db: Mirror, nowMs: number): Generator<void> {
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
  readonly lost: number
  /** 1 where what was purged may come in again. */
  readonly hasLostBars: number
}

const LIST_DONE = `
select file, chats, messages, lost,
  exists (select 1 from upkeep where task = 'bars-lost' and upkeep.done_at = salvages.done_at) as hasLostBars
from salvages where done_at is not null order by file
`

/** What was saved, and from where, as long as the damaged file lies there. */
export const listSalvages = (db: Mirror, path: string): SalvageReport[] =>
  db
    .prepare<[], SalvageReport>(LIST_DONE)
    .all()
    .filter(({ file }) => existsSync(nextTo(path, file)))
