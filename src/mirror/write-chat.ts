import type { ChatId, MessageId } from '../model/ids.ts'
import type { Batch, ChatFacts, ChatWrite } from './batch.ts'
import { saveColumns, type ChatRow, type FactColumns, type OwnRowState } from './chat-columns.ts'
import { deriveChat } from './derive-chat.ts'
import { mergeHeads, ownHead, saveHead } from './heads.ts'
import type { Mirror } from './open.ts'
import { writeOutline } from './outlines.ts'
import { prepared } from './prepared.ts'
import { PROMPTS } from './prompt-chats.ts'
import { nextRevision } from './revision.ts'
import { writeThread } from './write-thread.ts'
import type { WriteTools } from './write-tools.ts'

export interface ChatOutcome {
  readonly chatId: ChatId
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
  readonly isChanged: boolean
}

const FIND_CHAT = `select * from chats where id = ?`
/** No `returning`: it opens a savepoint, at which FTS5 writes out what it has gathered, once for every chat. */
const ADD_CHAT = `
insert into chats (id, source, format, title, title_source, revision) values (?, ?, 'split', '', 'none', 0)
`

export function writeChat(db: Mirror, write: ChatWrite, batch: Batch, tools: WriteTools): ChatOutcome {
  const held = prepared<ChatRow>(db, FIND_CHAT).get(write.id)
  // A tombstone of a chat that was never seen says nothing of any chat.
  if (held === undefined && write.ownRow.kind === 'gone' && write.messages.length === 0) return nothing(write.id)
  const before = held ?? addChat(db, write.id, batch.source)
  const rank = tools.ranks.of(batch.source)
  const isOwner = rank <= tools.ranks.of(before.source)
  const takesOver = rank < tools.ranks.of(before.source) && (write.ownRow.kind === 'read' || write.messages.length > 0)
  const source = takesOver ? batch.source : before.source
  noteOwnRow(db, before.num, write, batch.source)
  const own = write.ownRow.kind === 'read' && isOwner ? ownColumns(write.ownRow.facts, write.ownRow.octets) : before
  const facts = { ...pickOwn(own), ...mergeHeads(db, write.id) }
  const thread = writeThread(db, {
    chatNum: before.num,
    write,
    source: batch.source,
    isPrompts: facts.format === PROMPTS,
    chatCreatedAtMs: facts.cursor_created_at,
    nowMs: batch.nowMs,
    tools,
  })
  const ownRow = isOwner ? nextOwnRow(takesOver ? 'none' : before.own_row, write.ownRow.kind) : before.own_row
  const after = { ...facts, ...deriveState(db, before, facts, { source, own_row: ownRow }, batch.nowMs) }
  const hasNewColumns = saveColumns(db, before, after, held === undefined)
  const messagesChanged = thread.added + thread.changed + thread.gone
  return {
    chatId: write.id,
    added: thread.added,
    changed: thread.changed + (messagesChanged === 0 && hasNewColumns && held !== undefined ? 1 : 0),
    gone: thread.gone,
    messageIds: thread.messageIds,
    isChanged: messagesChanged > 0 || hasNewColumns,
  }
}

type State = Pick<ChatRow, 'source' | 'own_row'>

/** What follows from the chat's messages, and whether any source holds it still. */
function deriveState(db: Mirror, before: ChatRow, facts: FactColumns, state: State, nowMs: number) {
  const derived = deriveChat(db, before.num, state.source, facts)
  const isLive =
    state.own_row === 'live' || derived.liveElsewhere > 0 || (state.own_row === 'none' && derived.liveMessages > 0)
  return {
    ...derived.columns,
    ...state,
    is_live: isLive ? 1 : 0,
    deleted_at: isLive ? null : (before.deleted_at ?? nowMs),
  }
}

/** A list told something new of a chat: what it and the other lists say together is written. @returns whether it differed */
export function refreshChat(db: Mirror, id: ChatId, nowMs: number): boolean {
  const before = prepared<ChatRow>(db, FIND_CHAT).get(id)
  if (before === undefined) return false
  const facts = { ...pickOwn(before), ...mergeHeads(db, id) }
  const { source, own_row } = before
  return saveColumns(db, before, { ...facts, ...deriveState(db, before, facts, { source, own_row }, nowMs) }, false)
}

function noteOwnRow(db: Mirror, chatNum: number, { id, ownRow }: ChatWrite, source: number): void {
  if (ownRow.kind !== 'read') return
  writeOutline(db, chatNum, source, ownRow.outline)
  writeLinks(db, id, ownRow.facts)
  saveHead(db, source, ownHead(id, ownRow.facts))
}

const nothing = (chatId: ChatId): ChatOutcome => ({
  chatId,
  added: 0,
  changed: 0,
  gone: 0,
  messageIds: [],
  isChanged: false,
})

function addChat(db: Mirror, id: ChatId, source: number): ChatRow {
  prepared(db, ADD_CHAT).run(id, source)
  const added = prepared<ChatRow>(db, FIND_CHAT).get(id)
  if (added === undefined) throw new Error('an insert left no row')
  return added
}

function nextOwnRow(before: OwnRowState, seen: ChatWrite['ownRow']['kind']): OwnRowState {
  if (seen === 'read' || seen === 'unreadable') return 'live'
  if (seen === 'gone') return 'gone'
  return before
}

type OwnColumns = Omit<FactColumns, keyof ReturnType<typeof mergeHeads>>

function ownColumns(facts: ChatFacts, octets: number): OwnColumns {
  return {
    format: facts.format,
    summary: facts.summary,
    todos: facts.todos.length === 0 ? null : JSON.stringify(facts.todos),
    cursor_model: facts.model,
    status: facts.status,
    context_used: facts.contextTokens?.used ?? null,
    context_limit: facts.contextTokens?.limit ?? null,
    recorded_cost_cents: facts.recordedCostCents,
    octets,
  }
}

const pickOwn = (row: OwnColumns): OwnColumns => ({
  format: row.format,
  summary: row.summary,
  todos: row.todos,
  cursor_model: row.cursor_model,
  status: row.status,
  context_used: row.context_used,
  context_limit: row.context_limit,
  recorded_cost_cents: row.recorded_cost_cents,
  octets: row.octets,
})

const ADD_LINK = `insert into chat_links (parent_id, child_id) values (?, ?) on conflict do nothing`
const MARK_SUBAGENT = `update chats set is_subagent = 1, revision = ? where id = ? and is_subagent = 0`

function writeLinks(db: Mirror, parentId: ChatId, facts: ChatFacts): void {
  for (const childId of facts.childChatIds) {
    prepared(db, ADD_LINK).run(parentId, childId)
    prepared(db, MARK_SUBAGENT).run(nextRevision(db), childId)
  }
}
