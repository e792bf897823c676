import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { makeDigest, writeDigest, listCounted, DigestWords } from './write-digest.ts'

const COUNT = `select count(*) as count from undigested`

/** How many chats wait for their digest. */
export const countUndigested = (db: Mirror): number => prepared<{ count: number }>(db, COUNT).get()?.count ?? 0

/** What one transaction digests: their bodies are read for it. */
const CHATS_MAX = 20
const TAKE = `select chat from undigested order by chat desc limit ${CHATS_MAX}`

/** Digests the newest of the chats that wait, in one transaction. @returns how many; 0 when none waits */
export function digestBacklog(db: Mirror): number {
  return db.transaction(() => {
    const chats = prepared<{ chat: number }>(db, TAKE).all()
    const words = new DigestWords(db)
    for (const { chat } of chats) writeDigest(db, words, chat, listCounted(db, chat))
    return chats.length
  })()
}

/** The digest of a chat that waits for it, for whoever cannot write. @param words gives names numbers of its own */
export const digestOf = (db: Mirror, chatNum: number, words: Pick<DigestWords, 'numOf'>): Buffer =>
  makeDigest(db, words, chatNum, listCounted(db, chatNum))

const NOTE_ALL = `
insert into undigested (chat) select num from chats where num not in (select chat from chat_digests)
on conflict do nothing
`

/** Has every chat without a digest wait for one. */
export function noteUndigested(db: Mirror): void {
  prepared(db, NOTE_ALL).run()
}
