import { indexTerms } from '../text/terms.ts'
import type { ChatId, MessageId } from '../model/ids.ts'
import type { Outline } from '../model/thread.ts'
import type { Batch, ChatFacts, ChatWrite } from './batch.ts'
import { deriveChat, type DerivedChat } from './derive-chat.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
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

/** The columns that a chat's own row fills. */
interface FactColumns {
  readonly format: string
  readonly name: string | null
  readonly summary: string | null
  readonly todos: string | null
  readonly cursor_created_at: number | null
  readonly cursor_updated_at: number | null
  readonly mode: string | null
  readonly cursor_model: string | null
  readonly status: string | null
  readonly is_archived: number
  readonly is_draft: number
  readonly is_subagent: number
  readonly parent_chat_id: string | null
  readonly lines_added: number | null
  readonly lines_removed: number | null
  readonly files_changed: number | null
  readonly context_used: number | null
  readonly context_limit: number | null
  readonly recorded_cost_cents: number | null
  readonly octets: number
}

type OwnRowState = 'none' | 'live' | 'gone'

interface ChatRow extends FactColumns, DerivedChat {
  readonly num: number
  readonly id: ChatId
  readonly own_row: OwnRowState
  readonly is_live: number
  readonly deleted_at: number | null
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
  const { ownRow } = write
  const facts = ownRow.kind === 'read' ? factColumns(ownRow.facts, ownRow.octets) : pickFacts(before)
  if (ownRow.kind === 'read') {
    writeOutline(db, before.num, ownRow.outline)
    writeLinks(db, write.id, ownRow.facts)
  }
  const thread = writeThread(db, {
    chatNum: before.num,
    write,
    outline: readOutline(db, before.num),
    chatCreatedAtMs: facts.cursor_created_at,
    nowMs: batch.nowMs,
    tools,
  })
  const ownRowState = nextOwnRow(before.own_row, ownRow.kind)
  const derived = deriveChat(db, before.num, facts)
  const isLive = ownRowState === 'live' || (ownRowState === 'none' && derived.liveMessages > 0)
  const after: Omit<ChatRow, 'num' | 'id'> = {
    ...facts,
    ...derived.columns,
    own_row: ownRowState,
    is_live: isLive ? 1 : 0,
    deleted_at: isLive ? null : (before.deleted_at ?? batch.nowMs),
  }
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

function factColumns(facts: ChatFacts, octets: number): FactColumns {
  return {
    format: facts.format,
    name: facts.name,
    summary: facts.summary,
    todos: facts.todos.length === 0 ? null : JSON.stringify(facts.todos),
    cursor_created_at: facts.createdAtMs,
    cursor_updated_at: facts.updatedAtMs,
    mode: facts.mode,
    cursor_model: facts.model,
    status: facts.status,
    is_archived: facts.isArchived ? 1 : 0,
    is_draft: facts.isDraft ? 1 : 0,
    is_subagent: facts.isSubagent ? 1 : 0,
    parent_chat_id: facts.parentChatId,
    lines_added: facts.linesAdded,
    lines_removed: facts.linesRemoved,
    files_changed: facts.filesChanged,
    context_used: facts.contextTokens?.used ?? null,
    context_limit: facts.contextTokens?.limit ?? null,
    recorded_cost_cents: facts.recordedCostCents,
    octets,
  }
}

function pickFacts(row: ChatRow): FactColumns {
  const { num: _num, id: _id, own_row: _ownRow, is_live: _isLive, deleted_at: _deletedAt, ...facts } = row
  return facts
}

const READ_OUTLINE = `select entries from outlines where chat = ?`
const WRITE_OUTLINE = `
insert into outlines (chat, entries) values (?, ?)
on conflict (chat) do update set entries = excluded.entries where entries <> excluded.entries
`

function writeOutline(db: Mirror, chatNum: number, outline: Outline): void {
  prepared(db, WRITE_OUTLINE).run(chatNum, JSON.stringify(outline))
}

function readOutline(db: Mirror, chatNum: number): Outline {
  const row = prepared<{ entries: string }>(db, READ_OUTLINE).get(chatNum)
  return row === undefined ? null : (JSON.parse(row.entries) as Outline)
}

const ADD_LINK = `insert into chat_links (parent_id, child_id) values (?, ?) on conflict do nothing`
const MARK_SUBAGENT = `update chats set is_subagent = 1, revision = ? where id = ? and is_subagent = 0`
const IS_LINKED = `select 1 from chat_links where child_id = ?`

function writeLinks(db: Mirror, parentId: ChatId, facts: ChatFacts): void {
  for (const childId of facts.childChatIds) {
    prepared(db, ADD_LINK).run(parentId, childId)
    prepared(db, MARK_SUBAGENT).run(nextRevision(db), childId)
  }
}

/** Columns of `chats` that a write may change, in the order in which they are bound. */
const COLUMNS = [
  'format',
  'name',
  'summary',
  'todos',
  'cursor_created_at',
  'cursor_updated_at',
  'mode',
  'cursor_model',
  'status',
  'is_archived',
  'is_draft',
  'is_subagent',
  'parent_chat_id',
  'lines_added',
  'lines_removed',
  'files_changed',
  'context_used',
  'context_limit',
  'recorded_cost_cents',
  'octets',
  'title',
  'title_source',
  'created_at',
  'last_activity_at',
  'model',
  'models',
  'message_count',
  'user_message_count',
  'tool_call_count',
  'size_bytes',
  'own_row',
  'is_live',
  'deleted_at',
] as const satisfies readonly (keyof ChatRow)[]

const SAVE_CHAT = `update chats set ${COLUMNS.map((column) => `${column} = ?`).join(', ')}, revision = ? where num = ?`

/** @returns whether any column differed */
function saveColumns(db: Mirror, before: ChatRow, next: Omit<ChatRow, 'num' | 'id'>, isNew: boolean): boolean {
  const isLinked = prepared(db, IS_LINKED).get(before.id) !== undefined
  const after = isLinked ? { ...next, is_subagent: 1 } : next
  if (!isNew && COLUMNS.every((column) => before[column] === after[column])) return false
  prepared(db, SAVE_CHAT).run(...COLUMNS.map((column) => after[column]), nextRevision(db), before.num)
  writeTitleTerms(db, before.num, isNew ? null : before, after)
  return true
}

const DROP_TITLE = `delete from chat_terms where rowid = ?`
const ADD_TITLE = `insert into chat_terms (rowid, title, summary) values (?, ?, ?)`

type TitleColumns = Pick<ChatRow, 'title' | 'summary' | 'todos'>

function writeTitleTerms(db: Mirror, num: number, before: TitleColumns | null, after: TitleColumns): void {
  if (before?.title === after.title && before.summary === after.summary && before.todos === after.todos) return
  const rowid = BigInt(num)
  if (before !== null) prepared(db, DROP_TITLE).run(rowid)
  const more = [after.summary, ...todoTexts(after.todos)].filter((text) => text !== null).join('\n')
  prepared(db, ADD_TITLE).run(rowid, indexTerms(after.title), indexTerms(more))
}

function todoTexts(todos: string | null): string[] {
  return todos === null ? [] : (JSON.parse(todos) as { content: string }[]).map((todo) => todo.content)
}
