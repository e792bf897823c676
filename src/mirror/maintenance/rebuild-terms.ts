import { fillTitles } from '../write/chats/chat-columns.ts'
import type { Mirror } from '../open.ts'
import { emptyMirror } from '../salvage/shapes.ts'
import { isDamage } from './check-pages.ts'

const TABLES = ['message_terms', 'chat_terms']

/**
 * Makes the full-text tables anew. Titles can be found at once; messages join the backlog, so that searches go on, say
 * what they miss, and miss less and less.
 */
export function rebuildTerms(db: Mirror): void {
  try {
    db.transaction(() => {
      for (const table of TABLES) db.exec(`drop table if exists ${table}`)
      makeTables(db)
      fillTerms(db)
    })()
  } catch (error) {
    if (!isDamage(error) && !isUnopenable(error)) throw error
    tearOut(db)
  }
  if (countLostPages(db) > 0) db.exec('vacuum')
}

/** FTS5 opens a table to drop it, and says this in no code where the page that tells how it is kept is another. */
const isUnopenable = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('invalid fts5 file format')

const COUNT_USED = `select count(*) from dbstat`

/** Where a page that named others is damaged, dropping its table does not give those back. */
function countLostPages(db: Mirror): number {
  const [pages, free] = ['page_count', 'freelist_count'].map((name) => Number(db.pragma(name, { simple: true })))
  return (pages ?? 0) - (free ?? 0) - (db.prepare<[], number>(COUNT_USED).pluck().get() ?? 0)
}

const IS_TERMS = `name in ('message_terms', 'chat_terms') or name glob 'message_terms_*' or name glob 'chat_terms_*'`

/**
 * A table whose pages lead nowhere cannot be dropped: its pages cannot be given back one by one. Its name is struck off
 * instead, and what has no name any more goes when the file is written anew.
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
    makeTables(db)
    fillTerms(db)
  })()
}

const LIST_SQL = `select sql from sqlite_schema where sql like 'create virtual table%'`
const LIST_SETTINGS = `select k, v from message_terms_config where k <> 'version'`

/** As a new mirror has them. */
function makeTables(db: Mirror): void {
  const model = emptyMirror()
  try {
    for (const sql of model.prepare<[], string>(LIST_SQL).pluck().all()) db.exec(sql)
    const settings = model.prepare<[], { k: string; v: number }>(LIST_SETTINGS).all()
    const set = db.prepare('insert into message_terms (message_terms, rank) values (?, ?)')
    for (const { k, v } of settings) set.run(k, BigInt(v))
  } finally {
    model.close()
  }
}

const NOTE_ALL = `
insert into unindexed (key)
select key from messages where is_shadowed = 0 and key not in (select id from message_terms_docsize)
on conflict do nothing
`

/** Whatever has no full-text row: chats get theirs, messages wait for it. @returns how many there were */
export function fillTerms(db: Mirror): number {
  return fillTitles(db) + db.prepare(NOTE_ALL).run().changes
}
