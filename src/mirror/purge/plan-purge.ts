import { listHolders } from '../hub/ledger.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { PurgeTargets } from './find-targets.ts'
import type { PurgeScope } from './scope.ts'

/** What a purge would remove from a mirror. */
export interface MirrorPlan {
  /** The first hundred chats from which something is removed. `messages`: how many of its messages. */
  readonly chats: readonly {
    readonly id: string
    readonly title: string
    readonly isWhole: boolean
    readonly messages: number
  }[]
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
  /** Other machines that have one of these chats at the hub. */
  readonly otherMachines: readonly string[]
}

const CHATS_MAX = 100
const COUNT = `
select chats.id, title, count(messages.key) as messages, coalesce(sum(messages.is_live), 0) as live
from chats left join messages on chat = num and (@keys is null or key in (select value from json_each(@keys)))
where chats.id = @id or num = @num group by num
`

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
  { chatIds, messages, facts }: PurgeTargets,
  setAside: readonly string[],
): MirrorPlan {
  const count = (bound: object): CountedChat[] =>
    prepared<CountedChat>(db, COUNT).all({ id: null, num: null, keys: null, ...bound })
  const whole = [...chatIds].flatMap((id) => count({ id }))
  const parted = [...messages].flatMap(([num, keys]) => count({ num, keys: JSON.stringify([...keys]) }))
  const chats = [...whole, ...parted]
  const shown = chats.slice(0, CHATS_MAX)
  return {
    chats: shown.map(({ id, title, messages: going }, at) => ({
      id,
      title,
      isWhole: at < whole.length,
      messages: going,
    })),
    chatCount: chats.length,
    wholeChatIds: [...chatIds],
    messages: chats.reduce((sum, chat) => sum + chat.messages, 0),
    inCursor: chats.reduce((sum, { live }) => sum + live, 0),
    facts: [...facts.values()].reduce((sum, texts) => sum + texts.length, 0),
    setAside,
    otherMachines: listHolders(db, [...chatIds, ...chats.map(({ id }) => id)]),
    unknownChats: (scope.chatIds ?? []).filter((id) => count({ id }).length === 0),
  }
}
