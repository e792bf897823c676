import type { Mirror } from '../open.ts'

/** What is damaged: nothing; only what can be made from the rest; or rows that exist nowhere else. */
export type Damage = 'none' | 'terms' | 'rows'

/** What is damaged by the word of SQLite: `none` where the world around the file is to blame. */
export function damageOf(error: unknown): Damage {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_CORRUPT_VTAB') return 'terms'
  return /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? 'rows' : 'none'
}

export const isDamage = (error: unknown): boolean => damageOf(error) !== 'none'

const LIST_TABLES = `select name from sqlite_schema where type = 'table' and rootpage > 0`

/**
 * Walks all pages of all tables and their indexes, a table a step. The full-text tables are walked as the plain tables
 * that they are kept in: reading their content too would take ten times as long.
 */
export function* findDamage(db: Mirror): Generator<void, Damage> {
  // What is remembered of a page says nothing of the page.
  db.pragma('shrink_memory')
  const damaged = new Set<Damage>()
  const tables = listTables(db)
  // Killed while they were torn out.
  if (!tables.includes('message_terms_data') || !tables.includes('chat_terms_data')) damaged.add('terms')
  for (const table of tables) {
    if (table === null) return 'rows'
    const isOfTerms = /^(message|chat)_terms_/.test(table)
    if (!isSound(db, table)) damaged.add(isOfTerms ? 'terms' : 'rows')
    yield
  }
  if (damaged.size === 0 && !areTermsOpenable(db)) damaged.add('terms')
  if (!damaged.has('rows') && hasSharedPages(db)) damaged.add('rows')
  return damaged.has('rows') ? 'rows' : damaged.has('terms') ? 'terms' : 'none'
}

function listTables(db: Mirror): (string | null)[] {
  try {
    return db.prepare<[], string>(LIST_TABLES).pluck().all()
  } catch (error) {
    if (isDamage(error)) return [null]
    throw error
  }
}

function isSound(db: Mirror, table: string): boolean {
  try {
    return db.pragma(`quick_check('${table}')`, { simple: true }) === 'ok'
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

const COUNT_VERSIONS = `
select count(*) from (
  select k from message_terms_config where k = 'version' union all select k from chat_terms_config where k = 'version'
)`

/** An empty page in the place of the one that tells how they are kept is sound by itself, and nothing can be found any more. */
function areTermsOpenable(db: Mirror): boolean {
  try {
    return db.prepare<[], number>(COUNT_VERSIONS).pluck().get() === 2
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

const COUNT_SHARED = `select count(*) from (select 1 from dbstat group by pageno having count(*) > 1)`

/** A page to which two tables lead belongs to one of them, and nothing tells to which. */
const hasSharedPages = (db: Mirror): boolean => failsOrCounts(db, COUNT_SHARED)

const COUNT_UNREADABLE = `select count(*) from bodies where not json_valid(parts)`

/** A body of which the middle is of another page: no tree shows it. */
export const hasBrokenBodies = (db: Mirror): boolean => failsOrCounts(db, COUNT_UNREADABLE)

function failsOrCounts(db: Mirror, sql: string): boolean {
  try {
    return (db.prepare<[], number>(sql).pluck().get() ?? 0) > 0
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

/** Reads the full-text tables as what they are, some ten seconds for a gigabyte: for a process that may be ended. */
export function areTermsSound(db: Mirror): boolean {
  return ['message_terms', 'chat_terms'].every((table) => {
    try {
      return db.pragma(`integrity_check('${table}')`, { simple: true }) === 'ok'
    } catch (error) {
      if (isDamage(error)) return false
      throw error
    }
  })
}
