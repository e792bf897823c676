import { noteChanges, titleKey } from '../index/changes.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { OwnRowState } from './own-row.ts'
import { type ModelSource, type TitleSource, UNTITLED_CHAT } from '../../model/chat.ts'
import type { ChatId } from '../../model/ids.ts'

/** The columns of a chat's own row, of a chat of which only messages are known. */
export const noFacts = {
  format: 'split' as string,
  summary: null as string | null,
  todos: null as string | null,
  cursor_model: null as string | null,
  status: null as string | null,
  context_used: null as number | null,
  context_limit: null as number | null,
  recorded_cost_cents: null as number | null,
  octets: 0,
}

/** The columns that the chat's own row and the lists of chats say together. */
const noMetadata = {
  name: null as string | null,
  cursor_created_at: null as number | null,
  cursor_updated_at: null as number | null,
  mode: null as string | null,
  branch: null as string | null,
  is_archived: 0,
  is_draft: 0,
  is_subagent: 0,
  parent_chat_id: null as ChatId | null,
  lines_added: null as number | null,
  lines_removed: null as number | null,
  files_changed: null as number | null,
}

/** The columns that follow from the chat's messages. */
const nothingDerived = {
  title: UNTITLED_CHAT as string,
  title_source: 'none' as TitleSource,
  created_at: null as number | null,
  last_activity_at: null as number | null,
  model: null as string | null,
  models: '[]',
  model_source: null as ModelSource | null,
  message_count: 0,
  user_message_count: 0,
  tool_call_count: 0,
  size_bytes: 0,
  duration_ms: null as number | null,
}

export type OwnColumns = Readonly<typeof noFacts>
export type MergedMetadata = Readonly<typeof noMetadata>
export type DerivedChat = Readonly<typeof nothingDerived>

/** The columns of `chats` that a write may change. */
const emptyColumns = {
  source: 0,
  ...noFacts,
  ...noMetadata,
  ...nothingDerived,
  own_row: 'none' as OwnRowState,
  is_live: 1,
  deleted_at: null as number | null,
}

export type ChatColumns = Readonly<typeof emptyColumns>
export type ChatRow = ChatColumns & { readonly num: number; readonly id: ChatId }

const COLUMNS = Object.keys(emptyColumns) as (keyof ChatColumns)[]
const OWN_COLUMNS = Object.keys(noFacts) as (keyof OwnColumns)[]

export const pickOwn = (row: OwnColumns): OwnColumns =>
  Object.fromEntries(OWN_COLUMNS.map((column) => [column, row[column]])) as unknown as OwnColumns

const ADD_CHAT = `
insert into chats (id, source, format, title, title_source, revision) values (?, ?, 'split', '', 'none', 0)
`

export function addChat(db: Mirror, id: ChatId, source: number): ChatRow {
  const { lastInsertRowid } = prepared(db, ADD_CHAT).run(id, source)
  return { ...emptyColumns, num: Number(lastInsertRowid), id, source }
}

const IS_LINKED = `select 1 from chat_links where child_id = ?`
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
  noteTitle(db, num, before, after)
  return true
}

type TitleColumns = Pick<ChatRow, 'title' | 'summary' | 'todos'>

function noteTitle(db: Mirror, num: number, before: TitleColumns | null, after: TitleColumns): void {
  if (before?.title === after.title && before.summary === after.summary && before.todos === after.todos) return
  noteChanges(db, [titleKey(num)], true)
}

const NEXT_REVISION = `select coalesce(max(revision), 0) + 1 as revision from chats`

/** The next revision. Every change of a chat, or of data that belongs to it, uses one, so readers can ask for changes. */
export function nextRevision(db: Mirror): number {
  return prepared<{ revision: number }>(db, NEXT_REVISION).get()?.revision ?? 1
}

const TOUCH = `update chats set revision = ? where id = ?`

/** Gives a chat a new revision after a change outside its own columns. */
export function touchChat(db: Mirror, id: ChatId): void {
  prepared(db, TOUCH).run(nextRevision(db), id)
}
