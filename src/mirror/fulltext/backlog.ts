import { noteLooseRows } from './merge-terms.ts'
import { fillTitles } from '../write/chats/chat-columns.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { listingTerms, writeDictionary } from '../write/write-dictionary.ts'
import { cutParts, writeTerms, type MessageTerms, addTerms } from './write-terms.ts'
import { countUndigested, digestBacklog } from '../digests/digest-backlog.ts'

const NOTE = `insert into unindexed (key) values (?)`
const TAKE = `delete from unindexed where key = ?`
const COUNT = `select count(*) as count from unindexed`

export function noteUnindexed(db: Mirror, key: number): void {
  prepared(db, NOTE).run(key)
}

/** @returns whether the message was in the backlog */
export function takeFromBacklog(db: Mirror, key: number): boolean {
  return prepared(db, TAKE).run(key).changes > 0
}

/** How many messages are stored but not yet in the full-text index. */
export function countBacklog(db: Mirror): number {
  return prepared<{ count: number }>(db, COUNT).get()?.count ?? 0
}

/**
 * Limits of one indexing transaction. They are large enough that FTS5 writes large segments and rarely merges them, and
 * small enough for the memory and for other writers that wait.
 */
const MESSAGES_MAX = 4000
const LENGTH_MAX = 8 * 1024 * 1024

/**
 * Indexes the newest part of the backlog in one transaction. If the process is killed, each message either has its
 * full-text row or is still in the backlog.
 * @returns how many messages were indexed; 0 if the backlog is empty
 */
export function indexBacklog(db: Mirror): number {
  return listingTerms(db, () => {
    const cut = cutNewest(db)
    const last = cut.at(-1)
    if (last === undefined) return 0
    // A migration that rebuilds the index leaves titles without a row, too.
    fillTitles(db)
    // FTS5 flushes its buffer at each rowid that is less than the previous one.
    for (const { key, terms } of cut.toReversed()) writeTerms(db, key, terms)
    prepared(db, TAKE_NEWEST).run(BigInt(last.key))
    noteLooseRows(db, cut.length)
    return cut.length
  })
}

const TAKE_NEWEST = `delete from unindexed where key >= ?`
const LIST_NEWEST = `
select unindexed.key, bodies.parts
from unindexed cross join messages on messages.key = unindexed.key cross join bodies on bodies.num = body
order by unindexed.key desc limit ?
`

/** The newest messages of the backlog with their terms, newest first. At least one, unless the backlog is empty. */
function cutNewest(db: Mirror): { readonly key: number; readonly terms: MessageTerms }[] {
  const cut: { key: number; terms: MessageTerms }[] = []
  let length = 0
  for (const { key, parts } of prepared<{ key: number; parts: string }>(db, LIST_NEWEST).iterate(MESSAGES_MAX)) {
    cut.push({ key, terms: cutParts(parts) })
    length += parts.length
    if (length > LENGTH_MAX) break
  }
  return cut
}

const NOTE_UNLISTED = `insert into unlisted (key) values (?) on conflict do nothing`
const COUNT_UNLISTED = `select count(*) as count from unlisted`

/** Indexes a message. `listSome` adds its terms to the list of terms later. */
export function writeUnlisted(db: Mirror, key: number, terms: MessageTerms): void {
  addTerms(db, key, terms)
  prepared(db, NOTE_UNLISTED).run(BigInt(key))
}

/** How many messages are indexed, but may have terms that are not in the list of terms yet. */
const countUnlisted = (db: Mirror): number => prepared<{ count: number }>(db, COUNT_UNLISTED).get()?.count ?? 0

/** Messages per transaction; they take about 100 ms. */
const LISTED_MAX = 500
/** A message that was moved or removed since has no row under its former key. */
const LIST_UNLISTED = `
select unlisted.key, bodies.parts
from unlisted left join messages on messages.key = unlisted.key left join bodies on bodies.num = messages.body
order by unlisted.key limit ${LISTED_MAX}
`
const TAKE_LISTED = `delete from unlisted where key <= ?`

/**
 * Adds the terms of some waiting messages to the list of terms, in one transaction. If the process is killed, each
 * message either has its terms in the list or still waits.
 * @returns how many messages; 0 if none waits
 */
export function listSome(db: Mirror): number {
  return listingTerms(db, () => {
    const waiting = prepared<{ key: number; parts: string | null }>(db, LIST_UNLISTED).all()
    const last = waiting.at(-1)
    if (last === undefined) return 0
    for (const { parts } of waiting) if (parts !== null) writeDictionary(db, cutParts(parts))
    prepared(db, TAKE_LISTED).run(BigInt(last.key))
    return waiting.length
  })
}

/** All deferred work: messages whose terms are not listed, messages that are not indexed, chats without a digest. */
export const countWaiting = (db: Mirror): number => countUnlisted(db) + countBacklog(db) + countUndigested(db)

/** Does some of the deferred work in one transaction, the most urgent kind first. @returns how many items; 0 if none waits */
export const workOffSome = (db: Mirror): number => listSome(db) || indexBacklog(db) || digestBacklog(db)
