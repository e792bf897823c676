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

/** @returns whether the message waited in the backlog */
export function takeFromBacklog(db: Mirror, key: number): boolean {
  return prepared(db, TAKE).run(key).changes > 0
}

/** How many messages can be read and are not yet found. */
export function countBacklog(db: Mirror): number {
  return prepared<{ count: number }>(db, COUNT).get()?.count ?? 0
}

/**
 * What one transaction indexes: enough that FTS5 writes large segments and seldom merges them, and no more than memory
 * should hold, or those who write meanwhile should wait for.
 */
const MESSAGES_MAX = 4000
const LENGTH_MAX = 8 * 1024 * 1024

/**
 * Works off the newest part of the backlog, in one transaction: killed at any moment, each message has its row or still
 * waits for it.
 * @returns how many messages can be found now; 0 when none waits
 */
export function indexBacklog(db: Mirror): number {
  return listingTerms(db, () => {
    const cut = cutNewest(db)
    const last = cut.at(-1)
    if (last === undefined) return 0
    // A migration that makes the index anew leaves titles without a row, too.
    fillTitles(db)
    // FTS5 writes out what it has gathered at each rowid that is less than the one before.
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

/** The newest messages that wait and their terms, newest first: at least one, where one waits. */
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

/** Makes a message found, and leaves its terms to `listSome`. */
export function writeUnlisted(db: Mirror, key: number, terms: MessageTerms): void {
  addTerms(db, key, terms)
  prepared(db, NOTE_UNLISTED).run(BigInt(key))
}

/** How many messages can be found, and have terms that may not be in the list of terms yet. */
export const countUnlisted = (db: Mirror): number => prepared<{ count: number }>(db, COUNT_UNLISTED).get()?.count ?? 0

/** What one transaction lists: some 100 ms. */
const LISTED_MAX = 500
/** What was moved or removed meanwhile has no row under its key any more. */
const LIST_UNLISTED = `
select unlisted.key, bodies.parts
from unlisted left join messages on messages.key = unlisted.key left join bodies on bodies.num = messages.body
order by unlisted.key limit ${LISTED_MAX}
`
const TAKE_LISTED = `delete from unlisted where key <= ?`

/**
 * Lists the terms of some of the messages that wait for it, in one transaction: killed at any moment, each has its
 * terms in the list or still waits.
 * @returns how many; 0 when none waits
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

/** What was left for later: messages whose terms are to be listed, messages to be found, chats to be counted. */
export const countWaiting = (db: Mirror): number => countUnlisted(db) + countBacklog(db) + countUndigested(db)

/** Works off some of it, in one transaction, what is asked for first before the rest. @returns how many; 0 when none waits */
export const workOffSome = (db: Mirror): number => listSome(db) || indexBacklog(db) || digestBacklog(db)
