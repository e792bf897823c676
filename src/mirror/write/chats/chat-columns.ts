import { indexTermBytes } from '../../../text/terms/terms.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { DerivedChat } from './derive-chat.ts'
import type { MergedMetadata } from './chat-metadata.ts'
import type { Mirror } from '../../open.ts'
import type { OwnRowState } from '../../threads/outlines.ts'
import { prepared } from '../../prepared.ts'
import { nextRevision } from '../revision.ts'
import { writeDictionary } from '../write-dictionary.ts'

/** Columns that come from sources: from the chat's own row, and for the merged ones also from lists of chats. */
export interface FactColumns extends MergedMetadata {
  readonly format: string
  readonly summary: string | null
  readonly todos: string | null
  readonly cursor_model: string | null
  readonly status: string | null
  readonly context_used: number | null
  readonly context_limit: number | null
  readonly recorded_cost_cents: number | null
  readonly octets: number
}

export interface ChatRow extends FactColumns, DerivedChat {
  readonly num: number
  readonly id: ChatId
  readonly source: number
  readonly own_row: OwnRowState
  readonly is_live: number
  readonly deleted_at: number | null
}

export type ChatColumns = Omit<ChatRow, 'num' | 'id'>

const IS_LINKED = `select 1 from chat_links where child_id = ?`

/** Columns of `chats` that a write may change, in binding order. */
const COLUMNS = [
  'source',
  'format',
  'name',
  'summary',
  'todos',
  'cursor_created_at',
  'cursor_updated_at',
  'mode',
  'branch',
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
  'model_source',
  'message_count',
  'user_message_count',
  'tool_call_count',
  'size_bytes',
  'duration_ms',
  'own_row',
  'is_live',
  'deleted_at',
] as const satisfies readonly (keyof ChatRow)[]

const SAVE_CHAT = `update chats set ${COLUMNS.map((column) => `${column} = ?`).join(', ')}, revision = ? where num = ?`

/**
 * @param before null for a chat that was just added
 * @returns whether any column differed
 */
export function saveColumns(
  db: Mirror,
  { num, id }: Pick<ChatRow, 'num' | 'id'>,
  before: ChatRow | null,
  next: ChatColumns,
): boolean {
  const isLinked = prepared(db, IS_LINKED).get(id) !== undefined
  const after = isLinked ? { ...next, is_subagent: 1 } : next
  if (before !== null && COLUMNS.every((column) => before[column] === after[column])) return false
  prepared(db, SAVE_CHAT).run(...COLUMNS.map((column) => after[column]), nextRevision(db), num)
  writeTitleTerms(db, num, before, after)
  return true
}

const DROP_TITLE = `delete from chat_terms where rowid = ?`
const ADD_TITLE = `insert into chat_terms (rowid, title, summary) values (?, ?, ?)`

type TitleColumns = Pick<ChatRow, 'title' | 'summary' | 'todos'>

function writeTitleTerms(db: Mirror, num: number, before: TitleColumns | null, after: TitleColumns): void {
  if (before?.title === after.title && before.summary === after.summary && before.todos === after.todos) return
  const rowid = BigInt(num)
  if (before !== null) prepared(db, DROP_TITLE).run(rowid)
  addTitleTerms(db, num, after)
}

/** @param num number of a chat that has no full-text row yet */
export function addTitleTerms(db: Mirror, num: number, after: TitleColumns): void {
  const more = [after.summary, ...todoTexts(after.todos)].filter((text) => text !== null).join('\n')
  const terms = [indexTermBytes(after.title), indexTermBytes(more)]
  prepared(db, ADD_TITLE).run(BigInt(num), ...terms)
  writeDictionary(db, terms)
}

function todoTexts(todos: string | null): string[] {
  return todos === null ? [] : (JSON.parse(todos) as { content: string }[]).map((todo) => todo.content)
}

const LIST_CHATS = `select num, title, summary, todos from chats where num not in (select id from chat_terms_docsize)`

interface UnindexedChat {
  readonly num: number
  readonly title: string
  readonly summary: string | null
  readonly todos: string | null
}

/** Adds the missing full-text rows of chats. @returns how many were missing */
export function fillTitles(db: Mirror): number {
  const chats = prepared<UnindexedChat>(db, LIST_CHATS).all()
  for (const chat of chats) addTitleTerms(db, chat.num, chat)
  return chats.length
}
