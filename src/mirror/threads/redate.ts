import type { ChatId } from '../../model/ids.ts'
import { emptyBatch } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { writeBatch } from '../write/write-batch.ts'

const NEXT = `
select num, id, source from misdated join chats on chats.num = misdated.chat order by chat desc limit 1
`
const TAKE = `delete from misdated where chat = ?`

/**
 * Gives the messages of the newest chat with times by an older rule new ones, from what the mirror has of it: Cursor may
 * have deleted it. If the process is killed before the chat is taken from the list, this is repeated and changes nothing.
 * @returns whether there was such a chat
 */
export function redateNext(db: Mirror, nowMs: number): boolean {
  const chat = prepared<{ num: number; id: ChatId; source: number }>(db, NEXT).get()
  if (chat === undefined) return false
  const unread = { id: chat.id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
  writeBatch(db, { ...emptyBatch, source: chat.source, nowMs, chats: [unread] })
  prepared(db, TAKE).run(chat.num)
  return true
}
