import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { Loss } from '../../../model/chat.ts'
import type { ChatTime } from '../../../model/thread.ts'
import { noteCopy } from '../pending-references.ts'
import { tellsFacts, type Batch, type ChatFacts, type ChatWrite, childrenOf } from '../batch.ts'
import {
  addChat,
  noFacts,
  pickOwn,
  saveColumns,
  type ChatRow,
  type MergedMetadata,
  type OwnColumns,
} from './chat-columns.ts'
import { deriveChat } from './derive-chat.ts'
import { forgetMoved, mergeMetadata, ownRowMetadata, saveMetadata } from './chat-metadata.ts'
import { enterLosses } from '../../sources/losses.ts'
import type { Mirror } from '../../open.ts'
import { noteOwnRow, readOwnRows, type OwnRowState } from '../../threads/outlines.ts'
import { prepared } from '../../prepared.ts'
import { PROMPTS } from './prompt-chats.ts'
import { notePlaceholders } from '../../threads/placeholders.ts'
import { touchChat, nextRevision } from '../revision.ts'
import { dropSupersededChat } from './superseded.ts'
import { readTracked, type TrackedFacts } from '../../usage/tracked.ts'
import { writeThread } from '../write-thread.ts'
import type { WriteTools } from '../write-tools.ts'

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

export function writeChat(db: Mirror, given: ChatWrite, batch: Batch, tools: WriteTools): ChatOutcome {
  const held = prepared<ChatRow>(db, FIND_CHAT).get(given.id)
  if (held !== undefined && given.supersedes === true && given.ownRow.kind === 'gone') {
    const isDropped = dropSupersededChat(db, { num: held.num, id: given.id, source: batch.source })
    if (isDropped) return { ...noOutcome(given.id), changed: 1, isChanged: true }
  }
  const write: ChatWrite =
    given.supersedes === true && given.ownRow.kind === 'gone' ? { ...given, ownRow: { kind: 'unread' } } : given
  // A deletion mark of an unknown chat, for example.
  const isEmpty =
    !tellsFacts(write.ownRow) && write.ownRow.kind !== 'unreadable' && (write.placeholders?.size ?? 0) === 0
  if (held === undefined && isEmpty && write.messages.length === 0) return noOutcome(write.id)
  const before = held ?? addChat(db, write.id, batch.source)
  const isOwnRowNew = noteOwnRow(db, before.num, batch.source, write.ownRow)
  let isTouched = isOwnRowNew
  if (writeLinks(db, write)) isTouched = true
  if (tellsFacts(write.ownRow)) saveMetadata(db, batch.source, ownRowMetadata(write.id, write.ownRow.facts))
  if (write.ownRow.kind === 'read') {
    noteCopy(db, { chat: before.num, source: batch.source }, write.ownRow.namesCopy === true)
  }
  const ownRows = readOwnRows(db, before.num)
  // A source that read the copy to which the gone row referred has to look again.
  if (isOwnRowNew && write.ownRow.kind === 'gone' && ownRows.size > 1) {
    noteCopy(db, { chat: before.num, source: batch.source }, true)
  }
  forgetMoved(db, write.id, ownRows, tools.ranks)
  const source = nextOwner(before, write, batch, tools, ownRows)
  const facts = { ...ownColumnsOf(before, write, batch.source, source), ...mergeMetadata(db, write.id) }
  const tracked = readTracked(db, write.id)
  notePlaceholders(db, before.num, batch.source, write)
  const thread = writeThread(db, {
    chatNum: before.num,
    isNew: held === undefined,
    write,
    source: batch.source,
    owner: source,
    isPrompts: facts.format === PROMPTS,
    chatTime: chatTime(facts.cursor_created_at, tracked),
    nowMs: batch.nowMs,
    tools,
  })
  const after = { ...facts, ...deriveState(db, before, facts, { source, ownRows, write, tracked, nowMs: batch.nowMs }) }
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
          nowMs: batch.nowMs,
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
    losses: tools.ranks.isArchive(batch.source) ? [] : losses,
  }
}

/**
 * The source that decides the chat's facts. A source with a better rank takes over as soon as it has the chat. A source of
 * the same rank takes over if the former one's own row is gone. A source of a worse rank never does: known facts outlive
 * the row. An archive decides until a store reports the chat's own row.
 */
function nextOwner(
  { source }: ChatRow,
  { ownRow, messages }: ChatWrite,
  batch: Batch,
  { ranks }: WriteTools,
  ownRows: ReadonlyMap<number, OwnRowState>,
): number {
  const hasStoreRow = [...ownRows.keys()].some((of) => !ranks.isArchive(of))
  if (ownRow.kind === 'remembered') return hasStoreRow ? source : batch.source
  if (ranks.isArchive(source) && ownRows.has(source) && !hasStoreRow) return source
  const isRead = ownRow.kind === 'read'
  const hasBetterRank = ranks.of(batch.source) < ranks.of(source) && (isRead || messages.length > 0)
  const isSuccessor = isRead && ownRows.get(source) === 'gone' && ranks.of(batch.source) === ranks.of(source)
  return hasBetterRank || isSuccessor ? batch.source : source
}

function ownColumnsOf(before: ChatRow, { ownRow }: ChatWrite, source: number, owner: number): OwnColumns {
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
  readonly write: ChatWrite
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
export function refreshChat(db: Mirror, id: ChatId, batch: Batch, tools: WriteTools): boolean {
  const before = prepared<ChatRow>(db, FIND_CHAT).get(id)
  if (before === undefined) return false
  const write: ChatWrite = { id, ownRow: { kind: 'unread' }, messages: [], vanished: [] }
  return writeChat(db, write, { ...batch, source: before.source }, tools).isChanged
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
function writeLinks(db: Mirror, write: ChatWrite): boolean {
  let isNew = false
  for (const childId of childrenOf(write)) {
    if (prepared(db, ADD_LINK).run(write.id, childId).changes > 0) isNew = true
    prepared(db, MARK_SUBAGENT).run(nextRevision(db), childId)
  }
  return isNew
}
