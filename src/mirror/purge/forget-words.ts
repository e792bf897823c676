import { indexTerms } from '../../text/terms/terms.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { forgetSeenTerms } from '../fulltext/terms.ts'
import { Names } from '../write/write.ts'

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

const TERMS_MAX = 10
const OPEN_PLACES = `
create virtual table temp.message_places using fts5vocab ('main', 'message_terms', 'instance');
create virtual table temp.chat_places using fts5vocab ('main', 'chat_terms', 'instance');
`
const COUNT_STALE = `
with given as (select value as term from json_each(@terms))
select
  (select count(*) from given join message_places using (term) where not exists (select 1 from messages where key = doc)) +
  (select count(*) from given join chat_places using (term) where not exists (select 1 from chats where num = doc))
`

/**
 * Looks up the words of a purged text in the vocabulary of the index. The bytes of the index do not show them: it
 * compresses terms, and keeps those of removed rows until it is merged.
 * @returns how often it has one of its longest words in a message or a title that is no more
 */
export function countStale(db: Mirror, text: string): number {
  const terms = [...new Set(indexTerms(text).split(' '))].toSorted((one, other) => other.length - one.length)
  db.pragma('query_only = off')
  db.exec(OPEN_PLACES)
  return (
    db
      .prepare<object, number>(COUNT_STALE)
      .pluck()
      .get({ terms: JSON.stringify(terms.slice(0, TERMS_MAX)) }) ?? 0
  )
}

const LIST_NAMED = `select distinct marks, model from messages`

function forgetNames(db: Mirror): void {
  db.exec(`delete from names`)
  const names = new Names(db)
  for (const { marks, model } of prepared<{ marks: string; model: string | null }>(db, LIST_NAMED).all()) {
    names.write(marks, model)
  }
}
