import { Bars } from '../purge/bars.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { AnswerWrite, Change, MessageWrite, PendingReference, Written } from '../../model/change.ts'
import { contentColumns, findMessage, readParts, saveMessage, type HeldMessage } from './messages.ts'
import { packMessage, packParts, parseParts, partsOrNull } from './pack-message.ts'
import { touchChat } from './chat-columns.ts'
import type { WriteTools } from './write.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { AttachmentPart, Part, ToolPart } from '../../model/part.ts'

/** Drops those that a message no longer has. */
const DROP_OTHERS = `
delete from pending_references where chat = ? and source = ? and message_id = ?
  and kind || ' ' || name not in (select value from json_each(?))
`
const ADD = `
insert into pending_references (chat, source, message_id, kind, name, path) values (?, ?, ?, ?, ?, ?) on conflict do nothing
`

/** Saves the pending references of a message that was just read. */
export function notePendingReferences(
  db: Mirror,
  place: readonly [chat: number, source: number, messageId: MessageId],
  references: readonly PendingReference[],
): void {
  const still = JSON.stringify(references.map(({ kind, name }) => `${kind} ${name}`))
  prepared(db, DROP_OTHERS).run(...place, still)
  for (const { kind, name, path } of references) prepared(db, ADD).run(...place, kind, name, path)
}

const NEWEST = `select coalesce(max(num), 0) from pending_references`

/** The number of the newest pending reference; 0 if there is none. */
export const newestReference = (db: Mirror): number => prepared<number>(db, NEWEST).pluck().get() ?? 0

const LIST_CHATS = `
select chats.num as num, chats.id as id,
  exists (select 1 from messages where messages.chat = chats.num and messages.source = ?) as hasMessages
from chats
where num in (select chat from pending_references where num > ? and source = ? and kind in ('output', 'copy'))
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
select pending_references.num as num, name, path from pending_references
join messages on messages.chat = pending_references.chat and messages.id = pending_references.message_id and messages.source = pending_references.source
where pending_references.source = ? and pending_references.kind = ? and messages.is_live = 1
`
const LIST_OUTPUTS = `${LIST_OPEN} and pending_references.chat = (select num from chats where id = ?)`
const LIST_CONTENTS = `${LIST_OPEN} and pending_references.num > ? order by pending_references.num`

/** A pending reference of a message that its source still has. */
export interface OpenReference {
  readonly num: number
  /** The call's id, or a file that a call without an id reads; or the SHA-256 of the content. */
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
  prepared<string>(db, LIST_BLOBS).pluck().all(source, callId)

/** Content for a message, and the reference to it. */
interface FoundContent extends PendingReference {
  readonly num: number
  readonly chat: number
  readonly chatId: ChatId
  readonly source: number
  readonly messageId: MessageId
  readonly answer: AnswerWrite
}

const FIND_REFERENCE = `
select pending_references.num, chat, chats.id as chatId, pending_references.source, message_id as messageId, kind, pending_references.name, path
from pending_references join chats on chats.num = chat where pending_references.num = ?
`
const SETTLE = `delete from pending_references where num = ?`

/**
 * Adds found content to the messages that refer to it, and deletes these pending references.
 * @returns the messages. Their chats have to be placed again
 */
export function completeMessages(db: Mirror, { answers }: Change, tools: WriteTools): Written['messages'] {
  const byMessage = new Map<string, FoundContent[]>()
  for (const answer of answers) {
    const reference = prepared<Omit<FoundContent, 'answer'>>(db, FIND_REFERENCE).get(answer.ask)
    if (reference === undefined) continue
    const key = `${reference.chat} ${reference.source} ${reference.messageId}`
    byMessage.set(key, [...(byMessage.get(key) ?? []), { ...reference, answer }])
  }
  const bars = new Bars(db)
  return [...byMessage.values()].flatMap((found) => {
    const [{ chat, chatId, source, messageId: id }] = found as [FoundContent]
    const held = findMessage(db, chat, id, source)
    // If the source has lost the message meanwhile, reading it again finds them again.
    if (held?.is_live !== 1) return []
    for (const { num } of found) prepared(db, SETTLE).run(num)
    const before = partsOrNull(readParts(db, held.body))
    const parts = before === null ? [] : found.reduce((sum, one) => addContent(sum, one.name, contentOf(one)), before)
    // The stored text may be damaged, and the found content may be something that was purged elsewhere.
    if (before === null || bars.hasMessage(chatId, id, () => parts)) return []
    const packed = packParts(held.role, parts)
    const columns = { ...held, ...contentColumns(packed, tools) }
    const next = { held, columns, partsJson: packed.partsJson, calls: packed.calls }
    if (!saveMessage(db, chat, next, columns, tools)) return []
    touchChat(db, chatId)
    return { id, chatId }
  })
}

type Content = Pick<Required<ToolPart>, 'output' | 'outputFrom'> | AttachmentPart

function contentOf({ kind, name, path, answer: { value, cappedFrom } }: FoundContent): Content {
  if (kind === 'output') return { output: value, outputFrom: 'blob' }
  const text = typeof value === 'string' ? value : null
  const cap = cappedFrom === null ? {} : { cappedFrom }
  return { kind: 'attachment', path: path ?? 'content', text, hash: name, ...cap }
}

const addContent = (parts: readonly Part[], name: string, content: Content): readonly Part[] =>
  'kind' in content
    ? [...parts, content]
    : parts.map((part) => (part.kind === 'tool' && isOfCall(part, name) ? { ...part, ...content } : part))

/** A call without an id is known by a file that it reads. */
const isOfCall = ({ callId, paths }: ToolPart, name: string): boolean =>
  callId === null ? paths.includes(name) : callId === name

/** Adds formerly found content to a message that was read again: Cursor writes the same row many times. */
export function withFoundContent(db: Mirror, held: HeldMessage, message: MessageWrite): MessageWrite {
  const { references, partsJson } = message
  const before = parseParts(readParts(db, held.body))
  let parts = parseParts(partsJson)
  const open = references.filter((reference) => {
    const content = before.map((part) => contentIn(part, reference)).find((found) => found !== null)
    if (content !== undefined) parts = addContent(parts, reference.name, content)
    return content === undefined
  })
  return open.length === references.length ? message : packMessage({ ...message, parts, references: open })
}

function contentIn(part: Part, { kind, name }: PendingReference): Content | null {
  if (part.kind === 'attachment') return kind === 'content' && part.hash === name ? part : null
  if (part.kind !== 'tool' || kind !== 'output' || !isOfCall(part, name)) return null
  return part.outputFrom === undefined ? null : { output: part.output, outputFrom: part.outputFrom }
}
