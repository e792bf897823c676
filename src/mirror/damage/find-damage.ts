import { UserError } from '../../model/user-error.ts'
import type { Mirror } from '../open.ts'

/** The error that a user sees. @param message SQLite's message */
export const mirrorDamaged = (message: string): UserError =>
  new UserError(
    'mirror-damaged',
    `The mirror is damaged: ${message}.`,
    'Start the daemon again: it makes a new mirror from everything that can be read.',
  )

/** The code of a search that met a damaged index. */
export const INDEX_DAMAGED = 'index-damaged'

/** The error that a user sees. Somebody makes the index anew meanwhile. */
export const indexDamaged = (cause: unknown): UserError =>
  new UserError(INDEX_DAMAGED, 'The full-text index is damaged, and is made anew.', 'Ask again in a moment.', { cause })

/** The code of an error of SQLite or of the system; empty if it has none. */
export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

/** What SQLite says if a table of the index, or the row with its format, is gone. It has no code for that. */
const NO_INDEX =
  /^(invalid fts5 file format|vtable constructor failed|no such table: (fulltext\.|message_terms|chat_terms))/

/** Whether an error of a reader is one of the full-text index. FTS5 has a code for damage of its own, and for little else. */
export const isOfIndex = (error: unknown): error is Error =>
  error instanceof Error &&
  (['SQLITE_CORRUPT_VTAB', INDEX_DAMAGED].includes(codeOf(error)) || NO_INDEX.test(error.message))

/** Whether an error, of SQLite or for a user, means that a page of the mirror is damaged. */
export function isDamage(error: unknown): boolean {
  return !isOfIndex(error) && /^(SQLITE_(CORRUPT|NOTADB)|mirror-damaged)/.test(codeOf(error))
}

/** A part of the disk that cannot be read, or a damaged length. */
const UNREADABLE = /^SQLITE_(IOERR_(READ|SHORT_READ|CORRUPTFS|DATA)|TOOBIG)$/

/** Whether the error means that a page, or what it says, cannot be read. */
export const isUnreadable = (error: unknown): boolean => isDamage(error) || UNREADABLE.test(codeOf(error))

/** What is stored of messages is JSON. A changed byte in it leaves the page as it should be. */
const FIND_BROKEN = `select 1 from bodies where not json_valid(parts) limit 1`

/** Whether any message's text is broken on a page that is as it should be. */
export const hasBrokenText = (db: Mirror): boolean => db.prepare(FIND_BROKEN).get() !== undefined

/**
 * Checks all pages, of tables, of indexes and unused ones: some seconds for a gigabyte. An unused page that is in use too
 * would be overwritten.
 */
export function isDamaged(db: Mirror): boolean {
  try {
    return db.pragma('main.integrity_check(1)', { simple: true }) !== 'ok'
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}
