import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { forgetSeenTerms } from '../write/write-dictionary.ts'
import { Names } from '../write/write-tools.ts'

const TABLES = ['message_terms', 'chat_terms'] as const

/**
 * Removes from the lists of words whatever no message and no chat contains any more: terms, and names of tools and models.
 * The index keeps the terms of removed rows until its segments are merged into one.
 */
export function* forgetWords(db: Mirror): Generator<void, void> {
  db.pragma('secure_delete = on')
  for (const table of TABLES) {
    db.exec(`insert into ${table} (${table}) values ('optimize')`)
    yield
  }
  forgetTerms(db)
  yield
  db.transaction(() => forgetNames(db))()
}

const OPEN_VOCABULARY = TABLES.map(
  (table) => `create virtual table temp.${table}_words using fts5vocab ('main', '${table}', 'row')`,
)
const CLOSE_VOCABULARY = TABLES.map((table) => `drop table temp.${table}_words`)
const FORGET_TERMS = `
delete from terms where term not in (
  select term from message_terms_words union all select term from chat_terms_words
)
`

/** A message that waits to be indexed adds its terms later. */
function forgetTerms(db: Mirror): void {
  for (const sql of OPEN_VOCABULARY) db.exec(sql)
  try {
    db.exec(FORGET_TERMS)
    forgetSeenTerms(db)
  } finally {
    for (const sql of CLOSE_VOCABULARY) db.exec(sql)
  }
}

const LIST_NAMED = `select distinct marks, model from messages`

function forgetNames(db: Mirror): void {
  db.exec(`delete from names`)
  const names = new Names(db)
  for (const { marks, model } of prepared<{ marks: string; model: string | null }>(db, LIST_NAMED).all()) {
    names.write(marks, model)
  }
}
