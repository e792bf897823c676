import type { ChatId, MessageId } from '../../model/ids.ts'
import { listHolders } from '../hub/ledger.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { PROMPTS } from '../write/chats/prompt-chats.ts'
import { holdsAny, matchingTexts, needlesOf, type PurgeScope } from './scope.ts'

/** What a purge removes from a mirror. */
export interface PurgeTargets {
  /** Chats that are removed as a whole, whether the mirror has them or not. */
  readonly chatIds: readonly ChatId[]
  readonly messages: readonly TargetMessage[]
  /** Names, branches, summaries, todos and paths of chats that contain the text. */
  readonly facts: readonly Fact[]
  /** All chats that have something of this. */
  readonly touched: ReadonlySet<ChatId>
}

interface TargetMessage {
  readonly key: number
  readonly chatId: ChatId
  readonly id: MessageId
  /** Its texts that contain the text of the purge. */
  readonly texts: readonly string[]
}

export interface Fact {
  readonly chatId: ChatId
  readonly text: string
}

/** Looks for what a scope names. Writes nothing. */
export function findTargets(db: Mirror, scope: PurgeScope): PurgeTargets {
  const { chatIds: named, projectUris, beforeMs, match } = scope
  const needles = match === null ? null : needlesOf(match)
  const family = named === null ? null : withSubagents(db, named)
  const chats = prepared<ScopedChat>(db, SCOPED).all({
    ids: family === null ? null : JSON.stringify(family),
    uris: projectUris === null ? null : JSON.stringify(projectUris),
    before: beforeMs,
  })
  const isWhole = ({ isEarlier }: ScopedChat): boolean => match === null && isEarlier === 1
  // A chat that is named is removed even if only a list names it.
  const isNamedOnly = projectUris === null && beforeMs === null && match === null
  const chatIds = isNamedOnly && family !== null ? family : chats.filter(isWhole).map(({ id }) => id)
  const found = chats.filter((chat) => !isWhole(chat)).flatMap(({ num }) => findMessages(db, num, beforeMs, needles))
  const messages = [...found, ...findPrompts(db, chatIds, found)]
  const isLimited = named !== null || projectUris !== null
  const scoped = isLimited ? new Set(chats.map(({ id }) => id)) : null
  // What has no time cannot be told to be earlier.
  const facts = needles === null || beforeMs !== null ? [] : findFacts(db, needles, scoped)
  return {
    chatIds,
    messages,
    facts,
    touched: new Set([...chatIds, ...[...messages, ...facts].map((one) => one.chatId)]),
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

/** The chats that the ids and projects of a scope leave. */
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

const LIST_MESSAGES = `
select messages.key, chats.id as chatId, messages.id, parts
from chats join messages on messages.chat = chats.num join bodies on bodies.num = messages.body
where chats.num = @chat and (@before is null or messages.created_at < @before)
`

function findMessages(
  db: Mirror,
  chat: number,
  before: number | null,
  needles: readonly string[] | null,
): readonly TargetMessage[] {
  const found: TargetMessage[] = []
  const rows = prepared<Omit<TargetMessage, 'texts'> & { parts: string }>(db, LIST_MESSAGES).iterate({ chat, before })
  for (const { parts, ...message } of rows) {
    const texts = needles === null ? [] : matchingTexts(parts, needles)
    // Before a time, the ids keep it out: the same text may come later.
    if (needles === null || texts.length > 0) found.push({ ...message, texts: before === null ? texts : [] })
  }
  return found
}

/** Each machine has lists of its own: words that were pulled say nothing about the lists of this one. */
const LIST_PROMPTS = `
with typed as materialized (
  select messages.key, chats.id as chatId, messages.id, user_text as words, ifnull(machine, 0) as machine,
    format = '${PROMPTS}' as isPrompt,
    chats.id in (select value from json_each(@chats)) or key in (select value from json_each(@keys)) as isGoing
  from messages join chats on chats.num = messages.chat where user_text is not null
)
select key, chatId, id from typed where isPrompt and not isGoing and (words, machine) in (
  select words, machine from typed group by words, machine
  having max(isGoing) and not max(not isGoing and not isPrompt)
)
`

/** Entries in the lists of typed prompts that repeat what is removed, unless a message that stays repeats it too. */
const findPrompts = (db: Mirror, chats: readonly ChatId[], messages: readonly TargetMessage[]) =>
  prepared<Omit<TargetMessage, 'texts'>>(db, LIST_PROMPTS)
    .all({ chats: JSON.stringify(chats), keys: JSON.stringify(messages.map(({ key }) => key)) })
    .map((prompt) => ({ ...prompt, texts: [] }))

/** What is known of chats beside their messages. */
export const FACTS = `
select chat_id as chatId, name as text from heads where name is not null
union select chat_id, branch from heads where branch is not null
union select chat_id, uri from chat_paths
union select id, summary from chats where summary is not null
union select chats.id, todo.value ->> 'content' from chats, json_each(chats.todos) todo where todos is not null
`

/** @param scoped the chats that the ids and projects of the scope leave; null for all */
const findFacts = (db: Mirror, needles: readonly string[], scoped: ReadonlySet<ChatId> | null): readonly Fact[] =>
  prepared<Fact>(db, `select * from (${FACTS}) where text is not null`)
    .all()
    .filter(({ chatId, text }) => scoped?.has(chatId) !== false && holdsAny(text, needles))

const CHATS_MAX = 100
const COUNT = `
select chats.id, title, chats.id in (select value from json_each(@whole)) as isWhole, count(key) as messages
from chats left join messages on messages.chat = chats.num and (
  chats.id in (select value from json_each(@whole)) or messages.key in (select value from json_each(@keys))
)
where chats.id in (select value from json_each(@touched))
group by num order by isWhole desc, num
`
const IS_KNOWN = `select 1 from chats where id = ?`

interface CountedChat {
  readonly id: string
  readonly title: string
  readonly isWhole: number
  readonly messages: number
}

export type PurgePlan = ReturnType<typeof planPurge>

/** What a purge would remove from a mirror, for its report. */
export function planPurge(db: Mirror, scope: PurgeScope, { chatIds, messages, touched }: PurgeTargets) {
  const chats = prepared<CountedChat>(db, COUNT).all({
    whole: JSON.stringify(chatIds),
    keys: JSON.stringify(messages.map(({ key }) => key)),
    touched: JSON.stringify([...touched]),
  })
  return {
    chats: chats.slice(0, CHATS_MAX).map((chat) => ({ ...chat, isWhole: chat.isWhole === 1 })),
    chatCount: chats.length,
    messages: chats.reduce((sum, chat) => sum + chat.messages, 0),
    otherMachines: listHolders(db, [...touched]),
    unknownChats: (scope.chatIds ?? []).filter((id) => prepared(db, IS_KNOWN).get(id) === undefined),
  }
}
