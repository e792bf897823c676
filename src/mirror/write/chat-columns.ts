import { writeDictionary } from '../fulltext/terms.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { OwnRowState } from './own-row.ts'
import { type ModelSource, type TitleSource, UNTITLED_CHAT } from '../../model/chat.ts'
import type { ChatId } from '../../model/ids.ts'
import { indexTermBytes } from '../../text/terms/terms.ts'

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

/** The columns of `chats` that a write may change. */
const emptyColumns = {
  source: 0,
  ...noFacts,
  // What the chat's own row and the lists of chats say together.
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
  // What follows from the chat's messages.
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
  // What its sources have now.
  own_row: 'none' as OwnRowState,
  is_live: 1,
  deleted_at: null as number | null,
}

export type ChatColumns = Readonly<typeof emptyColumns>
export type ChatRow = ChatColumns & { readonly num: number; readonly id: ChatId }

const COLUMNS = Object.keys(emptyColumns) as (keyof ChatColumns)[]

/** Without `returning`: it opens a savepoint, at which FTS5 flushes its buffer, once for every chat. */
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
  writeTitleTerms(db, num, before, after)
  return true
}

const DROP_TITLE = `delete from chat_terms where rowid = ?`
const ADD_TITLE = `insert into chat_terms (rowid, title, summary) values (?, ?, ?)`

type TitleColumns = Pick<ChatRow, 'title' | 'summary' | 'todos'>

function writeTitleTerms(db: Mirror, num: number, before: TitleColumns | null, after: TitleColumns): void {
  if (before?.title === after.title && before.summary === after.summary && before.todos === after.todos) return
  if (before !== null) prepared(db, DROP_TITLE).run(BigInt(num))
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

/** Adds the missing full-text rows of chats. @returns how many were missing */
export function fillTitles(db: Mirror): number {
  const chats = prepared<TitleColumns & { readonly num: number }>(db, LIST_CHATS).all()
  for (const chat of chats) addTitleTerms(db, chat.num, chat)
  return chats.length
}

const NEXT_REVISION = `select coalesce(max(revision), 0) + 1 from chats`

/** The next revision. Every change of a chat, or of data that belongs to it, uses one, so readers can ask for changes. */
export const nextRevision = (db: Mirror): number => prepared<number>(db, NEXT_REVISION).pluck().get() ?? 1

const TOUCH = `update chats set revision = ? where id = ?`

/** Gives a chat a new revision after a change outside its own columns. */
export function touchChat(db: Mirror, id: ChatId): void {
  prepared(db, TOUCH).run(nextRevision(db), id)
}
