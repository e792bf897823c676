import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { PROMPTS } from '../write/chats/prompt-chats.ts'
import { splitTextKeys } from '../write/messages/pack-message.ts'
import { matchingTexts, type MessageText } from './message-texts.ts'
import { holdsAny, needlesOf, type PurgeScope } from './scope.ts'

/** What a purge removes from a mirror. */
export interface PurgeTargets {
  /** Chats that are removed as a whole, whether the mirror has them or not. */
  readonly chatIds: ReadonlySet<ChatId>
  /** Keys of single messages, by the number of their chat. */
  readonly messages: ReadonlyMap<number, ReadonlySet<number>>
  /** Names, branches, summaries, todos and paths of chats that contain the text. */
  readonly facts: ReadonlyMap<ChatId, readonly MessageText[]>
}

/** Looks for what a scope names, in bounded steps. Writes nothing. */
export function* findTargets(db: Mirror, scope: PurgeScope): Generator<void, PurgeTargets> {
  const chats = findChats(db, scope)
  const whole = chats.filter(({ isEarlier }) => scope.match === null && isEarlier === 1)
  const nums = new Set(whole.map(({ num }) => num))
  const rest = new Set(chats.flatMap(({ num }) => (nums.has(num) ? [] : [num])))
  const messages = new Map<number, Set<number>>()
  const add = ({ chat, key }: Found): void => {
    messages.set(chat, (messages.get(chat) ?? new Set()).add(key))
  }
  for (const found of yield* findMessages(db, scope, rest)) add(found)
  for (const [chat, going] of messages) for (const key of findCopies(db, chat, going)) going.add(key)
  for (const found of findPrompts(db, nums, messages)) add(found)
  const { chatIds: named, projectUris, beforeMs, match } = scope
  // A chat that is named is removed even if only a list names it, or if it comes later.
  const isNamedOnly = named !== null && projectUris === null && beforeMs === null && match === null
  const chatIds = new Set(isNamedOnly ? withSubagents(db, named) : whole.map(({ id }) => id))
  return { chatIds, messages, facts: findFacts(db, scope, new Set(chats.map(({ id }) => id))) }
}

const FAMILY = `
with recursive family (id) as (
  select value from json_each(@ids)
  union
  select chats.id from chats join family on chats.parent_chat_id = family.id
  union
  select chat_links.child_id from chat_links join family on chat_links.parent_id = family.id
)
select id from family
`

/** These chats and their subagents, at any depth, whether the mirror has them or not. */
const withSubagents = (db: Mirror, ids: readonly ChatId[]): ChatId[] =>
  prepared<ChatId>(db, FAMILY)
    .pluck()
    .all({ ids: JSON.stringify(ids) })

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
const findChats = (db: Mirror, { chatIds, projectUris, beforeMs }: PurgeScope): ScopedChat[] =>
  prepared<ScopedChat>(db, SCOPED).all({
    ids: chatIds === null ? null : JSON.stringify(withSubagents(db, chatIds)),
    uris: projectUris === null ? null : JSON.stringify(projectUris),
    before: beforeMs,
  })

const IN_PROJECTS = `
select project in (select num from projects where uri in (select value from json_each(?))) as isIn from chats where id = ?
`

/** Whether a chat is in one of the projects with these roots; null if the mirror has no such chat. */
export function isInProjects(db: Mirror, id: ChatId, uris: readonly string[]): boolean | null {
  const row = prepared<{ isIn: number | null }>(db, IN_PROJECTS).get(JSON.stringify(uris), id)
  return row === undefined ? null : row.isIn === 1
}

interface Found {
  readonly chat: number
  readonly key: number
}

const LIST_EARLIER = `select chat, key from messages where created_at < ? and chat = ?`
const LIST_BODIES = `
select messages.key, chat, created_at as createdAtMs, parts
from messages join bodies on bodies.num = messages.body
where messages.key > ? order by messages.key limit 500
`

function* findMessages(
  db: Mirror,
  { beforeMs, match }: PurgeScope,
  chats: ReadonlySet<number>,
): Generator<void, Found[]> {
  if (match === null) return [...chats].flatMap((chat) => prepared<Found>(db, LIST_EARLIER).all(beforeMs, chat))
  const needles = needlesOf(match)
  const found: Found[] = []
  for (let after = -1; ;) {
    const rows = prepared<Found & { createdAtMs: number | null; parts: string }>(db, LIST_BODIES).all(BigInt(after))
    for (const { key, chat, createdAtMs, parts } of rows) {
      const isEarly = beforeMs === null || (createdAtMs !== null && createdAtMs < beforeMs)
      if (isEarly && chats.has(chat) && matchingTexts(parts, needles).length > 0) found.push({ chat, key })
    }
    const last = rows.at(-1)
    if (last === undefined) return found
    after = last.key
    yield
  }
}

interface CopyRow {
  readonly key: number
  readonly id: string
  readonly isOrphan: number
  readonly textKeys: string | null
  readonly toolCalls: number
}

const LIST_COPIES = `
select key, id, is_orphan as isOrphan, text_keys as textKeys, tool_calls as toolCalls from messages where chat = ?
`

/**
 * Messages of a chat that repeat what is removed, as another store has them: they would take its place in the thread.
 * @param going keys of messages of this chat
 */
function findCopies(db: Mirror, chat: number, going: ReadonlySet<number>): number[] {
  const rows = prepared<CopyRow>(db, LIST_COPIES).all(chat)
  const ids = new Set(rows.filter(({ key }) => going.has(key)).map(({ id }) => id))
  const staying = rows.filter(({ key, isOrphan }) => isOrphan !== 2 && !going.has(key))
  const words = new Set(staying.flatMap(({ textKeys }) => splitTextKeys(textKeys)))
  const hasTools = staying.some(({ toolCalls }) => toolCalls > 0)
  const isCopyOfStaying = ({ textKeys }: CopyRow): boolean => {
    const keys = splitTextKeys(textKeys)
    return keys.length === 0 ? hasTools : keys.every((key) => words.has(key))
  }
  return rows
    .filter((row) => !going.has(row.key) && (ids.has(row.id) || (row.isOrphan === 2 && !isCopyOfStaying(row))))
    .map(({ key }) => key)
}

const WORDS = `
select user_text as words, chats.machine from messages join chats on chats.num = messages.chat where user_text is not null
`
const WORDS_OF_CHAT = `${WORDS} and messages.chat = ?`
const WORDS_OF_MESSAGE = `${WORDS} and messages.key = ?`
const LIST_SAME_WORDS = `
select messages.chat, messages.key, user_text as words, chats.machine, chats.format = '${PROMPTS}' as isPrompt
from messages join chats on chats.num = messages.chat
where user_text in (select value from json_each(?))
`

/** Words that a user typed. Null: on this machine. */
interface Typed {
  readonly words: number
  readonly machine: number | null
}

const keyOf = ({ words, machine }: Typed): string => `${words} ${machine}`

/**
 * Entries in the lists of typed prompts that repeat what is removed, unless a message that stays repeats it too. Each
 * machine has lists of its own: words that were pulled say nothing about the lists of this one.
 */
function findPrompts(db: Mirror, whole: Iterable<number>, messages: PurgeTargets['messages']): Found[] {
  const chats = new Set(whole)
  const typedIn = (sql: string, bound: number): Typed[] => prepared<Typed>(db, sql).all(BigInt(bound))
  const going = [
    ...[...chats].flatMap((chat) => typedIn(WORDS_OF_CHAT, chat)),
    ...[...messages.values()].flatMap((keys) => [...keys].flatMap((key) => typedIn(WORDS_OF_MESSAGE, key))),
  ]
  const typed = new Set(going.map(keyOf))
  const same = prepared<Found & Typed & { isPrompt: number }>(db, LIST_SAME_WORDS).all(
    JSON.stringify([...new Set(going.map(({ words }) => words))]),
  )
  const staying = same.filter(
    (each) => typed.has(keyOf(each)) && !chats.has(each.chat) && messages.get(each.chat)?.has(each.key) !== true,
  )
  const elsewhere = new Set(staying.flatMap((each) => (each.isPrompt === 1 ? [] : [keyOf(each)])))
  return staying.filter((each) => each.isPrompt === 1 && !elsewhere.has(keyOf(each)))
}

const LIST_FACTS = `
select chat_id as id, name as text, 1 as isWords from heads where name is not null
union all select chat_id, branch, 1 from heads where branch is not null
union all select chat_id, uri, 0 from chat_paths
union all select id, summary, 1 from chats where summary is not null
union all select chats.id, todo.value ->> 'content', 1 from chats, json_each(chats.todos) todo where todos is not null
`

interface FactRow {
  readonly id: ChatId
  readonly text: string | null
  readonly isWords: number
}

/** @param scoped the chats that the ids and projects of the scope leave */
function findFacts(db: Mirror, scope: PurgeScope, scoped: ReadonlySet<ChatId>): PurgeTargets['facts'] {
  const { chatIds, projectUris, beforeMs, match } = scope
  const found = new Map<ChatId, MessageText[]>()
  if (match === null || beforeMs !== null) return found
  const needles = needlesOf(match)
  const isAll = chatIds === null && projectUris === null
  for (const { id, text, isWords } of prepared<FactRow>(db, LIST_FACTS).iterate()) {
    if (text === null || !(isAll || scoped.has(id)) || !holdsAny(text, needles)) continue
    const texts = found.get(id) ?? []
    if (texts.every((other) => other.text !== text)) texts.push({ text, isWords: isWords === 1 })
    found.set(id, texts)
  }
  return found
}
