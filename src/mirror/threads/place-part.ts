import { arrangeThread } from './arrange-thread.ts'
import { findHeldMessage } from '../write/messages/held-messages.ts'
import type { NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { placeColumns, threadEntry, type Place, type ThreadWrite } from './place-thread.ts'
import { prepared } from '../prepared.ts'
import { upsertMessage } from '../write/messages/upsert-message.ts'

/**
 * Places the messages of one part of a long chat relative to each other only. All messages of the chat are placed together
 * with the last part: doing that after each part would multiply the memory and time for a long chat.
 * @returns null if all messages of the chat must be placed now
 */
export function placePart(db: Mirror, thread: ThreadWrite): (readonly [NextMessage, Place])[] | null {
  const { chatNum, source, write } = thread
  const { part } = write
  if (part === undefined || part.isLast || thread.isNew || thread.isPrompts) return null
  if (write.ownRow.kind !== 'unread' || isAnyLost(db, thread) || hasOtherSource(db, chatNum, source)) return null
  const read = new Map(
    write.messages.map((message) => {
      const held = findHeldMessage(db, chatNum, message.id, source)
      return [message.id, upsertMessage(db, thread, held, message)]
    }),
  )
  const entries = [...read.values()].map(({ columns }) => threadEntry(columns))
  return arrangeThread(part.outline, entries, thread.chatTime).flatMap((placement) => {
    const message = read.get(placement.id)
    return message === undefined ? [] : [[message, placeColumns(placement)] as const]
  })
}

const IS_HELD = `select 1 from messages where chat = ? and id = ? limit 1`

/** A vanished row counts only if it was a message: a row with nothing to show may never have been one. */
const isAnyLost = (db: Mirror, { chatNum, write }: ThreadWrite): boolean =>
  write.vanished.some((id) => prepared(db, IS_HELD).get(chatNum, id) !== undefined)

const HAS_OTHER = `select 1 from messages where chat = ? and source <> ? limit 1`

const hasOtherSource = (db: Mirror, chatNum: number, source: number): boolean =>
  prepared(db, HAS_OTHER).get(chatNum, source) !== undefined

const NOTE_UNPLACED = `insert into unplaced (chat, source) values (?, ?) on conflict do nothing`

/** Notes that more of the chat will be read from this source. Its messages are placed together after the last part. */
export function noteUnplaced(db: Mirror, chatNum: number, source: number): void {
  prepared(db, NOTE_UNPLACED).run(chatNum, source)
}

const IS_UNPLACED = `select 1 from unplaced where chat = ?`

export const isUnplaced = (db: Mirror, chatNum: number): boolean => prepared(db, IS_UNPLACED).get(chatNum) !== undefined

const TAKE_PLACED = `delete from unplaced where chat = ?`

/** Notes that all messages of the chat are placed. */
export const takePlaced = (db: Mirror, chatNum: number): void => void prepared(db, TAKE_PLACED).run(chatNum)
