import type { Mirror } from '../open.ts'
import { dropTerms } from '../fulltext/write-terms.ts'
import { fillTerms } from './rebuild-terms.ts'

const LIST_STRAY = `
select id from message_terms_docsize where id not in (select key from messages where is_shadowed = 0)
union select id from message_terms_docsize where id in (select key from unindexed)
`
const DROP_STRAY_WAITING = `delete from unindexed where key not in (select key from messages where is_shadowed = 0)`
const LIST_STRAY_TITLES = `select id from chat_terms_docsize where id not in (select num from chats)`
const DROP_TITLE = `delete from chat_terms where rowid = ?`

/**
 * Compares which rows the full-text tables hold with those they should hold, and mends the difference: every message of
 * a thread has its row or waits for it, and there is no other.
 * @returns how many rows were wrong
 */
export function mendTerms(db: Mirror): number {
  return db.transaction(() => {
    const strays = db.prepare<[], number>(LIST_STRAY).pluck().all()
    for (const key of strays) dropTerms(db, key)
    const titles = db.prepare<[], number>(LIST_STRAY_TITLES).pluck().all()
    for (const num of titles) db.prepare(DROP_TITLE).run(BigInt(num))
    const waiting = db.prepare(DROP_STRAY_WAITING).run().changes
    return strays.length + titles.length + waiting + fillTerms(db)
  })()
}
