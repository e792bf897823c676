import { noteLooseRows } from './merge-terms.ts'
import { fillTitles } from '../write/chats/chat-columns.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { listTerms, listingTerms, writeDictionary } from '../write/write-dictionary.ts'
import { cutNewest, noteBacklogChange, type CutAhead } from './cut-ahead.ts'
import { addTerms, cutParts, type MessageTerms } from './write-terms.ts'
import { countUncounted, countNext } from '../usage/estimates.ts'

const NOTE = `insert into unindexed (key) values (?)`
const TAKE = `delete from unindexed where key = ?`
const COUNT = `select count(*) as count from unindexed`

export function noteUnindexed(db: Mirror, key: number): void {
  prepared(db, NOTE).run(key)
  noteBacklogChange(db)
}

/** @returns whether the message was in the backlog */
export function takeFromBacklog(db: Mirror, key: number): boolean {
  const isTaken = prepared(db, TAKE).run(key).changes > 0
  if (isTaken) noteBacklogChange(db)
  return isTaken
}

/** How many messages are stored but not yet in the full-text index. */
export function countBacklog(db: Mirror): number {
  return prepared<{ count: number }>(db, COUNT).get()?.count ?? 0
}

/** For fewer messages, another thread is not worth its start. */
const AHEAD_MIN = 2000

/**
 * Indexes the newest part of the backlog in one transaction, large enough that FTS5 writes large segments and rarely merges
 * them. If the process is killed, each message either has its full-text row or is still in the backlog.
 * @param ahead cuts terms on another thread
 * @returns how many messages were indexed; 0 if the backlog is empty, or if nothing is cut yet
 */
export function indexBacklog(db: Mirror, ahead: CutAhead | null = null): number {
  const given = ahead === null || (!ahead.isAtWork && countBacklog(db) < AHEAD_MIN) ? null : ahead.take(db)
  if (given === 'later') return 0
  return listingTerms(db, () => {
    const messages = given?.messages ?? cutNewest(db, Number.MAX_SAFE_INTEGER)
    const last = messages.at(-1)
    if (last === undefined) return 0
    // A migration that rebuilds the index leaves titles without a row, too.
    fillTitles(db)
    // FTS5 flushes its buffer at each rowid that is less than the previous one.
    for (const { key, terms } of messages.toReversed()) {
      addTerms(db, key, terms)
      if (given === null) writeDictionary(db, terms)
    }
    if (given !== null) listTerms(db, given.listed)
    prepared(db, TAKE_NEWEST).run(BigInt(last.key))
    noteLooseRows(db, messages.length)
    return messages.length
  })
}

const TAKE_NEWEST = `delete from unindexed where key >= ?`

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

const COUNT_UNPLACED = `select count(*) as count from unplaced`

/** How many chats have messages with temporary places, or times by an older rule. */
const countUnplaced = (db: Mirror): number => prepared<{ count: number }>(db, COUNT_UNPLACED).get()?.count ?? 0

/**
 * All deferred work: messages whose terms are not listed, messages that are not indexed, chats whose messages are not
 * counted, chats whose messages are to be placed.
 */
export const countWaiting = (db: Mirror): number =>
  countUnlisted(db) + countBacklog(db) + countUnplaced(db) + countUncounted(db)

/** Does some of the deferred work in one transaction, the most urgent kind first. @returns how many items; 0 if none waits */
export const workOffSome = (db: Mirror, ahead: CutAhead | null = null): number =>
  listSome(db) || indexBacklog(db, ahead) || countNext(db)
