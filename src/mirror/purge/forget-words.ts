import { DigestWalk } from '../digests/digest-format.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { forgetSeenTerms } from '../write/write-dictionary.ts'
import { Names } from '../write/names.ts'

const TABLES = ['message_terms', 'chat_terms'] as const

/**
 * Removes from the lists of words whatever no message and no chat contains any more: terms, names of tools and models,
 * words of digests. The index keeps the terms of removed rows until its segments are merged, so they are merged into one.
 */
export function* forgetWords(db: Mirror): Generator<void, void> {
  for (const table of TABLES) {
    db.exec(`insert into ${table} (${table}) values ('optimize')`)
    yield
  }
  forgetTerms(db)
  yield
  db.transaction(() => {
    forgetNames(db)
    forgetDigestWords(db)
  })()
  yield
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

const LIST_DIGESTS = `select entries from chat_digests`
const LIST_WORDS = `select num from digest_words`
const DROP_WORD = `delete from digest_words where num = ?`

function forgetDigestWords(db: Mirror): void {
  const used = new Set<number>()
  for (const { entries } of prepared<{ entries: Buffer }>(db, LIST_DIGESTS).iterate()) {
    for (const word of wordsOf(entries)) used.add(word)
  }
  for (const { num } of prepared<{ num: number }>(db, LIST_WORDS).all()) {
    if (!used.has(num)) prepared(db, DROP_WORD).run(BigInt(num))
  }
}

function* wordsOf(digest: Buffer): Generator<number> {
  const walk = new DigestWalk(digest)
  while (walk.nextChat()) {
    while (walk.next()) {
      yield walk.model
      for (let left = walk.callCount; left > 0; left -= 1, walk.nextCall()) {
        yield walk.tool
        for (let at = 0; at < walk.pathCount; at += 1) yield walk.path(at)
      }
    }
  }
}
