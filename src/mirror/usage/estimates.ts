import type { Role } from '../../model/message.ts'
import { estimateMessage } from '../../text/tokens/estimate-tokens.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { parseParts } from '../parse-parts.ts'

const IS_OFF = `select 1 from upkeep where task = 'estimates-off'`
const TURN_OFF = `insert into upkeep (task, done_at) values ('estimates-off', ?) on conflict do nothing`
const TURN_ON = `delete from upkeep where task = 'estimates-off'`
const ESTIMATE_ALL = `insert into unestimated (chat) select num from chats where true on conflict do nothing`

/** Whether messages get an estimate of their tokens when they are written. */
export const hasEstimates = (db: Mirror): boolean => prepared(db, IS_OFF).get() === undefined

/** Turned off, messages that are written from now on get no estimate. Turned on again, all messages get one. */
export function turnEstimates(db: Mirror, isOn: boolean, nowMs: number): void {
  if (!isOn) prepared(db, TURN_OFF).run(nowMs)
  else if (prepared(db, TURN_ON).run().changes > 0) prepared(db, ESTIMATE_ALL).run()
}

const COUNT = `select count(*) as count from unestimated`

/** How many chats wait for estimates by the present rule. */
export const countUnestimated = (db: Mirror): number => prepared<{ count: number }>(db, COUNT).get()?.count ?? 0

interface Stored {
  readonly key: number
  readonly role: Role
  readonly parts: string
}

const NEXT = `select chat from unestimated order by chat desc limit 1`
const LIST = `select key, role, parts from messages join bodies on bodies.num = body where chat = ?`
const SAVE = `update messages set estimated_input = ?, estimated_output = ? where key = ?`
const TAKE = `delete from unestimated where chat = ?`

/**
 * Estimates the messages of the newest waiting chat, in one transaction. If the process is killed, a chat either has all
 * of them or still waits.
 * @returns how many chats: 1, or 0 if none waits
 */
export function estimateNext(db: Mirror): number {
  const chat = prepared<number>(db, NEXT).pluck().get()
  if (chat === undefined) return 0
  db.transaction(() => {
    for (const { key, role, parts } of prepared<Stored>(db, LIST).all(chat)) {
      const { input, output } = estimateMessage(role, parseParts(parts))
      prepared(db, SAVE).run(input, output, BigInt(key))
    }
    prepared(db, TAKE).run(chat)
  })()
  return 1
}
