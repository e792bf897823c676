import { noteLooseRows } from './merge-terms.ts'
import { fillTitles } from '../write/chats/fill-titles.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { listingTerms } from '../write/write-dictionary.ts'
import { cutParts, writeTerms, type MessageTerms } from './write-terms.ts'

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
