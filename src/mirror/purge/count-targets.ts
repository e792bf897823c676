import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { PurgeTargets } from './find-targets.ts'

export interface CountedTarget {
  readonly id: ChatId
  readonly title: string
  readonly isWhole: boolean
  readonly messages: number
  /** Of these, how many a source holds still. */
  readonly live: number
}

const COUNT_CHAT = `
select id, title,
  (select count(*) from messages where chat = num) as messages,
  (select count(*) from messages where chat = num and is_live = 1) as live
from chats where id = ?
`
const FIND_CHAT = `select id, title from chats where num = ?`
const IS_LIVE = `select is_live as live from messages where key = ?`

/** Whether there is such a chat here. */
export const isKnown = (db: Mirror, id: ChatId): boolean => prepared(db, COUNT_CHAT).get(id) !== undefined

type CountedRow = Omit<CountedTarget, 'isWhole'>

/** Every chat of which a message goes, those that go whole first. */
export function countTargets(db: Mirror, { chatIds, messages }: PurgeTargets): CountedTarget[] {
  const whole = [...chatIds].flatMap((id) => prepared<CountedRow>(db, COUNT_CHAT).get(id) ?? [])
  const parted = [...messages].flatMap(([num, keys]) => {
    const chat = prepared<Pick<CountedRow, 'id' | 'title'>>(db, FIND_CHAT).get(num)
    if (chat === undefined || chatIds.has(chat.id)) return []
    const live = [...keys].filter((key) => prepared<{ live: number }>(db, IS_LIVE).get(BigInt(key))?.live === 1)
    return [{ ...chat, isWhole: false, messages: keys.size, live: live.length }]
  })
  return [...whole.map((chat) => ({ ...chat, isWhole: true })), ...parted]
}
