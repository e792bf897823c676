import { UserError } from '../../model/user-error.ts'
import type { Mirror } from '../open.ts'

/** The error that a user sees. @param message SQLite's message */
export const mirrorDamaged = (message: string): UserError =>
  new UserError(
    'mirror-damaged',
    `The mirror is damaged: ${message}.`,
    'Start the daemon again: it makes a new mirror from everything that can be read.',
  )

/** Whether an error, of SQLite or for a user, means that a page of the mirror is damaged. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  // FTS5 has no code for a full-text table that has lost the row with the version of its format.
  return /^(SQLITE_(CORRUPT|NOTADB)|mirror-damaged)/.test(code) || error.message.startsWith('invalid fts5 file format')
}

/** They can be missing only if a repair of an older version was interrupted. */
const COUNT_INDEX = `select count(*) from sqlite_schema where name in ('chat_terms', 'message_terms')`
const LIST_TABLES = `select name from sqlite_schema where type = 'table' and rootpage > 0`
/** A page that two tables lead to belongs to only one of them, and it is unknown to which. */
const FIND_SHARED = `select 1 from dbstat group by pageno having count(*) > 1 limit 1`

/**
 * Checks all pages of all tables and their indexes: some seconds for a gigabyte. Of the full-text tables only the plain
 * tables behind them are checked. A check of their contents would take ten times as long.
 */
export function isDamaged(db: Mirror): boolean {
  try {
    if (db.prepare(COUNT_INDEX).pluck().get() !== 2) return true
    for (const table of db.prepare<[], string>(LIST_TABLES).pluck().all()) {
      if (db.pragma(`quick_check('${table}')`, { simple: true }) !== 'ok') return true
    }
    return db.prepare(FIND_SHARED).get() !== undefined
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}
