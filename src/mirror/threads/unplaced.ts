import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

const NOTE = `insert into unplaced (chat, source) values (?, ?) on conflict do nothing`

/** More of the chat is to come from this source: its messages are placed together when the last was read. */
export function noteUnplaced(db: Mirror, chatNum: number, source: number): void {
  prepared(db, NOTE).run(chatNum, source)
}

const IS_UNPLACED = `select 1 from unplaced where chat = ?`

export const isUnplaced = (db: Mirror, chatNum: number): boolean => prepared(db, IS_UNPLACED).get(chatNum) !== undefined

const TAKE = `delete from unplaced where chat = ?`

/** All its messages are placed. @returns whether they waited for it */
export const takePlaced = (db: Mirror, chatNum: number): boolean => prepared(db, TAKE).run(chatNum).changes > 0

const LIST = `select chats.id from unplaced join chats on chats.num = unplaced.chat where unplaced.source = ?`

/** Chats of which reading was cut short: what was left of them may be gone, so that no row of theirs differs. */
export const listUnplaced = (db: Mirror, source: number): ChatId[] => prepared<ChatId>(db, LIST).pluck().all(source)
