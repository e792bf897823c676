import type { CutAhead, CutMessage, WaitingMessage } from './cut-ahead.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { listingTerms, writeDictionary } from './write-dictionary.ts'
import { addTerms, cutParts } from './write-terms.ts'

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
 * @param ahead where another thread cuts the next part while this one is written
 * @returns how many messages can be found now; 0 when none waits
 */
export function indexBacklog(db: Mirror, ahead: CutAhead | null = null): number {
  const count = listingTerms(db, () => {
    const cut = ahead?.take(db) ?? cutHere(db)
    const last = cut.at(-1)
    if (last === undefined) return 0
    ahead?.ask(listNewest(db, last.key))
    // FTS5 writes out what it has gathered at each rowid that is less than the one before.
    for (const { key, terms } of cut.toReversed()) addTerms(db, key, terms)
    prepared(db, TAKE_NEWEST).run(BigInt(last.key))
    return cut.length
  })
  ahead?.settle(db)
  return count
}

function cutHere(db: Mirror): CutMessage[] {
  const cut = listNewest(db, Number.MAX_SAFE_INTEGER).map(({ key, parts }) => ({ key, terms: cutParts(parts) }))
  for (const { terms } of cut) writeDictionary(db, terms)
  return cut
}

const TAKE_NEWEST = `delete from unindexed where key >= ?`
const LIST_NEWEST = `
select unindexed.key, bodies.parts
from unindexed cross join messages on messages.key = unindexed.key cross join bodies on bodies.num = body
where unindexed.key < ?
order by unindexed.key desc limit ?
`

/** The newest messages that wait below this key, newest first: at least one, where one waits. */
function listNewest(db: Mirror, below: number): WaitingMessage[] {
  const waiting: WaitingMessage[] = []
  let length = 0
  for (const message of prepared<WaitingMessage>(db, LIST_NEWEST).iterate(BigInt(below), MESSAGES_MAX)) {
    waiting.push(message)
    length += message.parts.length
    if (length > LENGTH_MAX) break
  }
  return waiting
}
