import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { PurgeTargets } from './find-targets.ts'
import type { PurgeScope } from './scope.ts'

interface PlannedChat {
  readonly id: string
  readonly title: string
  /** True if the whole chat is removed. */
  readonly isWhole: boolean
  /** How many of its messages are removed. */
  readonly messages: number
}

export interface MirrorPlan {
  /** The first chats from which something is removed. */
  readonly chats: readonly PlannedChat[]
  readonly chatCount: number
  readonly wholeChatIds: readonly string[]
  readonly messages: number
  /** How many of these messages Cursor still has. */
  readonly inCursor: number
  /** How many names, summaries, todos and paths of chats contain the text. */
  readonly facts: number
  /** Damaged mirrors that were set aside. */
  readonly setAside: readonly string[]
  /** Chats in the scope that the mirror does not have. */
  readonly unknownChats: readonly string[]
}

const CHATS_MAX = 100

const COUNT_CHAT = `
select id, title,
  (select count(*) from messages where chat = num) as messages,
  (select count(*) from messages where chat = num and is_live = 1) as live
from chats where id = ?
`
const FIND_CHAT = `select id, title from chats where num = ?`
const IS_LIVE = `select is_live from messages where key = ?`

interface CountedChat {
  readonly id: string
  readonly title: string
  readonly messages: number
  /** How many of these messages Cursor still has. */
  readonly live: number
}

/** @param setAside names of damaged mirrors that were set aside */
export function planPurge(
  db: Mirror,
  scope: PurgeScope,
  targets: PurgeTargets,
  setAside: readonly string[],
): MirrorPlan {
  const count = (id: string): CountedChat[] => prepared<CountedChat>(db, COUNT_CHAT).all(id)
  const isLive = (key: number): boolean => prepared<number>(db, IS_LIVE).pluck().get(BigInt(key)) === 1
  const whole = [...targets.chatIds].flatMap(count)
  const parted = [...targets.messages].flatMap(([num, keys]) => {
    const chat = prepared<Pick<CountedChat, 'id' | 'title'>>(db, FIND_CHAT).get(num)
    if (chat === undefined) return []
    return [{ ...chat, messages: keys.size, live: [...keys].filter(isLive).length }]
  })
  const chats = [...whole, ...parted]
  const sum = (of: (chat: CountedChat) => number): number => chats.reduce((total, chat) => total + of(chat), 0)
  return {
    chats: chats
      .slice(0, CHATS_MAX)
      .map(({ id, title, messages }, at) => ({ id, title, isWhole: at < whole.length, messages })),
    chatCount: chats.length,
    wholeChatIds: [...targets.chatIds],
    messages: sum(({ messages }) => messages),
    inCursor: sum(({ live }) => live),
    facts: [...targets.facts.values()].reduce((total, texts) => total + texts.length, 0),
    setAside,
    unknownChats: (scope.chatIds ?? []).filter((id) => count(id).length === 0),
  }
}
