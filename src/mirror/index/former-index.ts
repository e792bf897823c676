import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'

// Until schema 29 the full-text index was in the mirror's own file.

const TABLES = ['message_terms', 'chat_terms', 'terms']

/** Keeps its tables for the moment: to drop them takes seconds for a large mirror, and lists must not wait. */
export const LEAVE_FORMER_INDEX = TABLES.map((name) => `alter table ${name} rename to former_${name};`).join('\n')

const IS_THERE = `select 1 from sqlite_schema where name = 'former_${TABLES.at(-1)}'`
export const hasFormerIndex = (db: Mirror): boolean => prepared(db, IS_THERE).get() !== undefined

/** Drops its tables. Their room in the file is used for new rows; the file does not shrink. */
export function dropFormerIndex(db: Mirror): void {
  for (const name of TABLES) db.exec(`drop table if exists former_${name}`)
}
