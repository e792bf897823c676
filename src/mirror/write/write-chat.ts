import type { Mirror } from '../open.ts'
import { parseParts } from '../parse-parts.ts'
import { enterLosses } from '../sources/losses.ts'
import { prepared } from '../sql.ts'
import { DURATION } from '../sum-tables.ts'
import { notePlaceholders } from '../threads/placeholders.ts'
import { type TrackedFacts, readTracked } from '../usage/tracked.ts'
import { type Change, type ChatFacts, type ChatChange, childrenOf, tellsFacts } from '../../model/change.ts'
import {
  type ChatRow,
  type DerivedChat,
  type MergedMetadata,
  type OwnColumns,
  addChat,
  nextRevision,
  noFacts,
  pickOwn,
  saveColumns,
  touchChat,
} from './chat-columns.ts'
import { PROMPTS, dropSupersededChat } from './held-chat.ts'
import {
  type OwnRowState,
  forgetMoved,
  mergeMetadata,
  noteOwnRow,
  ownRowMetadata,
  readOwnRows,
  saveMetadata,
} from './own-row.ts'
import { noteCopy } from './references.ts'
import { writeThread } from './write-thread.ts'
import type { WriteTools } from './write.ts'
import { type Loss, UNTITLED_CHAT } from '../../model/chat.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { ChatTime } from '../../model/thread.ts'

export interface ChatOutcome {
  readonly chatId: ChatId
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
  readonly isChanged: boolean
  /** New losses. */
  readonly losses: readonly Loss[]
}

const FIND_CHAT = `select * from chats where id = ?`

export function writeChat(db: Mirror, given: ChatChange, change: Change, tools: WriteTools): ChatOutcome {
  const held = prepared<ChatRow>(db, FIND_CHAT).get(given.id)
  if (held !== undefined && given.supersedes === true && given.ownRow.kind === 'gone') {
    const isDropped = dropSupersededChat(db, { num: held.num, id: given.id, source: change.source })
    if (isDropped) return { ...noOutcome(given.id), changed: 1, isChanged: true }
  }
  const write: ChatChange =
    given.supersedes === true && given.ownRow.kind === 'gone' ? { ...given, ownRow: { kind: 'unread' } } : given
  // A deletion mark of an unknown chat, for example.
  const isEmpty =
    !tellsFacts(write.ownRow) && write.ownRow.kind !== 'unreadable' && (write.placeholders?.size ?? 0) === 0
  if (held === undefined && isEmpty && write.messages.length === 0) return noOutcome(write.id)
  const before = held ?? addChat(db, write.id, change.source)
  const isOwnRowNew = noteOwnRow(db, before.num, change.source, write.ownRow)
  let isTouched = isOwnRowNew
  if (writeLinks(db, write)) isTouched = true
  if (tellsFacts(write.ownRow)) saveMetadata(db, change.source, ownRowMetadata(write.id, write.ownRow.facts))
  if (write.ownRow.kind === 'read') {
    noteCopy(db, { chat: before.num, source: change.source }, write.ownRow.namesCopy === true)
  }
  const ownRows = readOwnRows(db, before.num)
  // A source that read the copy to which the gone row referred has to look again.
  if (isOwnRowNew && write.ownRow.kind === 'gone' && ownRows.size > 1) {
    noteCopy(db, { chat: before.num, source: change.source }, true)
  }
  forgetMoved(db, write.id, ownRows, tools.ranks)
  const source = nextOwner(before, write, change, tools, ownRows)
  const facts = { ...ownColumnsOf(before, write, change.source, source), ...mergeMetadata(db, write.id) }
  const tracked = readTracked(db, write.id)
  notePlaceholders(db, before.num, change.source, write)
  const thread = writeThread(db, {
    chatNum: before.num,
    isNew: held === undefined,
    write,
    source: change.source,
    owner: source,
    isPrompts: facts.format === PROMPTS,
    chatTime: chatTime(facts.cursor_created_at, tracked),
    nowMs: change.nowMs,
    tools,
  })
  const after = {
    ...facts,
    ...deriveState(db, before, facts, { source, ownRows, write, tracked, nowMs: change.nowMs }),
  }
  const hasNewColumns = saveColumns(db, before, held ?? null, after)
  const losses =
    thread.all === null
      ? []
      : enterLosses(db, {
          num: before.num,
          id: write.id,
          deletedAtMs: after.deleted_at,
          isLive: after.is_live === 1,
          messages: thread.all,
          isRemembered: ({ source: of }) => tools.ranks.isArchive(of),
          nowMs: change.nowMs,
        })
  const messagesChanged = thread.added + thread.changed + thread.gone
  if (!hasNewColumns && (isTouched || messagesChanged > 0)) touchChat(db, write.id)
  return {
    chatId: write.id,
    added: thread.added,
    changed: thread.changed + (messagesChanged === 0 && hasNewColumns && held !== undefined ? 1 : 0),
    gone: thread.gone,
    messageIds: thread.messageIds,
    isChanged: messagesChanged > 0 || hasNewColumns,
    // A loss from an archive is not new: it happened earlier, perhaps on another machine.
    losses: tools.ranks.isArchive(change.source) ? [] : losses,
  }
}

/**
 * The source that decides the chat's facts. A source with a better rank takes over as soon as it has the chat. A source of
 * the same rank takes over if the former one's own row is gone. A source of a worse rank never does: known facts outlive
 * the row. An archive decides until a store reports the chat's own row.
 */
function nextOwner(
  { source }: ChatRow,
  { ownRow, messages }: ChatChange,
  change: Change,
  { ranks }: WriteTools,
  ownRows: ReadonlyMap<number, OwnRowState>,
): number {
  const hasStoreRow = [...ownRows.keys()].some((of) => !ranks.isArchive(of))
  if (ownRow.kind === 'remembered') return hasStoreRow ? source : change.source
  if (ranks.isArchive(source) && ownRows.has(source) && !hasStoreRow) return source
  const isRead = ownRow.kind === 'read'
  const hasBetterRank = ranks.of(change.source) < ranks.of(source) && (isRead || messages.length > 0)
  const isSuccessor = isRead && ownRows.get(source) === 'gone' && ranks.of(change.source) === ranks.of(source)
  return hasBetterRank || isSuccessor ? change.source : source
}

function ownColumnsOf(before: ChatRow, { ownRow }: ChatChange, source: number, owner: number): OwnColumns {
  if (tellsFacts(ownRow) && source === owner) return ownColumns(ownRow.facts, ownRow.octets)
  return owner === before.source ? pickOwn(before) : noFacts
}

function chatTime(createdAtMs: number | null, tracked: TrackedFacts | null): ChatTime | null {
  if (createdAtMs !== null) return { atMs: createdAtMs, source: 'chat' }
  return tracked === null ? null : { atMs: tracked.firstAtMs, source: 'tracking' }
}

interface StateBasis {
  readonly source: number
  readonly ownRows: ReadonlyMap<number, OwnRowState>
  readonly write: ChatChange
  readonly tracked: TrackedFacts | null
  readonly nowMs: number
}

/** The columns derived from the chat's messages, and whether any source still has the chat. */
function deriveState(db: Mirror, before: ChatRow, facts: OwnColumns & MergedMetadata, basis: StateBasis) {
  const { source, ownRows } = basis
  const { columns, liveWithoutRow } = deriveChat(db, before.num, facts, basis.tracked)
  const states = new Set(ownRows.values())
  const ownRow: OwnRowState = states.has('live') ? 'live' : states.has('gone') ? 'gone' : 'none'
  const isLive = ownRow === 'live' || liveWithoutRow > 0
  return {
    ...columns,
    source,
    own_row: ownRow,
    is_live: isLive ? 1 : 0,
    deleted_at: isLive ? null : deletedAt(before, basis),
  }
}

/** The time may be unknown if the chat comes from an archive. A chat that was not live before keeps its former time. */
function deletedAt({ deleted_at, is_live }: ChatRow, { write: { ownRow }, nowMs }: StateBasis): number | null {
  if (is_live === 0) return deleted_at
  return ownRow.kind === 'remembered' ? ownRow.deletedAtMs : nowMs
}

/** Writes the merged metadata of a chat again after a list changed. @returns whether the chat changed */
export function refreshChat(db: Mirror, id: ChatId, change: Change, tools: WriteTools): boolean {
  const before = prepared<ChatRow>(db, FIND_CHAT).get(id)
  if (before === undefined) return false
  const write: ChatChange = { id, ownRow: { kind: 'unread' }, messages: [], vanished: [] }
  return writeChat(db, write, { ...change, source: before.source }, tools).isChanged
}

const noOutcome = (chatId: ChatId): ChatOutcome => ({
  chatId,
  added: 0,
  changed: 0,
  gone: 0,
  messageIds: [],
  isChanged: false,
  losses: [],
})

const ownColumns = (facts: ChatFacts, octets: number): OwnColumns => ({
  format: facts.format,
  summary: facts.summary,
  todos: facts.todos.length === 0 ? null : JSON.stringify(facts.todos),
  cursor_model: facts.model,
  status: facts.status,
  context_used: facts.contextTokens?.used ?? null,
  context_limit: facts.contextTokens?.limit ?? null,
  recorded_cost_cents: facts.recordedCostCents,
  octets,
})

const ADD_LINK = `insert into chat_links (parent_id, child_id) values (?, ?) on conflict do nothing`
const MARK_SUBAGENT = `update chats set is_subagent = 1, revision = ? where id = ? and is_subagent = 0`

/** @returns whether a new child was found */
function writeLinks(db: Mirror, write: ChatChange): boolean {
  let isNew = false
  for (const childId of childrenOf(write)) {
    if (prepared(db, ADD_LINK).run(write.id, childId).changes > 0) isNew = true
    prepared(db, MARK_SUBAGENT).run(nextRevision(db), childId)
  }
  return isNew
}

type ChatBasis = Pick<ChatRow, 'name' | 'cursor_created_at' | 'cursor_updated_at' | 'cursor_model' | 'octets'>

/** Times taken from the chat or from a neighbour do not tell when something happened, so they are not used. */
const SUM_UP_THREAD = `
select
  count(*) filter (where is_orphan = 0) as message_count,
  count(*) filter (where is_orphan = 0 and role = 'user') as user_message_count,
  coalesce(sum(tool_calls) filter (where is_orphan = 0), 0) as tool_call_count,
  ${DURATION} as duration_ms,
  coalesce(sum(octets) filter (where is_orphan <> 2), 0) as octets,
  count(*) filter (where is_live = 1 and not exists (
    select 1 from outlines where outlines.chat = messages.chat and outlines.source = messages.source
  )) as live_without_row,
  min(created_at) filter (where is_orphan = 0 and created_at_source in ('message', 'header', 'timing')) as first_at,
  max(created_at) filter (where is_orphan = 0 and created_at_source in ('message', 'header', 'timing')) as last_at
from messages where chat = ?
`

type ThreadSum = Pick<
  ChatRow,
  'message_count' | 'user_message_count' | 'tool_call_count' | 'duration_ms' | 'octets'
> & { readonly live_without_row: number; readonly first_at: number | null; readonly last_at: number | null }

const LIST_MODELS = `
select model, max(position) as last from messages
where chat = ? and is_orphan = 0 and model is not null
group by model order by last desc
`

export function deriveChat(
  db: Mirror,
  chatNum: number,
  basis: ChatBasis,
  tracked: TrackedFacts | null,
): {
  readonly columns: DerivedChat
  /** Number of live messages from sources that never had the chat's own row. */
  readonly liveWithoutRow: number
} {
  const sum = prepared<ThreadSum>(db, SUM_UP_THREAD).get(chatNum)
  if (sum === undefined) throw new Error('an aggregate returned no row')
  const used = prepared<{ model: string }>(db, LIST_MODELS)
    .all(chatNum)
    .map((row) => row.model)
  const own = basis.cursor_model === null ? used : [...new Set([basis.cursor_model, ...used])]
  const models = own.length > 0 ? own : (tracked?.models ?? []).map(([name]) => name)
  return {
    liveWithoutRow: sum.live_without_row,
    columns: {
      ...titleOf(basis.name, readUserParts(db, chatNum)),
      created_at: basis.cursor_created_at ?? sum.first_at ?? tracked?.firstAtMs ?? null,
      last_activity_at:
        sum.last_at ?? basis.cursor_updated_at ?? later(basis.cursor_created_at, tracked?.lastAtMs ?? null),
      model: models[0] ?? null,
      models: JSON.stringify(models),
      model_source: models.length === 0 ? null : own.length > 0 ? 'cursor' : 'tracking',
      message_count: sum.message_count,
      user_message_count: sum.user_message_count,
      tool_call_count: sum.tool_call_count,
      size_bytes: basis.octets + sum.octets,
      duration_ms: sum.duration_ms,
    },
  }
}

const later = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other)

/** How many of the user's messages are searched for a title. */
export const TITLE_MESSAGES_MAX = 5
const FIRST_USER_BODIES = `
select bodies.parts from messages cross join bodies on bodies.num = messages.body
where messages.chat = ? and messages.is_orphan = 0 and messages.role = 'user' and messages.is_simulated = 0
order by messages.position limit ${TITLE_MESSAGES_MAX}
`
const TITLE_CHARS_MAX = 80

function* readUserParts(db: Mirror, chatNum: number): Generator<readonly Part[]> {
  for (const { parts } of prepared<{ parts: string }>(db, FIRST_USER_BODIES).iterate(chatNum)) {
    yield parseParts(parts)
  }
}

/**
 * The displayed title of a chat: its name, else the first words of the user's first message with text.
 * @param userParts the parts of the user's messages, in order; read only if there is no name
 */
export function titleOf(
  name: string | null,
  userParts: Iterable<readonly Part[]>,
): Pick<DerivedChat, 'title' | 'title_source'> {
  if (name !== null) return { title: name, title_source: 'cursor' }
  for (const parts of userParts) {
    for (const part of parts) {
      const words = part.kind === 'text' ? firstWords(part.text) : ''
      if (words !== '') return { title: words, title_source: 'first-message' }
    }
  }
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
