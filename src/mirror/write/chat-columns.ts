import { writeDictionary } from '../fulltext/terms.ts'
import type { Mirror } from '../open.ts'
import { ARCHIVE } from '../sources/sources.ts'
import { prepared } from '../sql.ts'
import type { ChatId } from '../../model/ids.ts'
import { indexTermBytes } from '../../text/terms/terms.ts'

const DROP_TITLE = `delete from chat_terms where rowid = ?`
const ADD_TITLE = `insert into chat_terms (rowid, title, summary) values (?, ?, ?)`

interface TitleColumns {
  readonly title: string
  readonly summary: string | null
  readonly todos: string | null
}

/** @param before null for a chat that was just added */
export function writeTitleTerms(db: Mirror, num: number, before: TitleColumns | null, after: TitleColumns): void {
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

/** What the mirror has of a chat. A restore adds the rest. */
export interface HeldChat {
  /** Whether a store of Cursor has, or once had, the chat's own row. */
  readonly isTold: boolean
  /** Whether an archive has it. */
  readonly isRemembered: boolean
  readonly hasProject: boolean
  /** Epoch milliseconds, from its rows and lists. */
  readonly updatedAtMs: number | null
  /** Ids of its messages from all sources, live or not, and of messages that only an older decoder yielded. */
  readonly messageIds: ReadonlySet<string>
}

const FIND = `
select project is not null as hasProject, cursor_updated_at as updatedAtMs from chats where id = ? and machine is null
`
const LIST_TELLING = `
select distinct kind = '${ARCHIVE}' from outlines join sources on sources.num = outlines.source
where outlines.chat = (select num from chats where id = ?)
`
const LIST_IDS = `
select id from messages where chat = (select num from chats where chats.id = @id)
union select id from superseded_messages where chat_id = @id
`

/** Null if the mirror has nothing of the chat. A pulled copy is nothing: it goes when a source of this machine has the chat. */
export function findHeldChat(db: Mirror, id: ChatId): HeldChat | null {
  const found = prepared<{ hasProject: number; updatedAtMs: number | null }>(db, FIND).get(id)
  if (found === undefined) return null
  const telling = prepared<number>(db, LIST_TELLING).pluck().all(id)
  return {
    isTold: telling.includes(0),
    isRemembered: telling.includes(1),
    hasProject: found.hasProject === 1,
    updatedAtMs: found.updatedAtMs,
    messageIds: new Set(prepared<string>(db, LIST_IDS).pluck().all({ id })),
  }
}

const MACHINE_OF = `select machine from chats where id = ?`
/** Null for a chat of this machine, undefined if there is none. */
const machineOf = (db: Mirror, id: ChatId): number | null | undefined =>
  prepared<number | null>(db, MACHINE_OF).pluck().get(id)

export const isMirrored = (db: Mirror, id: ChatId): boolean => machineOf(db, id) !== undefined

/** Whether a source of this machine has the chat, or once had it. */
export const isOwn = (db: Mirror, id: ChatId): boolean => machineOf(db, id) === null

export const isPulled = (db: Mirror, id: ChatId): boolean => typeof machineOf(db, id) === 'number'
