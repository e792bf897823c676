import type { ChatId } from '../../model/ids.ts'
import { listHolders } from '../hub/ledger.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { PROMPTS } from '../write/held-chat.ts'
import { matchingTexts } from './message-texts.ts'
import { holdsAny, needlesOf, type PurgeScope } from './scope.ts'

/** What a purge removes from a mirror. */
export interface PurgeTargets {
  /** Chats that are removed as a whole, whether the mirror has them or not. */
  readonly chatIds: readonly ChatId[]
  /** Keys of single messages. */
  readonly keys: ReadonlySet<number>
  /** Names, branches, summaries, todos and paths of chats that contain the text. */
  readonly facts: readonly Fact[]
}

export interface Fact {
  readonly chatId: ChatId
  readonly text: string
}

/** Looks for what a scope names. Writes nothing. */
export function findTargets(db: Mirror, scope: PurgeScope): PurgeTargets {
  const { chatIds: named, projectUris, beforeMs, match } = scope
  const chats = findChats(db, scope)
  const isNamedOnly = named !== null && projectUris === null && beforeMs === null && match === null
  const isWhole = ({ isEarlier }: ScopedChat): boolean => match === null && isEarlier === 1
  const whole = chats.filter(isWhole).map(({ id }) => id)
  const rest = chats.filter((chat) => !isWhole(chat)).map(({ num }) => num)
  const keys = new Set(findMessages(db, scope, rest))
  for (const key of findPrompts(db, whole, keys)) keys.add(key)
  const scoped = named === null && projectUris === null ? null : new Set(chats.map(({ id }) => id))
  return {
    // A chat that is named is removed even if only a list names it, or if it comes later.
    chatIds: isNamedOnly ? withSubagents(db, named) : whole,
    keys,
    facts: match === null || beforeMs !== null ? [] : findFacts(db, match, scoped),
  }
}

const FAMILY = `
with recursive family (id) as (
  select value from json_each(?)
  union
  select chats.id from chats join family on chats.parent_chat_id = family.id
  union
  select chat_links.child_id from chat_links join family on chat_links.parent_id = family.id
)
select id from family
`

/** These chats and their subagents, at any depth, whether the mirror has them or not. */
const withSubagents = (db: Mirror, ids: readonly ChatId[]): readonly ChatId[] =>
  prepared<ChatId>(db, FAMILY).pluck().all(JSON.stringify(ids))

interface ScopedChat {
  readonly num: number
  readonly id: ChatId
  /** 1 if the scope has no time, or all activity in the chat is earlier. */
  readonly isEarlier: number | null
}

const SCOPED = `
select num, id,
  @before is null or (
    coalesce(last_activity_at, created_at) < @before
    and not exists (select 1 from messages where messages.chat = chats.num and messages.created_at >= @before)
  ) as isEarlier
from chats
where (@ids is null or id in (select value from json_each(@ids)))
  and (@uris is null or project in (select num from projects where uri in (select value from json_each(@uris))))
order by num
`

/** The chats that the ids and projects of a scope leave. */
const findChats = (db: Mirror, { chatIds, projectUris, beforeMs }: PurgeScope): readonly ScopedChat[] =>
  prepared<ScopedChat>(db, SCOPED).all({
    ids: chatIds === null ? null : JSON.stringify(withSubagents(db, chatIds)),
    uris: projectUris === null ? null : JSON.stringify(projectUris),
    before: beforeMs,
  })

const LIST_MESSAGES = `
select messages.key, parts from messages join bodies on bodies.num = messages.body
where chat = @chat and (@before is null or created_at < @before)
`

function findMessages(db: Mirror, { beforeMs, match }: PurgeScope, chats: readonly number[]): readonly number[] {
  if (match === null && beforeMs === null) return []
  const needles = match === null ? null : needlesOf(match)
  const found: number[] = []
  for (const chat of chats) {
    const rows = prepared<{ key: number; parts: string }>(db, LIST_MESSAGES).iterate({ chat, before: beforeMs })
    for (const { key, parts } of rows) {
      if (needles === null || matchingTexts(parts, needles).length > 0) found.push(key)
    }
  }
  return found
}

/** Each machine has lists of its own: words that were pulled say nothing about the lists of this one. */
const LIST_PROMPTS = `
with typed as materialized (
  select messages.key, user_text as words, ifnull(machine, 0) as machine, format = '${PROMPTS}' as isPrompt,
    chats.id in (select value from json_each(@chats)) or key in (select value from json_each(@keys)) as isGoing
  from messages join chats on chats.num = messages.chat where user_text is not null
)
select key from typed where isPrompt and not isGoing and (words, machine) in (
  select words, machine from typed group by words, machine
  having max(isGoing) and not max(not isGoing and not isPrompt)
)
`

/** Entries in the lists of typed prompts that repeat what is removed, unless a message that stays repeats it too. */
const findPrompts = (db: Mirror, chats: readonly ChatId[], keys: ReadonlySet<number>): readonly number[] =>
  prepared<number>(db, LIST_PROMPTS)
    .pluck()
    .all({ chats: JSON.stringify(chats), keys: JSON.stringify([...keys]) })

/** What is known of chats beside their messages. */
export const FACTS = `
select chat_id as chatId, name as text from heads where name is not null
union all select chat_id, branch from heads where branch is not null
union all select chat_id, uri from chat_paths
union all select id, summary from chats where summary is not null
union all select chats.id, todo.value ->> 'content' from chats, json_each(chats.todos) todo where todos is not null
`

/** @param scoped the chats that the ids and projects of the scope leave; null for all */
function findFacts(db: Mirror, match: string, scoped: ReadonlySet<ChatId> | null): readonly Fact[] {
  const needles = needlesOf(match)
  const found = new Map<string, Fact>()
  for (const { chatId, text } of prepared<{ chatId: ChatId; text: string | null }>(db, FACTS).iterate()) {
    if (text === null || scoped?.has(chatId) === false || !holdsAny(text, needles)) continue
    found.set(JSON.stringify([chatId, text]), { chatId, text })
  }
  return [...found.values()]
}

const CHATS_MAX = 100
const COUNT = `
with going as (
  select num, id, title, id in (select value from json_each(@ids)) as isWhole from chats
  where id in (select value from json_each(@ids))
    or num in (select chat from messages where key in (select value from json_each(@keys)))
)
select going.id, title, isWhole, count(key) as messages, coalesce(sum(is_live), 0) as live
from going left join messages on chat = num and (isWhole or key in (select value from json_each(@keys)))
group by num order by isWhole desc, num
`
const IS_KNOWN = `select 1 from chats where id = ?`

interface CountedChat {
  readonly id: string
  readonly title: string
  readonly isWhole: number
  readonly messages: number
  /** How many of these messages Cursor still has. */
  readonly live: number
}

export type MirrorPlan = ReturnType<typeof planPurge>

/** What a purge would remove from a mirror, for its report. */
export function planPurge(db: Mirror, scope: PurgeScope, { chatIds, keys, facts }: PurgeTargets) {
  const ids = JSON.stringify(chatIds)
  const chats = prepared<CountedChat>(db, COUNT).all({ ids, keys: JSON.stringify([...keys]) })
  return {
    chats: chats.slice(0, CHATS_MAX).map(({ id, title, isWhole, messages }) => ({
      id,
      title,
      isWhole: isWhole === 1,
      messages,
    })),
    chatCount: chats.length,
    /** How many messages of each of them, and of chats that the mirror does not have. */
    going: [
      ...chatIds.map((id) => [id, Infinity] as const),
      ...chats.map(({ id, messages }) => [id, messages] as const),
    ],
    messages: chats.reduce((sum, chat) => sum + chat.messages, 0),
    inCursor: chats.reduce((sum, { live }) => sum + live, 0),
    facts: facts.length,
    /** Other machines that have one of these chats at the hub. */
    otherMachines: listHolders(db, [...chatIds, ...chats.map(({ id }) => id)]),
    unknownChats: (scope.chatIds ?? []).filter((id) => prepared(db, IS_KNOWN).get(id) === undefined),
  }
}
