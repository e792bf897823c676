import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
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

/** A message of the backlog and the terms to be written for it. */
export interface CutMessage {
  readonly key: number
  /** Of the words and marks from which the terms were cut. */
  readonly contentHash: string
  readonly terms: MessageTerms
}

/** What one transaction indexes: enough that FTS5 writes large segments, and no more than memory should hold. */
const MESSAGES_MAX = 2000
const OCTETS_MAX = 4 * 1024 * 1024

/** Cuts the messages of the backlog into terms, newest first, a transaction's worth at a time. It only reads. */
export function* cutBacklog(db: Mirror): Generator<CutMessage[], void> {
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    const newest = listNewest(db, below)
    const last = newest.at(-1)
    if (last === undefined) return
    yield newest.map(({ key, contentHash, body }) => ({ key, contentHash, terms: cutParts(readParts(db, body)) }))
    below = last.key
  }
}

interface Waiting {
  readonly key: number
  readonly contentHash: string
  readonly body: number
  readonly octets: number
}

const LIST = `
select unindexed.key, content_hash || marks as contentHash, body, octet_length(bodies.parts) as octets
from unindexed cross join messages on messages.key = unindexed.key cross join bodies on bodies.num = body
where unindexed.key < ?
order by unindexed.key desc limit ?
`

/** At least one message, where one waits. */
function listNewest(db: Mirror, below: number): Waiting[] {
  const newest: Waiting[] = []
  let octets = 0
  for (const message of prepared<Waiting>(db, LIST).iterate(BigInt(below), MESSAGES_MAX)) {
    octets += message.octets
    if (newest.length > 0 && octets > OCTETS_MAX) break
    newest.push(message)
  }
  return newest
}

const READ_PARTS = `select parts from bodies where num = ?`

const readParts = (db: Mirror, body: number): string =>
  prepared<{ parts: string }>(db, READ_PARTS).get(body)?.parts ?? '[]'

const IS_SAME = `select 1 from messages where key = ? and content_hash || marks = ?`

/**
 * Writes full-text rows in one transaction: killed at any moment, each message has its row or still waits for it. One
 * that was written or rewritten since it was cut is left alone.
 * @param cut newest first, as `cutBacklog` gives them
 * @returns how many were written
 */
export function writeCut(db: Mirror, cut: readonly CutMessage[]): number {
  return db.transaction(() => {
    let written = 0
    // FTS5 writes out what it has gathered at each rowid that is less than the one before.
    for (const { key, contentHash, terms } of cut.toReversed()) {
      if (prepared(db, IS_SAME).get(key, contentHash) === undefined || !takeFromBacklog(db, key)) continue
      writeTerms(db, key, terms)
      written += 1
    }
    return written
  })()
}

/** Works off the newest part of the backlog. @returns how many messages can be found now; 0 when none waits */
export function indexBacklog(db: Mirror): number {
  const next = cutBacklog(db).next()
  return next.done === true ? 0 : writeCut(db, next.value)
}
