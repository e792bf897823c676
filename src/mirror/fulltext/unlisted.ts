import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { listingTerms, writeDictionary } from '../write/write-dictionary.ts'
import { addTerms, cutParts, type MessageTerms } from './write-terms.ts'

const NOTE = `insert into unlisted (key) values (?) on conflict do nothing`
const COUNT = `select count(*) as count from unlisted`

/** Makes a message found, and leaves its terms to `listSome`. */
export function writeUnlisted(db: Mirror, key: number, terms: MessageTerms): void {
  addTerms(db, key, terms)
  prepared(db, NOTE).run(BigInt(key))
}

/** How many messages can be found, and have terms that may not be in the list of terms yet. */
export const countUnlisted = (db: Mirror): number => prepared<{ count: number }>(db, COUNT).get()?.count ?? 0

/** What one transaction lists: some 100 ms. */
const MESSAGES_MAX = 500
/** What was moved or removed meanwhile has no row under its key any more. */
const LIST = `
select unlisted.key, bodies.parts
from unlisted left join messages on messages.key = unlisted.key left join bodies on bodies.num = messages.body
order by unlisted.key limit ${MESSAGES_MAX}
`
const TAKE = `delete from unlisted where key <= ?`

/**
 * Lists the terms of some of the messages that wait for it, in one transaction: killed at any moment, each has its
 * terms in the list or still waits.
 * @returns how many; 0 when none waits
 */
export function listSome(db: Mirror): number {
  return listingTerms(db, () => {
    const waiting = prepared<{ key: number; parts: string | null }>(db, LIST).all()
    const last = waiting.at(-1)
    if (last === undefined) return 0
    for (const { parts } of waiting) if (parts !== null) writeDictionary(db, cutParts(parts))
    prepared(db, TAKE).run(BigInt(last.key))
    return waiting.length
  })
}
