import { noteChanges, titleKey } from '../index/index-file.ts'
import type { Mirror } from '../open.ts'
import { excludedIn } from '../projects/place-chats.ts'
import { dropWhole } from '../purge/drop-chat.ts'
import { enterLosses } from '../sources/losses.ts'
import { asking, finding, listingValues, prepared, writing } from '../sql.ts'
import { DURATION } from '../sum-tables.ts'
import { IS_DOCUMENT } from '../threads/assemble.ts'
import { type TrackedFacts, readTracked } from '../usage/tracked.ts'
import { type Change, type ChatFacts, type ChatChange, childrenOf, tellsFacts } from '../../model/change.ts'
import type { MessageColumns } from './messages.ts'
import {
  type OwnRowState,
  dropOwnRow,
  forgetMoved,
  mergeMetadata,
  nextRevision,
  noteCopy,
  noteOwnRow,
  ownRowMetadata,
  readOwnRows,
  saveMetadata,
  touchChat,
} from './chat-columns.ts'
import { parseParts } from './pack-message.ts'
import { type ThreadOutcome, writeThread } from './write-thread.ts'
import type { WriteTools } from './write.ts'
import { type Loss, type TitleSource, UNTITLED_CHAT } from '../../model/chat.ts'
import type { ChatId } from '../../model/ids.ts'
import type { ChatTime } from '../../model/thread.ts'

export interface ChatOutcome extends Omit<ThreadOutcome, 'all'> {
  readonly chatId: ChatId
  readonly isChanged: boolean
  /** New losses. */
  readonly losses: readonly Loss[]
}

/** A row of `chats`: what its own row says, what all lists say, what follows from its messages, what its sources have. */
interface ChatRow extends FactColumns, MergedMetadata, DerivedColumns {
  readonly num: number
  readonly source: number
  readonly own_row: OwnRowState
  readonly is_live: number
  readonly deleted_at: number | null
}
type FactColumns = ReturnType<typeof factColumns>
type MergedMetadata = ReturnType<typeof mergeMetadata>
type DerivedColumns = Omit<ReturnType<typeof deriveColumns>, 'liveWithoutRow'>

const findChat = finding<[ChatId], ChatRow>(`select * from chats where id = ?`)
const addChat = writing<[ChatId, source: number]>(
  `insert into chats (id, source, format, title, title_source, revision) values (?, ?, 'split', '', 'none', 0)`,
)

/** Writes what a pass, or nothing new, says of a chat, and derives what follows from it. */
export function writeChat(db: Mirror, write: ChatChange, change: Change, tools: WriteTools): ChatOutcome {
  const { id, ownRow, supersedes } = write
  const { nowMs } = change
  const { ranks } = tools
  const held = findChat(db, id)
  // A deletion mark of an unknown chat, for example.
  const isEmpty = !tellsFacts(ownRow) && ownRow.kind !== 'unreadable' && (write.placeholders?.size ?? 0) === 0
  if (held === undefined && isEmpty && write.messages.length === 0 && !isListed(db, id))
    return { ...noOutcome, chatId: id }
  if (held === undefined) addChat(db, id, change.source)
  const before = held ?? findChat(db, id)
  if (before === undefined) throw new Error('an insert left no row')
  const { num } = before
  // Only an older decoder read a chat there.
  const isSuperseded = supersedes === true && ownRow.kind === 'gone'
  const isOwnRowNew = isSuperseded ? dropOwnRow(db, num, change.source) : noteOwnRow(db, num, change.source, ownRow)
  const hasNewLinks = writeLinks(db, write)
  if (tellsFacts(ownRow)) saveMetadata(db, change.source, ownRowMetadata(id, ownRow.facts))
  const ownRows = readOwnRows(db, num)
  // A source that read the copy to which the gone row referred has to look again.
  const looksAgain = isOwnRowNew && ownRow.kind === 'gone' && ownRows.size > 1
  if (ownRow.kind === 'read' || looksAgain) {
    noteCopy(db, num, change.source, looksAgain || (ownRow.kind === 'read' && ownRow.namesCopy === true))
  }
  if ([...ownRows.values()].includes('gone')) forgetMoved(db, id)
  const source = nextOwner(before, write, change, tools, ownRows)
  const facts = {
    ...before,
    ...(source === before.source ? {} : factColumns(null, 0)),
    ...(tellsFacts(ownRow) && change.source === source ? factColumns(ownRow.facts, ownRow.octets) : {}),
    ...mergeMetadata(db, id),
    source,
  }
  const tracked = readTracked(db, id)
  const isNew = held === undefined
  const { cursor_created_at: createdAt } = facts
  const trackedTime: ChatTime | null = tracked && { atMs: tracked.firstAtMs, source: 'tracking' }
  const chatTime: ChatTime | null = createdAt === null ? trackedTime : { atMs: createdAt, source: 'chat' }
  const { all, ...thread } = writeThread(db, { chat: facts, isNew, write, change, chatTime, tools })
  if (isSuperseded && !isLeft(db, { num })) {
    dropWhole(db, id)
    return { ...noOutcome, chatId: id, changed: 1, isChanged: true }
  }
  const { liveWithoutRow, ...derived } = deriveColumns(db, facts, tracked)
  const states = new Set(ownRows.values())
  const state = states.has('live') ? 'live' : states.has('gone') ? 'gone' : 'none'
  // Of a chat that only a list names, nobody knows more.
  const isListedOnly = ownRows.size === 0 && all?.length === 0
  const isLive = state === 'live' || liveWithoutRow > 0 || isListedOnly
  // The time may be unknown if the chat comes from an archive. A chat that was not live before keeps its former time.
  const goneAt = before.is_live === 0 ? before.deleted_at : ownRow.kind === 'remembered' ? ownRow.deletedAtMs : nowMs
  const deletedAt = isLive ? null : goneAt
  const after = { ...facts, ...derived, own_row: state, is_live: isLive ? 1 : 0, deleted_at: deletedAt } as const
  const hasNewColumns = saveColumns(db, before, after, isNew)
  const isRemembered = ({ source: of }: MessageColumns): boolean => ranks.isArchive(of)
  const losses =
    all === null ? [] : enterLosses(db, { num, id, deletedAtMs: deletedAt, isLive, messages: all, isRemembered, nowMs })
  const messagesChanged = thread.added + thread.changed + thread.gone
  if (!hasNewColumns && (isOwnRowNew || hasNewLinks || messagesChanged > 0)) touchChat(db, id)
  return {
    ...thread,
    chatId: id,
    changed: thread.changed + (messagesChanged === 0 && hasNewColumns && !isNew ? 1 : 0),
    isChanged: messagesChanged > 0 || hasNewColumns,
    // A loss from an archive is not new: it happened earlier, perhaps on another machine.
    losses: ranks.isArchive(change.source) ? [] : losses,
  }
}

const INDEXED = new Set<keyof ChatRow>(['title', 'summary', 'todos'])

/** @returns whether any column differed */
function saveColumns(db: Mirror, before: ChatRow, after: ChatRow, isNew: boolean): boolean {
  const changed = (Object.keys(after) as (keyof ChatRow)[]).filter((column) => before[column] !== after[column])
  if (!isNew && changed.length === 0) return false
  const values = changed.map((column) => after[column])
  prepared(db, `update chats set ${changed.map((column) => `${column} = ?, `).join('')}revision = ? where num = ?`).run(
    ...values,
    nextRevision(db),
    after.num,
  )
  if (isNew || changed.some((column) => INDEXED.has(column))) noteChanges(db, [titleKey(after.num)], true)
  return true
}

export const noOutcome = { added: 0, changed: 0, gone: 0, messageIds: [], isChanged: false, losses: [] }

const isLeft = asking<[{ readonly num: number }]>(
  `select 1 from messages where chat = @num union all select 1 from outlines where chat = @num limit 1`,
)

/** A list can name a chat that is in no store. While projects are excluded, its title could be that of one. */
const isListed = (db: Mirror, id: ChatId): boolean => excludedIn(db).length === 0 && isNamed(db, id)
const isNamed = asking<[ChatId]>(
  `select 1 from chat_metadata where chat_id = ? and name is not null and is_draft is not 1 limit 1`,
)

/** A chat of which nothing was read. */
export const unreadChat = (id: ChatId): ChatChange => ({ id, ownRow: { kind: 'unread' }, messages: [], vanished: [] })

/** Writes a chat again of which nothing was read: something else changed that it depends on. */
export function refreshChat(db: Mirror, id: ChatId, change: Change, tools: WriteTools): ChatOutcome {
  const source = findChat(db, id)?.source ?? change.source
  return writeChat(db, unreadChat(id), { ...change, source }, tools)
}

/**
 * The source that decides the chat's facts. A source with a better rank takes over as soon as it has the chat. A source of
 * the same rank takes over if the former one's own row is gone. A source of a worse rank never does: known facts outlive
 * the row. An archive decides until a store reports the chat's own row.
 */
function nextOwner(
  { source, own_row: state, size_bytes: octets }: ChatRow,
  { ownRow, messages }: ChatChange,
  change: Change,
  { ranks }: WriteTools,
  ownRows: ReadonlyMap<number, OwnRowState>,
): number {
  const hasStoreRow = [...ownRows.keys()].some((of) => !ranks.isArchive(of))
  if (ownRow.kind === 'remembered') return hasStoreRow ? source : change.source
  if (ranks.isArchive(source) && ownRows.has(source) && !hasStoreRow) return source
  const isRead = ownRow.kind === 'read'
  // Only a list named it until now.
  if (state === 'none' && octets === 0 && (isRead || messages.length > 0)) return change.source
  const hasBetterRank = ranks.of(change.source) < ranks.of(source) && (isRead || messages.length > 0)
  const isSuccessor = isRead && ownRows.get(source) === 'gone' && ranks.of(change.source) === ranks.of(source)
  return hasBetterRank || isSuccessor ? change.source : source
}

/** The columns of a chat's own row. @param facts null for a chat of which only messages are known */
const factColumns = (facts: ChatFacts | null, octets: number) => ({
  format: facts?.format ?? 'split',
  summary: facts?.summary ?? null,
  preview: facts?.preview ?? null,
  todos: facts === null || facts.todos.length === 0 ? null : JSON.stringify(facts.todos),
  cursor_model: facts?.model ?? null,
  status: facts?.status ?? null,
  context_used: facts?.contextTokens?.used ?? null,
  context_limit: facts?.contextTokens?.limit ?? null,
  context_items: facts?.contextTokens?.items === undefined ? null : JSON.stringify(facts.contextTokens.items),
  recorded_cost_cents: facts?.recordedCostCents ?? null,
  octets,
})

const addLink = writing<[parent: ChatId, child: ChatId]>(
  `insert into chat_links (parent_id, child_id) values (?, ?) on conflict do nothing`,
)
const markSubagent = writing<[revision: number, ChatId]>(
  `update chats set is_subagent = 1, revision = ? where id = ? and is_subagent = 0`,
)

/** @returns whether a new child was found */
function writeLinks(db: Mirror, write: ChatChange): boolean {
  let isNew = false
  for (const childId of childrenOf(write)) {
    if (addLink(db, write.id, childId) > 0) isNew = true
    markSubagent(db, nextRevision(db), childId)
  }
  return isNew
}

/** Times taken from the chat or from a neighbour do not tell when something happened, so they are not used. */
const sumUpThread = finding<[chat: number], ThreadSum>(`
select
  count(*) filter (where is_orphan = 0) as message_count,
  count(*) filter (where is_orphan = 0 and role = 'user') as user_message_count,
  coalesce(sum(tool_calls) filter (where is_orphan = 0), 0) as tool_call_count,
  ${DURATION} as duration_ms,
  coalesce(sum(octets) filter (where is_orphan <> 2), 0) as octets,
  count(*) filter (where is_live = 1 and not ${IS_DOCUMENT} and not exists (
    select 1 from outlines where outlines.chat = messages.chat and outlines.source = messages.source and own_row <> 'none'
  )) as liveWithoutRow,
  min(created_at) filter (where is_orphan = 0 and created_at_source in ('message', 'header', 'timing')) as firstAt,
  max(created_at) filter (where is_orphan = 0 and created_at_source in ('message', 'header', 'timing')) as lastAt
from messages where chat = ?
`)

interface ThreadSum {
  readonly message_count: number
  readonly user_message_count: number
  readonly tool_call_count: number
  readonly duration_ms: number | null
  readonly octets: number
  /** How many live messages are from sources that never had the chat's own row, or forgot it. */
  readonly liveWithoutRow: number
  readonly firstAt: number | null
  readonly lastAt: number | null
}

const listModels = listingValues<[chat: number], string>(`
select model from messages where chat = ? and is_orphan = 0 and model is not null
group by model order by max(position) desc
`)

/** The columns that follow from the chat's messages. */
function deriveColumns(
  db: Mirror,
  facts: FactColumns & MergedMetadata & { readonly num: number },
  tracked: TrackedFacts | null,
) {
  const sum = sumUpThread(db, facts.num)
  if (sum === undefined) throw new Error('an aggregate returned no row')
  const { firstAt, lastAt, octets, ...counts } = sum
  const { num, name, preview, cursor_created_at: createdAt, cursor_updated_at: updatedAt, cursor_model: model } = facts
  const used = listModels(db, num)
  const own = model === null ? used : [...new Set([model, ...used])]
  const models = own.length > 0 ? own : (tracked?.models ?? []).map(([of]) => of)
  const lastKnown = createdAt === null ? tracked?.lastAtMs : Math.max(createdAt, tracked?.lastAtMs ?? createdAt)
  return {
    ...counts,
    ...titleOf(db, num, name, preview),
    preview: counts.message_count > 0 ? null : preview,
    created_at: createdAt ?? firstAt ?? tracked?.firstAtMs ?? null,
    last_activity_at: lastAt ?? updatedAt ?? lastKnown ?? null,
    model: models[0] ?? null,
    models: JSON.stringify(models),
    model_source: models.length === 0 ? null : own.length > 0 ? ('cursor' as const) : ('tracking' as const),
    size_bytes: facts.octets + octets,
  }
}

/** How many of the user's messages are searched for a title. */
const TITLE_MESSAGES_MAX = 5
const FIRST_USER_BODIES = `
select bodies.parts from messages cross join bodies on bodies.num = messages.body
where messages.chat = ? and messages.is_orphan = 0 and messages.role = 'user' and messages.is_simulated = 0
order by messages.position limit ${TITLE_MESSAGES_MAX}
`
const TITLE_CHARS_MAX = 80

/**
 * The displayed title of a chat: its name, else the first words of the user's first message with text, else those of its
 * preview.
 */
function titleOf(
  db: Mirror,
  num: number,
  name: string | null,
  preview: string | null,
): { readonly title: string; readonly title_source: TitleSource } {
  if (name !== null) return { title: name, title_source: 'cursor' }
  for (const json of prepared<string>(db, FIRST_USER_BODIES).pluck().iterate(num)) {
    for (const part of parseParts(json)) {
      const words = part.kind === 'text' ? firstWords(part.text) : ''
      if (words !== '') return { title: words, title_source: 'first-message' }
    }
  }
  const begun = firstWords(preview?.split('\n')[0] ?? '')
  if (begun !== '') return { title: begun, title_source: 'first-message' }
  return { title: UNTITLED_CHAT, title_source: 'none' }
}

/**
 * The beginning of a text on one line: at most 80 characters. It is cut between words, because half of a key is no longer
 * known as a secret. A word that is longer than a title is cut between characters.
 */
function firstWords(text: string): string {
  const line = text.slice(0, 1000).replace(/\s+/g, ' ').trim()
  const chars = Array.from(line)
  if (chars.length <= TITLE_CHARS_MAX) return line
  const begun = chars.slice(0, TITLE_CHARS_MAX).join('')
  const words = begun.slice(0, begun.lastIndexOf(' ')).trimEnd()
  return `${words === '' || !begun.includes(' ') ? chars.slice(0, TITLE_CHARS_MAX - 1).join('') : words}…`
}
