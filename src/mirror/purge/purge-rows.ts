import type { ChatId, MessageId } from '../../model/ids.ts'
import { listHolders } from '../hub/ledger.ts'
import { queuePurge } from '../hub/own-side.ts'
import type { Mirror } from '../open.ts'
import { parseParts } from '../write/pack-message.ts'
import { prepared } from '../sql.ts'
import { listChildren } from '../projects/place-chats.ts'
import { emptyChange } from '../../model/change.ts'
import { fillTitles } from '../write/chat-columns.ts'
import { PROMPTS } from '../write/write-thread.ts'
import { nextRevision } from '../write/chat-columns.ts'
import { writeChange } from '../write/write.ts'
import { barChat, barMessage, Bars, barText } from './bars.ts'
import { dropChat, dropMessage, dropSayings, type GoingMessage } from './drop-chat.ts'
import { forgetWords } from './forget-words.ts'
import { holdsAny, matchingTexts, needlesOf, type PurgeScope } from './scope.ts'
import { noteStage } from './stages.ts'

/**
 * Removes what a scope names from the mirror, and keeps it out.
 * @param isDryRun writes nothing
 * @returns what is removed, for people
 */
export function purgeRows(db: Mirror, scope: PurgeScope, isDryRun: boolean, nowMs: number): PurgePlan {
  const targets = findTargets(db, scope)
  const plan = planPurge(db, scope, targets)
  if (isDryRun) return plan
  barTargets(db, targets)
  honourBars(db, nowMs, targets.touched)
  return plan
}

type PurgeTargets = ReturnType<typeof findTargets>

interface TargetMessage {
  readonly key: number
  readonly chatId: ChatId
  readonly id: MessageId
}

interface Text {
  readonly chatId: ChatId
  readonly text: string
}

/**
 * Looks for what a scope names: chats that are removed as a whole, whether the mirror has them or not; single messages; and
 * texts that are removed, of these messages and of names, branches, summaries, todos and paths of chats.
 */
function findTargets(db: Mirror, scope: PurgeScope) {
  const { chatIds: named, projectUris, beforeMs: before, match } = scope
  const needles = match === null ? null : needlesOf(match)
  const family = named === null ? null : withSubagents(db, named)
  const chats = prepared<ScopedChat>(db, SCOPED).all({
    ids: family === null ? null : JSON.stringify(family),
    uris: projectUris === null ? null : JSON.stringify(projectUris),
    before,
  })
  const isWhole = ({ isEarlier }: ScopedChat): boolean => match === null && isEarlier === 1
  // A chat that is named is removed even if only a list names it.
  const isNamedOnly = projectUris === null && before === null && match === null
  const chatIds = isNamedOnly && family !== null ? family : chats.filter(isWhole).map(({ id }) => id)
  const found: TargetMessage[] = []
  const texts: Text[] = []
  for (const { num } of chats.filter((chat) => !isWhole(chat))) {
    for (const { parts, ...message } of prepared<MessageParts>(db, LIST_EARLIER).iterate({ chat: num, before })) {
      const matching = needles === null ? [] : matchingTexts(parts, needles)
      if (needles !== null && matching.length === 0) continue
      found.push(message)
      for (const text of matching) texts.push({ chatId: message.chatId, text })
    }
  }
  const messages = [...found, ...findPrompts(db, chatIds, found)]
  const scoped = named === null && projectUris === null ? null : new Set(chats.map(({ id }) => id))
  // Before a time, ids keep messages out: the same text may come later.
  const barred = needles === null || before !== null ? [] : [...texts, ...findFacts(db, needles, scoped)]
  const touched = new Set([...chatIds, ...[...messages, ...barred].map(({ chatId }) => chatId)])
  return { chatIds, messages, texts: barred, touched }
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

const LIST_EARLIER = `
select messages.key, chats.id as chatId, messages.id, parts
from chats join messages on messages.chat = chats.num join bodies on bodies.num = messages.body
where chats.num = @chat and (@before is null or messages.created_at < @before)
`
type MessageParts = TargetMessage & { readonly parts: string }

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
  prepared<TargetMessage>(db, LIST_PROMPTS).all({
    chats: JSON.stringify(chats),
    keys: JSON.stringify(messages.map(({ key }) => key)),
  })

/** What is known of chats beside their messages. */
const FACTS = `
select chat_id as chatId, name as text from heads where name is not null
union select chat_id, branch from heads where branch is not null
union select chat_id, uri from chat_paths
union select id, summary from chats where summary is not null
union select chats.id, todo.value ->> 'content' from chats, json_each(chats.todos) todo where todos is not null
`

/** @param scoped the chats that the ids and projects of the scope leave; null for all */
const findFacts = (db: Mirror, needles: readonly string[], scoped: ReadonlySet<ChatId> | null): readonly Text[] =>
  prepared<Text>(db, `select * from (${FACTS}) where text is not null`)
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
function planPurge(db: Mirror, scope: PurgeScope, { chatIds, messages, touched }: PurgeTargets) {
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

/** Bars what a purge removes, before anything is removed: it cannot come in, and is removed even after a crash. */
/** The bars first, alone: a crash between two files must not leave a mirror that knows of bars that nobody has. */
function barTargets(db: Mirror, { chatIds, messages, texts }: PurgeTargets): void {
  db.transaction(() => {
    for (const id of chatIds) barChat(db, id)
    for (const { chatId, id } of messages) barMessage(db, chatId, id)
    for (const { chatId, text } of texts) barText(db, chatId, text)
  })()
  db.transaction(() => {
    for (const id of chatIds) queuePurge(db, id, '')
    for (const { chatId, id } of messages) queuePurge(db, chatId, id)
    for (const { chatId } of texts) queuePurge(db, chatId, null)
    noteStage(db, 'known')
  })()
}

const LIST_IDS = `
select id from chats union select chat_id from heads union select chat_id from tracked
union select chat_id from evidence union select chat_id from chat_paths
`

/**
 * Removes from the mirror whatever is barred: rows, and words that nothing contains any more. A chat is one transaction,
 * so after a crash it can simply run again. Then only unused places of the file can contain bytes of what was removed: see
 * `compact`. Call it, too, for a mirror that was put back from before a purge.
 * @param chatIds only these chats have something of it; null if that is unknown
 */
export function honourBars(db: Mirror, nowMs: number, chatIds: Iterable<ChatId> | null): void {
  // Overwrites removed content also in pages that stay in use.
  db.pragma('secure_delete = on')
  // Keeps former pages out of temporary files.
  db.pragma('temp_store = memory')
  const bars = new Bars(db)
  for (const id of chatIds ?? prepared<ChatId>(db, LIST_IDS).pluck().all()) {
    db.transaction(() => (bars.hasChat(id) ? removeChat(db, id, nowMs) : removeParts(db, bars, id, nowMs)))()
  }
  fillTitles(db)
  forgetWords(db)
  noteStage(db, 'rows')
}

const FIND_CHAT = `
select num, source,
  exists (select 1 from messages where chat = num) or exists (select 1 from outlines where chat = num) as hasRows
from chats where id = ?
`
const LIST_MESSAGES = `
select key, chat, messages.id, body, is_shadowed as isShadowed, parts
from messages join bodies on bodies.num = messages.body where chat = ?
`

interface ChatRow {
  readonly num: number
  readonly source: number
  readonly hasRows: number
}
type MessageRow = GoingMessage & { readonly id: MessageId; readonly parts: string }

const findChat = (db: Mirror, id: ChatId): ChatRow | undefined => prepared<ChatRow>(db, FIND_CHAT).get(id)

const listMessages = (db: Mirror, chat: ChatRow | undefined): readonly MessageRow[] =>
  chat === undefined ? [] : prepared<MessageRow>(db, LIST_MESSAGES).all(chat.num)

function removeChat(db: Mirror, id: ChatId, nowMs: number): void {
  const children = listChildren(db, id)
  const chat = findChat(db, id)
  for (const message of listMessages(db, chat)) dropMessage(db, message)
  dropSayings(db, id, () => {
    if (chat !== undefined) dropChat(db, chat.num)
  })
  // A child may no longer count as a subagent without this chat.
  for (const child of children) update(db, child, nowMs)
}

const REMOVE_FACT = [
  `update heads set name = null where chat_id = @id and name = @text`,
  `update heads set branch = null where chat_id = @id and branch = @text`,
  `delete from chat_paths where chat_id = @id and uri = @text`,
  `update chats set summary = null where id = @id and summary = @text`,
  `update chats set todos = (
    select nullif(json_group_array(json(value)), '[]') from json_each(todos) where value ->> 'content' <> @text
  ) where id = @id and todos is not null`,
  `update chats set revision = @revision where id = @id`,
  // It is indexed again without the text.
  `delete from chat_terms where rowid = (select num from chats where id = @id)`,
]

function removeParts(db: Mirror, bars: Bars, id: ChatId, nowMs: number): void {
  const messages = listMessages(db, findChat(db, id))
  const going = messages.filter((one) => bars.hasMessage(id, one.id, () => parseParts(one.parts)))
  for (const message of going) dropMessage(db, message)
  const facts = bars.hasTexts ? prepared<Text>(db, `select * from (${FACTS}) where chatId = ?`).all(id) : []
  const barred = facts.filter(({ text }) => bars.hasText(id, text))
  const revision = barred.length > 0 ? nextRevision(db) : 0
  for (const { text } of barred) for (const sql of REMOVE_FACT) prepared(db, sql).run({ id, text, revision })
  if (going.length > 0 || barred.length > 0) update(db, id, nowMs)
}

/** Derives title, counts and order of a chat again from what is left. An empty chat is removed. */
function update(db: Mirror, id: ChatId, nowMs: number): void {
  const chat = findChat(db, id)
  if (chat === undefined) return
  if (chat.hasRows === 0) return dropSayings(db, id, () => dropChat(db, chat.num))
  const write = { id, ownRow: { kind: 'unread' as const }, messages: [], vanished: [] }
  writeChange(db, { ...emptyChange, source: chat.source, nowMs, chats: [write] })
}
