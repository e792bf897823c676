import type { Mirror } from '../open.ts'
import { isSubstitute, parseParts } from '../parse-parts.ts'
import { Bars } from '../purge/bars.ts'
import { prepared } from '../sql.ts'
import { type LentTokens, ownTokens, readLent } from '../threads/placeholders.ts'
import type { AnswerWrite, Change, ChatChange, MessageWrite, PendingReference } from '../../model/change.ts'
import { type HeldMessage, readParts } from './messages.ts'
import { packMessage } from './pack-message.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Json } from '../../model/json.ts'
import { recordedTokens } from '../../model/message.ts'
import type { Part } from '../../model/part.ts'

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

export function writeBlobCalls(db: Mirror, change: Change): void {
  for (const { blob, callId } of change.blobCalls) prepared(db, ADD_BLOB_CALL).run(change.source, callId, blob)
}

/** Hashes of the blobs with the output of this call. */
export const listBlobsOfCall = (db: Mirror, source: number, callId: string): string[] =>
  prepared<{ blob: string }>(db, LIST_BLOBS)
    .all(source, callId)
    .map(({ blob }) => blob)

interface ReferenceRow extends PendingReference {
  readonly num: number
  readonly chat: number
  readonly chatId: ChatId
  readonly source: number
  readonly messageId: MessageId
}

const FIND_REFERENCE = `
select asks.num, chat, chats.id as chatId, asks.source, message_id as messageId, kind, asks.name, path
from asks join chats on chats.num = chat where asks.num = ?
`
const FIND_MESSAGE = `select * from messages where chat = ? and id = ? and source = ? and is_live = 1`
const LIST_LEFT = `select kind, name, path from asks where chat = ? and source = ? and message_id = ?`
const SETTLE = `delete from asks where num = ?`

/**
 * Adds found content to the messages that refer to it, and deletes these pending references.
 * @returns the chats with these messages, each with its source
 */
export function completeChats(db: Mirror, change: Change): { readonly source: number; readonly write: ChatChange }[] {
  const pending = change.answers.flatMap((answer) => {
    const reference = prepared<ReferenceRow>(db, FIND_REFERENCE).get(answer.ask)
    return reference === undefined ? [] : [{ reference, answer }]
  })
  if (pending.length === 0) return []
  const bars = new Bars(db)
  return groupBy(pending, ({ reference }) => `${reference.chat} ${reference.source}`).map((ofChat) => {
    const [{ reference }] = ofChat
    const lent = readLent(db, reference.chat)
    const found = groupBy(ofChat, (one) => one.reference.messageId).flatMap(
      (answers) => complete(db, answers, lent) ?? [],
    )
    // The found content may be something that was purged elsewhere.
    const messages = found.filter(
      ({ id, partsJson }) => !bars.hasMessage(reference.chatId, id, () => parseParts(partsJson)),
    )
    return {
      source: reference.source,
      write: { id: reference.chatId, ownRow: { kind: 'unread' }, messages, vanished: [] },
    }
  })
}

type Group<Item> = readonly [Item, ...Item[]]

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Group<Item>[] {
  const groups = new Map<string, [Item, ...Item[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return [...groups.values()]
}

interface FoundContent {
  readonly reference: ReferenceRow
  readonly answer: AnswerWrite
}

/** Null if the source has lost the message meanwhile, or its stored text is damaged: reading it again finds them again. */
function complete(db: Mirror, answers: Group<FoundContent>, lent: LentTokens): MessageWrite | null {
  const { chat, source, messageId } = answers[0].reference
  const held = prepared<HeldMessage>(db, FIND_MESSAGE).get(chat, messageId, source)
  if (held === undefined) return null
  const before = parseParts(readParts(db, held.body))
  const parts = answers.reduce((sum, { reference, answer }) => addContent(sum, reference, answer), before)
  for (const { reference } of answers) prepared(db, SETTLE).run(reference.num)
  if (isSubstitute(before)) return null
  const { input_tokens: input, output_tokens: output } = ownTokens(held, lent)
  return packMessage({
    id: held.id,
    alias: held.alias,
    role: held.role,
    sentAtMs: held.sent_at,
    startedAtMs: held.started_at,
    timingAtMs: held.timing_at,
    model: held.model,
    tokens: recordedTokens(input, output),
    requestId: held.request_id,
    parts,
    isSimulated: held.is_simulated === 1,
    octets: held.octets,
    isEmbedded: held.is_embedded === 1,
    asks: prepared<PendingReference>(db, LIST_LEFT).all(chat, source, messageId),
  })
}

function addContent(
  parts: readonly Part[],
  reference: PendingReference,
  { value, cappedFrom }: AnswerWrite,
): readonly Part[] {
  if (reference.kind === 'output') return parts.map((part) => withOutput(part, reference.name, value))
  const text = typeof value === 'string' ? value : null
  const cap = cappedFrom === null ? {} : { cappedFrom }
  return [...parts, { kind: 'attachment', path: reference.path ?? 'content', text, hash: reference.name, ...cap }]
}

const withOutput = (part: Part, callId: string, output: Json): Part =>
  part.kind === 'tool' && part.callId === callId ? { ...part, output, outputFrom: 'blob' } : part
