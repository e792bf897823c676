import { dropTerms } from '../fulltext/write-terms.ts'
import type { Mirror } from '../open.ts'
import { TERM_TABLES } from '../schema.ts'
import { fillTitles } from '../write/chats/chat-columns.ts'
import { isDamage } from './check-pages.ts'

const TABLES = ['message_terms', 'chat_terms']

/**
 * Rebuilds the full-text tables. Titles are found at once. Messages join the backlog: searches go on, and report how
 * many messages they still miss.
 */
export function rebuildTerms(db: Mirror): void {
  try {
    db.transaction(() => {
      for (const table of TABLES) db.exec(`drop table if exists ${table}`)
      db.exec(TERM_TABLES)
      fillTerms(db)
    })()
  } catch (error) {
    if (!isDamage(error) && !isUnopenable(error)) throw error
    tearOut(db)
  }
  if (countLostPages(db) > 0) db.exec('vacuum')
}

/** FTS5 opens a table to drop it. Without the page with the format's version it fails, with this message and no code. */
const isUnopenable = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('invalid fts5 file format')

const COUNT_USED = `select count(*) from dbstat`

/** If an interior page is damaged, dropping its table does not free the pages below it. */
function countLostPages(db: Mirror): number {
  const [pages, free] = ['page_count', 'freelist_count'].map((name) => Number(db.pragma(name, { simple: true })))
  return (pages ?? 0) - (free ?? 0) - (db.prepare<[], number>(COUNT_USED).pluck().get() ?? 0)
}

const IS_TERMS = `name in ('message_terms', 'chat_terms') or name glob 'message_terms_*' or name glob 'chat_terms_*'`

/**
 * SQLite cannot drop a table whose pages it cannot walk. So the tables are removed from the schema, and `vacuum` frees
 * the pages that no table has any more.
 */
function tearOut(db: Mirror): void {
  db.unsafeMode(true)
  try {
    db.pragma('writable_schema = on')
    db.prepare(`delete from sqlite_schema where ${IS_TERMS}`).run()
    db.pragma('writable_schema = reset')
  } finally {
    db.unsafeMode(false)
  }
  db.transaction(() => {
    db.exec(TERM_TABLES)
    fillTerms(db)
  })()
}

const NOTE_ALL = `
insert into unindexed (key)
select key from messages where is_shadowed = 0 and key not in (select id from message_terms_docsize)
on conflict do nothing
`

/** Gives each chat its missing full-text row, and puts messages without one in the backlog. @returns how many */
export function fillTerms(db: Mirror): number {
  return fillTitles(db) + db.prepare(NOTE_ALL).run().changes
}

const LIST_STRAY = `
select id from message_terms_docsize where id not in (select key from messages where is_shadowed = 0)
union select id from message_terms_docsize where id in (select key from unindexed)
`
const DROP_STRAY_WAITING = `delete from unindexed where key not in (select key from messages where is_shadowed = 0)`
const LIST_STRAY_TITLES = `select id from chat_terms_docsize where id not in (select num from chats)`
const DROP_TITLE = `delete from chat_terms where rowid = ?`

/**
 * Compares the rows of the full-text tables with the messages and chats, and repairs the difference. Afterwards every
 * message of a thread has a full-text row or is in the backlog, and there are no other rows.
 * @returns how many rows were wrong
 */
export function mendTerms(db: Mirror): number {
  return db.transaction(() => {
    const strays = db.prepare<[], number>(LIST_STRAY).pluck().all()
    for (const key of strays) dropTerms(db, key)
    const titles = db.prepare<[], number>(LIST_STRAY_TITLES).pluck().all()
    for (const num of titles) db.prepare(DROP_TITLE).run(BigInt(num))
    const waiting = db.prepare(DROP_STRAY_WAITING).run().changes
    return strays.length + titles.length + waiting + fillTerms(db)
  })()
}
