import { DigestWalk } from '../digests/digest-format.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { forgetSeenTerms } from '../write/write-dictionary.ts'
import { Names } from '../write/write-tools.ts'

/** Pages of the index that one step of merging writes at most. */
const MERGE_PAGES = 500
const TABLES = ['message_terms', 'chat_terms'] as const
const COUNT_CHANGES = `select total_changes() as changes`
/** By SQLite's documentation: fewer changes mean that there is nothing left to merge. */
const CHANGES_MIN = 2

/**
 * Takes out of the lists of words whatever no message and no chat holds any more: terms, names of tools and models, the
 * words of digests. Full-text rows that were removed leave their terms in the index until its segments are merged: so
 * they are, into one.
 */
export function* forgetWords(db: Mirror): Generator<void, void> {
  for (const table of TABLES) yield* mergeAll(db, table)
  forgetTerms(db)
  yield
  db.transaction(() => {
    forgetNames(db)
    forgetDigestWords(db)
  })()
  yield
}

function* mergeAll(db: Mirror, table: (typeof TABLES)[number]): Generator<void> {
  const merge = `insert into ${table} (${table}, rank) values ('merge', ?)`
  const changes = (): number => prepared<{ changes: number }>(db, COUNT_CHANGES).get()?.changes ?? 0
  // Less than nothing begins a merge of everything.
  for (let pages = -MERGE_PAGES; ; pages = MERGE_PAGES) {
    const before = changes()
    prepared(db, merge).run(BigInt(pages))
    if (changes() - before < CHANGES_MIN) return
    yield
  }
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

/** A message that waits to be indexed lists its terms when it is. */
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
