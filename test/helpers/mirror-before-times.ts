import { openWriter } from '../../src/mirror/open.ts'
import { DigestWords, listCounted, writeDigest } from '../../src/mirror/digests/write-digest.ts'
import { timesAndForks } from '../../src/mirror/migrations/0025-times-and-forks.ts'
import { migrations } from '../../src/mirror/migrations/index.ts'
import { KeyAllocator } from '../../src/mirror/write/messages/key-allocator.ts'

interface Row {
  readonly key: number
  readonly chat: number
  readonly role: string
  readonly position: number
  readonly createdAt: number
  readonly source: string
}

const THREADS = `
select key, chat, role, position, created_at as createdAt, created_at_source as source
from messages where is_orphan = 0 and created_at is not null order by chat, position
`

/**
 * Turns a mirror into one of the version before: a message without a time has the time of the next message that has one,
 * else of the previous one. @returns how many chats have other times
 */
export function asBeforeTimes(path: string): { readonly chats: number } {
  const db = openWriter(path)
  const rows = db.prepare<[], Row>(THREADS).all()
  const keys = new KeyAllocator(db)
  const moved = new Set<number>()
  db.transaction(() => {
    for (const row of rows.filter(({ source }) => source === 'neighbour')) {
      const dated = rows.filter(({ chat, source }) => chat === row.chat && source !== 'neighbour')
      const near = dated.find(({ position }) => position > row.position) ?? dated.at(-1)
      if (near === undefined || near.createdAt === row.createdAt) continue
      const key = BigInt(keys.next(near.createdAt, row.position))
      // Its full-text row is written again under its key.
      db.prepare('delete from message_terms where rowid = ?').run(BigInt(row.key))
      db.prepare('update messages set key = ?, created_at = ? where key = ?').run(key, near.createdAt, BigInt(row.key))
      db.prepare('insert into unindexed (key) values (?)').run(key)
      moved.add(row.chat)
    }
    const words = new DigestWords(db)
    for (const chat of moved) writeDigest(db, words, chat, listCounted(db, chat))
    for (const [, name] of timesAndForks.matchAll(/create index (\w+)/g)) db.exec(`drop index ${name}`)
    db.exec('alter table messages drop column request_id; drop table misdated')
    db.pragma(`user_version = ${migrations.indexOf(timesAndForks)}`)
  })()
  db.close()
  return { chats: moved.size }
}
