import { CALL_CHAT_PREFIX } from '../../model/chat.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import { listHolders, queuePurge } from '../hub/hub.ts'
import type { Mirror } from '../open.ts'
import { parseParts } from '../write/pack-message.ts'
import { listChildren } from '../projects/place-chats.ts'
import { finding, listing, listingValues, prepared } from '../sql.ts'
import { isMirrored, nextRevision } from '../write/chat-columns.ts'
import { PROMPTS } from '../write/write-thread.ts'
import { rewriteChats } from '../write/write.ts'
import { addBars, Bars, noteStage, type Target } from './bars.ts'
import { dropMessage, dropWhole, type GoingMessage } from './drop-chat.ts'
import { holdsAny, matchingTexts, needlesOf, type PurgeScope } from './scope.ts'
import { indexTerms } from '../../text/terms/terms.ts'
import { ATTACHED } from '../index/index-file.ts'

const CHATS_MAX = 100
const COUNT = `
select chats.id, title, chats.id in (select value from json_each(@whole)) as isWhole, count(key) as messages
from chats left join messages on messages.chat = chats.num and (
  chats.id in (select value from json_each(@whole)) or messages.key in (select value from json_each(@keys))
)
where chats.id in (select value from json_each(@touched))
group by num order by isWhole desc, num
`
/** Ids that a subagent's chat would have in another store alone: see `findDelegated`. Its messages there have the same ids. */
const otherIds = listingValues<[ChatId], ChatId>(`
select child_id from chat_links where parent_id = ? and parent_id glob '${CALL_CHAT_PREFIX}*'
  and child_id not in (select id from chats)
`)

interface CountedChat {
  readonly id: string
  readonly title: string
  readonly isWhole: number
  readonly messages: number
}

/**
 * Removes what a scope names from the mirror, and keeps it out.
 * @param isDryRun writes nothing
 * @returns what is removed, for people
 */
export function purgeRows(db: Mirror, scope: PurgeScope, isDryRun: boolean, nowMs: number) {
  const { whole, keys, targets: found } = findTargets(db, scope)
  const targets = [
    ...found,
    ...found.flatMap((each) => otherIds(db, each.chatId).map((chatId) => ({ ...each, chatId }))),
  ]
  const touched = [...new Set(targets.map(({ chatId }) => chatId))]
  const ofTouched = JSON.stringify(touched)
  const ofFound = { whole: JSON.stringify(whole), keys: JSON.stringify(keys), touched: ofTouched }
  const chats = prepared<CountedChat>(db, COUNT).all(ofFound)
  const plan = {
    chats: chats.slice(0, CHATS_MAX).map((chat) => ({ ...chat, isWhole: chat.isWhole === 1 })),
    chatCount: chats.length,
    messages: chats.reduce((sum, chat) => sum + chat.messages, 0),
    otherMachines: listHolders(db, ofTouched),
    unknownChats: (scope.chatIds ?? []).filter((id) => !isMirrored(db, id)),
  }
  if (isDryRun) return plan
  // The bars first, alone: a crash between two files must not leave a mirror that knows of bars that nobody has.
  addBars(db, targets)
  db.transaction(() => {
    for (const { kind, chatId, what } of targets) queuePurge(db, chatId, kind === 'text' ? null : what)
    noteStage(db, 'known')
  })()
  honourBars(db, nowMs, touched)
  return plan
}

/**
 * Looks for what a scope names: chats that are removed as a whole, whether the mirror has them or not; single messages, by
 * their keys too; and texts that are removed, of these messages and of names, branches, summaries, todos and paths of chats.
 */
function findTargets(db: Mirror, { chatIds: named, projectUris, beforeMs: before, match }: PurgeScope) {
  const needles = match === null ? null : needlesOf(match)
  const family = named === null ? null : prepared<ChatId>(db, FAMILY).pluck().all(JSON.stringify(named))
  const chats = prepared<ScopedChat>(db, SCOPED).all({
    ids: family === null ? null : JSON.stringify(family),
    uris: projectUris === null ? null : JSON.stringify(projectUris),
    before,
    match,
  })
  // A chat that is named is removed even if only a list names it.
  const isNamedOnly = projectUris === null && before === null && match === null
  const whole = isNamedOnly && family !== null ? family : chats.flatMap(({ id, isWhole }) => (isWhole === 1 ? id : []))
  const messages: GoingRow[] = []
  const texts: Target[] = []
  for (const { num } of chats.filter(({ isWhole }) => isWhole !== 1)) {
    for (const { parts, ...message } of prepared<GoingRow & { readonly parts: string }>(db, LIST_EARLIER).iterate({
      chat: num,
      before,
    })) {
      const matching = needles === null ? [] : matchingTexts(parts, needles)
      if (needles !== null && matching.length === 0) continue
      messages.push(message)
      for (const what of matching) texts.push({ kind: 'text', chatId: message.chatId, what })
    }
  }
  const going = { chats: JSON.stringify(whole), keys: JSON.stringify(messages.map(({ key }) => key)) }
  messages.push(...prepared<GoingRow>(db, LIST_PROMPTS).all(going))
  if (needles !== null) {
    const isOfAll = named === null && projectUris === null
    const scoped = new Set(chats.map(({ id }) => id))
    const facts = prepared<Target>(db, FACTS).all()
    texts.push(...facts.filter(({ chatId, what }) => (isOfAll || scoped.has(chatId)) && holdsAny(what, needles)))
  }
  const targets: readonly Target[] = [
    ...whole.map((chatId) => ({ kind: 'chat' as const, chatId, what: '' })),
    ...messages,
    // Before a time, ids keep messages out: the same text may come later.
    ...(before === null ? texts : []),
  ]
  return { whole, keys: messages.map(({ key }) => key), targets }
}

/** A message, with its key in the mirror. */
type GoingRow = Target & { readonly key: number }

/** These chats and their subagents, at any depth, whether the mirror has them or not. A pulled chat takes none of another machine along. */
const FAMILY = `
with recursive family (id) as (
  select value from json_each(?)
  union
  select chats.id from chats join family on chats.parent_chat_id = family.id and chats.is_subagent = 1
  union
  select chat_links.child_id from chat_links join family on chat_links.parent_id = family.id
    left join chats parents on parents.id = parent_id left join chats children on children.id = child_id
  where children.id is null or children.machine is parents.machine
)
select id from family
`

interface ScopedChat {
  readonly num: number
  readonly id: ChatId
  readonly isWhole: number | null
}

/** The chats that the ids and projects of a scope leave. One with a later message, or of which only a text goes, stays in part. */
const SCOPED = `
select num, id,
  @match is null and (@before is null or (
    coalesce(last_activity_at, created_at) < @before
    and not exists (select 1 from messages where messages.chat = chats.num and messages.created_at >= @before)
  )) as isWhole
from chats
where (@ids is null or id in (select value from json_each(@ids)))
  and (@uris is null or project in (select num from projects where uri in (select value from json_each(@uris))))
order by num
`

const LIST_EARLIER = `
select 'message' as kind, chats.id as chatId, messages.id as what, messages.key, parts
from chats join messages on messages.chat = chats.num join bodies on bodies.num = messages.body
where chats.num = @chat and (@before is null or messages.created_at < @before)
`

/**
 * Entries in the lists of typed prompts that repeat what is removed, unless a message that stays repeats it too. Each
 * machine has lists of its own: words that were pulled say nothing about the lists of this one.
 */
const LIST_PROMPTS = `
with typed as materialized (
  select messages.key, chats.id as chatId, messages.id, user_text as words, ifnull(machine, 0) as machine,
    format = '${PROMPTS}' as isPrompt,
    chats.id in (select value from json_each(@chats)) or key in (select value from json_each(@keys)) as isGoing
  from messages join chats on chats.num = messages.chat where user_text is not null
)
select 'message' as kind, chatId, id as what, key from typed where isPrompt and not isGoing and (words, machine) in (
  select words, machine from typed group by words, machine
  having max(isGoing) and not max(not isGoing and not isPrompt)
)
`

/** What is known of chats beside their messages. */
const FACTS = `
select 'text' as kind, chatId, what from (
  select chat_id as chatId, name as what from chat_metadata
  union select chat_id, branch from chat_metadata
  union select chat_id, uri from chat_paths
  union select id, summary from chats
  union select id, preview from chats
  union select chats.id, todo.value ->> 'content' from chats, json_each(chats.todos) todo where todos is not null
) where what is not null
`

const listIds = listingValues<[], ChatId>(`
select id from chats union select chat_id from chat_metadata union select chat_id from tracked
union select chat_id from evidence union select chat_id from chat_paths
`)

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
  for (const id of chatIds ?? listIds(db)) {
    db.transaction(() => (bars.hasChat(id) ? removeChat(db, id, nowMs) : removeParts(db, bars, id, nowMs)))()
  }
  forgetNames(db)
  noteStage(db, 'rows')
}

const findChat = finding<[ChatId], { readonly source: number; readonly hasRows: 0 | 1 }>(`
select source,
  exists (select 1 from messages where chat = num) or exists (select 1 from outlines where chat = num) as hasRows
from chats where id = ?
`)
const listMessages = listing<[ChatId], GoingMessage & { readonly id: MessageId; readonly parts: string }>(`
select key, chat, messages.id, body, is_shadowed as isShadowed, parts
from messages join bodies on bodies.num = messages.body where chat = (select num from chats where id = ?)
`)

function removeChat(db: Mirror, id: ChatId, nowMs: number): void {
  const children = listChildren(db, { id })
  for (const message of listMessages(db, id)) dropMessage(db, message)
  dropWhole(db, id)
  // A child may no longer count as a subagent without this chat.
  for (const child of children) update(db, child, nowMs)
}

const REMOVE_FACT = [
  `update chat_metadata set name = null where chat_id = @id and name = @text`,
  `update chat_metadata set branch = null where chat_id = @id and branch = @text`,
  `delete from chat_paths where chat_id = @id and uri = @text`,
  `update chats set summary = null where id = @id and summary = @text`,
  `update chats set preview = null where id = @id and preview = @text`,
  `update chats set todos = (
    select nullif(json_group_array(json(value)), '[]') from json_each(todos) where value ->> 'content' <> @text
  ) where id = @id and todos is not null`,
  `update chats set revision = @revision where id = @id`,
  // It is indexed again without the text.
  `insert into index_changes (key, is_urgent) select -num, 1 from chats where id = @id`,
]

function removeParts(db: Mirror, bars: Bars, id: ChatId, nowMs: number): void {
  const going = listMessages(db, id).filter((one) => bars.hasMessage(id, one.id, () => parseParts(one.parts)))
  for (const message of going) dropMessage(db, message)
  const facts = prepared<Target>(db, `${FACTS} and chatId = ?`).all(id)
  const barred = facts.filter(({ what }) => bars.hasText(id, what))
  const revision = barred.length > 0 ? nextRevision(db) : 0
  for (const { what } of barred) for (const sql of REMOVE_FACT) prepared(db, sql).run({ id, text: what, revision })
  if (going.length > 0 || barred.length > 0) update(db, id, nowMs)
}

/** Derives title, counts and order of a chat again from what is left. An empty chat is removed. */
function update(db: Mirror, id: ChatId, nowMs: number): void {
  const chat = findChat(db, id)
  if (chat?.hasRows === 0) dropWhole(db, id)
  else if (chat !== undefined) rewriteChats(db, chat.source, [id], nowMs)
}

/**
 * Rewrites the whole file and empties the WAL, so that no page contains what was removed. Readers can read meanwhile.
 * The disk needs room for a second copy of the file.
 * @returns false if a reader uses the WAL
 * @throws SqliteError SQLITE_FULL if the disk is full; the rows are removed all the same
 */
export function compact(db: Mirror): boolean {
  // A copy of the file does not fit into memory.
  db.pragma('temp_store = default')
  db.exec('vacuum main')
  return emptyLog(db)
}

/** Empties the WAL. It waits for readers, as long as the connection waits for locks. @returns false if one goes on */
export const emptyLog = (db: Mirror): boolean => db.pragma('main.wal_checkpoint(truncate)', { simple: true }) === 0

const FORGET_NAMES = `
delete from names where kind = 'model' and name not in (select model from messages where model is not null);
delete from names where kind = 'tool' and 'tool:' || name not in (
  select value from (select distinct marks from messages where marks glob '*tool:*'), json_each(marks)
);
`

/** Removes the names of tools and models that no message has any more. */
export function forgetNames(db: Mirror): void {
  db.pragma('secure_delete = on')
  db.exec(FORGET_NAMES)
}

const TERMS_MAX = 10
const OPEN_PLACES = `
create virtual table temp.message_places using fts5vocab ('${ATTACHED}', 'message_terms', 'instance');
create virtual table temp.chat_places using fts5vocab ('${ATTACHED}', 'chat_terms', 'instance');
`
const HAS_STALE = `
with given as (select value as term from json_each(?))
select 1 from given join message_places using (term) where doc not in (select key from messages)
union all
select 1 from given join chat_places using (term) where doc not in (select num from chats)
`

/**
 * Looks up the ten longest words of a purged text in the vocabulary of the index. The bytes of the index do not show them:
 * it compresses terms, and keeps those of removed rows until it is merged.
 * @returns whether it has one of them in a message or a title that is no more
 */
export function hasStaleWords(db: Mirror, text: string): boolean {
  const terms = [...new Set(indexTerms(text).split(' '))].toSorted((one, other) => other.length - one.length)
  db.pragma('query_only = off')
  db.exec(OPEN_PLACES)
  return db.prepare(HAS_STALE).get(JSON.stringify(terms.slice(0, TERMS_MAX))) !== undefined
}
