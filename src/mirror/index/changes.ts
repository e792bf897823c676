import { existsSync } from 'node:fs'
import Database from '../../sqlite.ts'
import { RowInsert, prepared } from '../sql.ts'
import type { Mirror } from '../open.ts'

// The mirror's side of the full-text index: which messages and titles changed. The index has its own file, and follows.

/** The title of a chat is noted by this key: those of messages are all positive. */
export const titleKey = (chat: number): number => -chat

/**
 * `index_changes`: the keys of messages and titles whose rows in the index are to be made anew, in the order of their
 * transactions. `index_epochs`: each opening of the mirror by a writer, with the last change before it. A mirror that
 * was put back, or that lost its last commits in a power cut, gives the same numbers again: the marks tell them apart.
 */
export const CHANGE_TABLES = `
create table index_changes (
  num integer primary key autoincrement, key integer not null, is_urgent integer not null
) strict;
create index index_changes_by_key on index_changes (key);
create table index_epochs (num integer primary key autoincrement, first integer not null, mark text not null) strict;
`

/** SQL: the number of the last change; 0 before the first one. Numbers are never given again. */
export const LAST_CHANGE = `coalesce((select seq from sqlite_sequence where name = 'index_changes'), 0)`

const EPOCHS_KEPT = 100
const BEGIN_EPOCH = `insert into index_epochs (first, mark) values (${LAST_CHANGE}, lower(hex(randomblob(8))))`
const DROP_EPOCHS = `delete from index_epochs where num <= (select max(num) from index_epochs) - ${EPOCHS_KEPT}`

/** Call it when a writer opens the mirror, before it writes. */
export function beginEpoch(db: Mirror): void {
  db.transaction(() => {
    db.exec(BEGIN_EPOCH)
    db.exec(DROP_EPOCHS)
  })()
}

const insert = new RowInsert('index_changes (key, is_urgent)', '(?, ?)')

/** Notes changed keys, in the transaction that changes them. @param isUrgent false if a first pass wrote them */
export function noteChanges(db: Mirror, keys: Iterable<number>, isUrgent: boolean): void {
  insert.run(
    db,
    [...keys].map((key) => [BigInt(key), isUrgent ? 1n : 0n]),
  )
}

const READ_POSITION = `select num, not exists (select 1 from pending) as isDone from position`
/** The last one that was taken stays: it shows where an older index would have a gap. */
const TRIM = `delete from index_changes where num < ?`
const COUNT = `select count(*) from index_changes`
/** Fewer are not worth a transaction. */
const TRIMMED_MIN = 2000

/** Forgets changes that the index has taken, and drops the index that older versions kept in the mirror, when the new one is complete. */
export function tidyChanges(db: Mirror, indexPath: string): void {
  const isLong = (prepared<number>(db, COUNT).pluck().get() ?? 0) >= TRIMMED_MIN
  if (!(isLong || hasFormerIndex(db)) || !existsSync(indexPath)) return
  const index = new Database(indexPath, { readonly: true, timeout: 10_000 })
  try {
    const position = index.prepare<[], { num: number; isDone: number }>(READ_POSITION).get()
    if (isLong) prepared(db, TRIM).run(position?.num ?? 0)
    if (position?.isDone === 1) dropFormerIndex(db)
  } catch {
    // It is damaged. Its writer makes it anew.
  } finally {
    index.close()
  }
}

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
