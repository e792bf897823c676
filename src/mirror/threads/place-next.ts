import type { ChatId } from '../../model/ids.ts'
import { emptyChange } from '../../model/change.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { writeChange } from '../write/write.ts'

const NEXT = `
select num, id, source from unplaced join chats on chats.num = unplaced.chat order by chat desc limit 1
`
const COUNT = `select count(*) from unplaced`

/** How many chats have messages with temporary places, or times by an older rule. */
export const countUnplaced = (db: Mirror): number => prepared<number>(db, COUNT).pluck().get() ?? 0

const TAKE = `delete from unplaced where chat = ?`

/**
 * Places the messages of the newest chat whose reading was interrupted, or that has times by an older rule, from what the
 * mirror has of it: Cursor may have deleted it.
 * @returns whether there was such a chat
 */
export function placeNext(db: Mirror, nowMs: number): boolean {
  const chat = prepared<{ num: number; id: ChatId; source: number }>(db, NEXT).get()
  if (chat === undefined) return false
  const unread = { id: chat.id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
  writeChange(db, { ...emptyChange, source: chat.source, nowMs, chats: [unread] })
  // What was purged or is excluded is not written.
  prepared(db, TAKE).run(chat.num)
  return true
}
