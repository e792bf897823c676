import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { makeDigest, writeDigest, listCounted, DigestWords } from './write-digest.ts'

const COUNT = `select count(*) as count from undigested`

/** How many chats have no digest yet. */
export const countUndigested = (db: Mirror): number => prepared<{ count: number }>(db, COUNT).get()?.count ?? 0

/** Chats per transaction. A digest needs the bodies of all messages of the chat. */
const CHATS_MAX = 20
const TAKE = `select chat from undigested order by chat desc limit ${CHATS_MAX}`

/** Writes the digests of the newest waiting chats in one transaction. @returns how many; 0 if none waits */
export function digestBacklog(db: Mirror): number {
  return db.transaction(() => {
    const chats = prepared<{ chat: number }>(db, TAKE).all()
    const words = new DigestWords(db)
    for (const { chat } of chats) writeDigest(db, words, chat, listCounted(db, chat))
    return chats.length
  })()
}

/** The digest of a chat that has none stored, for a reader that cannot write. @param words assigns its own numbers */
export const digestOf = (db: Mirror, chatNum: number, words: Pick<DigestWords, 'numOf'>): Buffer =>
  makeDigest(db, words, chatNum, listCounted(db, chatNum))

const NOTE_ALL = `
insert into undigested (chat) select num from chats where num not in (select chat from chat_digests)
on conflict do nothing
`

/** Puts every chat without a digest on the waiting list. */
export function noteUndigested(db: Mirror): void {
  prepared(db, NOTE_ALL).run()
}
