import { UserError } from '../../model/user-error.ts'
import type { Mirror } from '../open.ts'

/** What is damaged: nothing, only the full-text tables (they can be rebuilt), or rows that exist nowhere else. */
export type Damage = 'none' | 'terms' | 'rows'

/** What is damaged according to SQLite's error code; `none` if the cause lies outside the file. */
export function damageOf(error: unknown): Damage {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'SQLITE_CORRUPT_VTAB') return 'terms'
  return /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? 'rows' : 'none'
}

export const isDamage = (error: unknown): boolean => damageOf(error) !== 'none'

const MIRROR_DAMAGED = 'mirror-damaged'
const TERMS_DAMAGED = 'terms-damaged'

/** The error that a user sees. @param message SQLite's message */
export const mirrorDamaged = (message: string, damage: Exclude<Damage, 'none'> = 'rows'): UserError =>
  new UserError(
    damage === 'terms' ? TERMS_DAMAGED : MIRROR_DAMAGED,
    `The mirror is damaged: ${message}.`,
    'The daemon repairs it by itself: ask again in a moment.',
  )

/** What is damaged according to the code of a `UserError`. */
export function damageToldBy(code: string): Damage {
  if (code === TERMS_DAMAGED) return 'terms'
  return code === MIRROR_DAMAGED ? 'rows' : 'none'
}

const LIST_TABLES = `select name from sqlite_schema where type = 'table' and rootpage > 0`

/** A part of the mirror that is checked in one step: a table with its indexes, by name, or what several tables share. */
export type MirrorPart = string

const WHOLE: MirrorPart = 'all tables'

/** @returns null if the mirror's own list of tables is damaged */
export function listParts(db: Mirror): MirrorPart[] | null {
  const tables = listTables(db)
  return tables === null ? null : [...tables, WHOLE]
}

/**
 * Checks all pages of all tables and their indexes, one part per step. Of the full-text tables only the plain tables
 * behind them are checked: a check of their contents would take ten times as long.
 */
export function* findDamage(db: Mirror): Generator<void, Damage> {
  // A page in the cache may differ from the page in the file.
  db.pragma('shrink_memory')
  const damaged = new Set<Damage>()
  const parts = listParts(db)
  if (parts === null) return 'rows'
  for (const part of parts) {
    damaged.add(checkPart(db, part))
    yield
  }
  return damaged.has('rows') ? 'rows' : damaged.has('terms') ? 'terms' : 'none'
}

/** One statement, which takes some seconds for a gigabyte. */
export function checkPart(db: Mirror, part: MirrorPart): Damage {
  if (part === WHOLE) return checkWhole(db)
  if (isSound(db, part)) return 'none'
  return /^(message|chat)_terms_/.test(part) ? 'terms' : 'rows'
}

function checkWhole(db: Mirror): Damage {
  if (hasSharedPages(db)) return 'rows'
  const tables = listTables(db) ?? []
  // A rebuild of these tables was killed after they were removed.
  const areThere = tables.includes('message_terms_data') && tables.includes('chat_terms_data')
  return areThere && areTermsOpenable(db) ? 'none' : 'terms'
}

function listTables(db: Mirror): string[] | null {
  try {
    return db.prepare<[], string>(LIST_TABLES).pluck().all()
  } catch (error) {
    if (isDamage(error)) return null
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

/** The version of the format, the averages and the list of segments of each full-text table. */
const COUNT_HEADS = `
select count(*) from (
  select k from message_terms_config where k = 'version' union all select k from chat_terms_config where k = 'version'
  union all select id from message_terms_data where id in (1, 10)
  union all select id from chat_terms_data where id in (1, 10)
)`

/** An empty page in place of the one with these rows passes `quick_check`, but FTS5 cannot open or read the table. */
function areTermsOpenable(db: Mirror): boolean {
  try {
    return db.prepare<[], number>(COUNT_HEADS).pluck().get() === 6
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

const COUNT_SHARED = `select count(*) from (select 1 from dbstat group by pageno having count(*) > 1)`

/** A page that two tables lead to belongs to only one of them, and it is unknown to which. */
const hasSharedPages = (db: Mirror): boolean => failsOrCounts(db, COUNT_SHARED)

const COUNT_UNREADABLE = `select count(*) from bodies where not json_valid(parts)`

/** Bytes of another page can be in the middle of a body. No check of pages finds this. */
export const hasBrokenBodies = (db: Mirror): boolean => failsOrCounts(db, COUNT_UNREADABLE)

function failsOrCounts(db: Mirror, sql: string): boolean {
  try {
    return (db.prepare<[], number>(sql).pluck().get() ?? 0) > 0
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}

/**
 * Checks the contents of the full-text tables. This takes some ten seconds for a gigabyte and cannot be interrupted, so
 * it runs in a process that may be killed.
 */
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
