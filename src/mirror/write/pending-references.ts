import type { ChatId, MessageId } from '../../model/ids.ts'
import type { PendingReference, MessageWrite, Batch } from './batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

export interface ReferencePlace {
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

/** Saves the pending references of a message that was just read, and deletes those that it no longer has. */
export function notePendingReferences(db: Mirror, place: ReferencePlace, { asks }: MessageWrite, isNew: boolean): void {
  const { chat, source, messageId } = place
  if (!isNew) {
    const held = prepared<Pick<PendingReference, 'kind' | 'name'>>(db, LIST_HELD).all(chat, source, messageId)
    const isStill = (one: Pick<PendingReference, 'kind' | 'name'>): boolean =>
      asks.some(({ kind, name }) => kind === one.kind && name === one.name)
    for (const reference of held)
      if (!isStill(reference)) prepared(db, DROP).run(chat, source, messageId, reference.kind, reference.name)
  }
  for (const { kind, name, path } of asks) prepared(db, ADD).run(chat, source, messageId, kind, name, path)
}

/** The message id under which references of the chat itself are stored. */
const WHOLE_CHAT = ''
const COPY = 'copy'

/**
 * Saves whether a chat's own row, which was just read or is gone, refers to a copy of the thread. The reference gets a new
 * number each time, because the copy may have changed with the row.
 */
export function noteCopy(db: Mirror, { chat, source }: Omit<ReferencePlace, 'messageId'>, namesCopy: boolean): void {
  prepared(db, DROP).run(chat, source, WHOLE_CHAT, COPY, '')
  if (namesCopy) prepared(db, ADD).run(chat, source, WHOLE_CHAT, COPY, '', null)
}

const NEWEST = `select coalesce(max(num), 0) as num from asks`

/** The number of the newest pending reference; 0 if there is none. */
export const newestReference = (db: Mirror): number => prepared<{ num: number }>(db, NEWEST).get()?.num ?? 0

const LIST_CHATS = `
select chats.num as num, chats.id as id,
  exists (select 1 from messages where messages.chat = chats.num and messages.source = ?) as hasMessages
from chats
where num in (select chat from asks where num > ? and source = ? and kind in ('output', '${COPY}'))
order by last_activity_at desc, num
`

export interface ReferringChat {
  readonly num: number
  readonly id: ChatId
  /** Whether this source has, or ever had, a message of the chat. */
  readonly hasMessages: boolean
}

/** Chats with references of this source that are newer than number `after`, newest chat first. */
export function listReferringChats(db: Mirror, source: number, after: number): ReferringChat[] {
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

/** A pending reference of a message that its source still has. */
export interface OpenReference {
  readonly num: number
  /** The call's id, or the SHA-256 of the content. */
  readonly name: string
}

/** The pending tool outputs of messages of this chat. */
export const listPendingOutputs = (db: Mirror, source: number, chatId: ChatId): OpenReference[] =>
  prepared<OpenReference>(db, LIST_OUTPUTS).all(source, 'output', chatId)

/** Pending contents with a number greater than `after`. */
export const listPendingContents = (db: Mirror, source: number, after: number): OpenReference[] =>
  prepared<OpenReference>(db, LIST_CONTENTS).all(source, 'content', after)

const ADD_BLOB_CALL = `insert into blob_calls (source, call_id, blob) values (?, ?, ?) on conflict do nothing`
const LIST_BLOBS = `select blob from blob_calls where source = ? and call_id = ?`

export function writeBlobCalls(db: Mirror, batch: Batch): void {
  for (const { blob, callId } of batch.blobCalls) prepared(db, ADD_BLOB_CALL).run(batch.source, callId, blob)
}

/** Hashes of the blobs with the output of this call. */
export const listBlobsOfCall = (db: Mirror, source: number, callId: string): string[] =>
  prepared<{ blob: string }>(db, LIST_BLOBS)
    .all(source, callId)
    .map(({ blob }) => blob)
