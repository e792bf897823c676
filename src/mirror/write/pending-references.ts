import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Ask, MessageWrite, Batch } from './batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

export interface AskPlace {
  /** The chat's number. */
  readonly chat: number
  readonly source: number
  readonly messageId: MessageId
}

const LIST_HELD = `select kind, name from asks where chat = ? and source = ? and message_id = ?`
const DROP = `delete from asks where chat = ? and source = ? and message_id = ? and kind = ? and name = ?`
const ADD = `
insert into asks (chat, source, message_id, kind, name, path) values (?, ?, ?, ?, ?, ?) on conflict do nothing
`

/** Notes what a message that was just read leaves out; what it does not ask for any more is forgotten. */
export function notePendingReferences(db: Mirror, place: AskPlace, { asks }: MessageWrite, isNew: boolean): void {
  const { chat, source, messageId } = place
  if (!isNew) {
    const held = prepared<Pick<Ask, 'kind' | 'name'>>(db, LIST_HELD).all(chat, source, messageId)
    const isStill = (one: Pick<Ask, 'kind' | 'name'>): boolean =>
      asks.some(({ kind, name }) => kind === one.kind && name === one.name)
    for (const ask of held) if (!isStill(ask)) prepared(db, DROP).run(chat, source, messageId, ask.kind, ask.name)
  }
  for (const { kind, name, path } of asks) prepared(db, ADD).run(chat, source, messageId, kind, name, path)
}

/** Stands for the chat itself among its messages. */
const WHOLE_CHAT = ''
const COPY = 'copy'

/** A chat's own row that was just read, or is gone: the ask gets a new number, for the copy may have grown or ended with it. */
export function noteCopy(db: Mirror, { chat, source }: Omit<AskPlace, 'messageId'>, namesCopy: boolean): void {
  prepared(db, DROP).run(chat, source, WHOLE_CHAT, COPY, '')
  if (namesCopy) prepared(db, ADD).run(chat, source, WHOLE_CHAT, COPY, '', null)
}

const NEWEST = `select coalesce(max(num), 0) as num from asks`

/** The number of the newest open ask, 0 where there is none. */
export const newestAsk = (db: Mirror): number => prepared<{ num: number }>(db, NEWEST).get()?.num ?? 0

const LIST_CHATS = `
select chats.num as num, chats.id as id,
  exists (select 1 from messages where messages.chat = chats.num and messages.source = ?) as hasMessages
from chats
where num in (select chat from asks where num > ? and source = ? and kind in ('output', '${COPY}'))
order by last_activity_at desc, num
`

export interface AskingChat {
  readonly num: number
  readonly id: ChatId
  /** Whether this source holds, or ever held, a message of it. */
  readonly hasMessages: boolean
}

/** The chats in which something was asked for since ask number `after`, by what this source read; newest first. */
export function listAskingChats(db: Mirror, source: number, after: number): AskingChat[] {
  const rows = prepared<{ num: number; id: ChatId; hasMessages: number }>(db, LIST_CHATS).all(source, after, source)
  return rows.map(({ num, id, hasMessages }) => ({ num, id, hasMessages: hasMessages === 1 }))
}

const LIST_OPEN = `
select asks.num as num, name, path from asks
join messages on messages.chat = asks.chat and messages.id = asks.message_id and messages.source = asks.source
where asks.source = ? and asks.kind = ? and messages.is_live = 1
`
const LIST_OUTPUTS = `${LIST_OPEN} and asks.chat = (select num from chats where id = ?)`
const LIST_CONTENTS = `${LIST_OPEN} and asks.num > ? order by asks.num`

/** An ask of a message that its source still holds. */
export interface OpenAsk {
  readonly num: number
  /** The call's id, or the content's SHA-256. */
  readonly name: string
}

/** The outputs that messages of this chat leave out. */
export const listOutputAsks = (db: Mirror, source: number, chatId: ChatId): OpenAsk[] =>
  prepared<OpenAsk>(db, LIST_OUTPUTS).all(source, 'output', chatId)

/** The contents that messages name, asked for since ask number `after`. */
export const listContentAsks = (db: Mirror, source: number, after: number): OpenAsk[] =>
  prepared<OpenAsk>(db, LIST_CONTENTS).all(source, 'content', after)

const ADD_BLOB_CALL = `insert into blob_calls (source, call_id, blob) values (?, ?, ?) on conflict do nothing`
const LIST_BLOBS = `select blob from blob_calls where source = ? and call_id = ?`

export function writeBlobCalls(db: Mirror, batch: Batch): void {
  for (const { blob, callId } of batch.blobCalls) prepared(db, ADD_BLOB_CALL).run(batch.source, callId, blob)
}

/** The blobs that hold the output of this call, by their hashes. */
export const listBlobsOfCall = (db: Mirror, source: number, callId: string): string[] =>
  prepared<{ blob: string }>(db, LIST_BLOBS)
    .all(source, callId)
    .map(({ blob }) => blob)
