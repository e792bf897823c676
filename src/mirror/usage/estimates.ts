import type { Role } from '../../model/message.ts'
import { estimateMessage } from '../../text/tokens/estimate-tokens.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { callsOf, parseParts, replaceCalls } from '../write/pack-message.ts'

const IS_OFF = `select 1 from upkeep where task = 'estimates-off'`
const TURN_OFF = `insert into upkeep (task, done_at) values ('estimates-off', ?) on conflict do nothing`
const TURN_ON = `delete from upkeep where task = 'estimates-off'`
const COUNT_ALL = `insert into uncounted (chat) select num from chats where message_count > 0 on conflict do nothing`

/** Whether messages get an estimate of their tokens when they are written. */
export const hasEstimates = (db: Mirror): boolean => prepared(db, IS_OFF).get() === undefined

/** Turned off, messages that are written from now on get no estimate. Turned on again, all messages get one. */
export function turnEstimates(db: Mirror, isOn: boolean, nowMs: number): void {
  if (!isOn) prepared(db, TURN_OFF).run(nowMs)
  else if (prepared(db, TURN_ON).run().changes > 0) noteUncounted(db)
}

/** Puts every chat on the list of those whose messages are counted again. */
export const noteUncounted = (db: Mirror): void => void prepared(db, COUNT_ALL).run()

const COUNT = `select count(*) from uncounted`

/** How many chats wait for the calls or the estimates of their messages. */
export const countUncounted = (db: Mirror): number => prepared<number>(db, COUNT).pluck().get() ?? 0

const NEXT = `select chat from uncounted order by chat desc limit 1`
const LIST = `select key, body, role, parts from messages join bodies on bodies.num = body where chat = ?`
const SAVE = `update messages set estimated_input = ?, estimated_output = ? where key = ?`
const TAKE = `delete from uncounted where chat = ?`

/**
 * Counts the messages of the newest waiting chat, in one transaction: their tool calls, and estimates of their tokens. If
 * the process is killed, a chat either has all of them or still waits.
 * @returns how many chats: 1, or 0 if none waits
 */
export function countNext(db: Mirror): number {
  const chat = prepared<number>(db, NEXT).pluck().get()
  if (chat === undefined) return 0
  db.transaction(() => {
    const isEstimating = hasEstimates(db)
    for (const { key, body, role, parts: json } of prepared<{ key: number; body: number; role: Role; parts: string }>(
      db,
      LIST,
    ).all(chat)) {
      const parts = parseParts(json)
      replaceCalls(db, body, callsOf(parts))
      const { input, output } = estimateMessage(role, parts)
      if (isEstimating) prepared(db, SAVE).run(input, output, BigInt(key))
    }
    prepared(db, TAKE).run(chat)
  })()
  return 1
}
