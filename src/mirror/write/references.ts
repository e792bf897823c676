import { Bars } from '../purge/bars.ts'
import type { Mirror } from '../open.ts'
import { counting, finding, listing, listingValues, writing } from '../sql.ts'
import type { AnswerWrite, Change, MessageWrite, PendingReference, Written } from '../../model/change.ts'
import { contentColumns, findMessage, readParts, saveMessage, type HeldMessage } from './messages.ts'
import { packMessage, packParts, parseParts, partsOrNull } from './pack-message.ts'
import { touchChat } from './chat-columns.ts'
import type { WriteTools } from './write.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { AttachmentPart, Part, ToolPart } from '../../model/part.ts'

type MessagePlace = [chat: number, source: number, messageId: MessageId]

/** Drops those that a message no longer has. */
const dropOthers = writing<[...MessagePlace, still: string]>(`
delete from pending_references where chat = ? and source = ? and message_id = ?
  and kind || ' ' || name not in (select value from json_each(?))
`)
const addReference = writing<[...MessagePlace, kind: string, name: string, path: string | null]>(`
insert into pending_references (chat, source, message_id, kind, name, path) values (?, ?, ?, ?, ?, ?) on conflict do nothing
`)

/** Saves the pending references of a message that was just read. */
export function notePendingReferences(db: Mirror, place: MessagePlace, references: readonly PendingReference[]): void {
  dropOthers(db, ...place, JSON.stringify(references.map(({ kind, name }) => `${kind} ${name}`)))
  for (const { kind, name, path } of references) addReference(db, ...place, kind, name, path)
}

/** The number of the newest pending reference; 0 if there is none. */
export const newestReference = counting(`select coalesce(max(num), 0) from pending_references`)

export interface ReferringChat {
  readonly num: number
  readonly id: ChatId
  /** Whether this source has, or ever had, a message of the chat. */
  readonly hasMessages: 0 | 1
}

/** Chats with references of this source that are newer than number `after`, newest chat first. */
export const listReferringChats = listing<[{ readonly source: number; readonly after: number }], ReferringChat>(`
select num, id, exists (select 1 from messages where messages.chat = chats.num and source = @source) as hasMessages
from chats
where num in (
  select chat from pending_references where num > @after and source = @source and kind in ('output', 'copy')
)
order by last_activity_at desc, num
`)

/** A pending reference of a message that its source still has. */
export interface OpenReference {
  readonly num: number
  /** The call's id, or a file that a call without an id reads; or the SHA-256 of the content. */
  readonly name: string
}

const LIST_OPEN = `
select pending.num, name, path from pending_references pending join messages
  on messages.chat = pending.chat and messages.id = pending.message_id and messages.source = pending.source
where messages.is_live = 1 and pending.source = ?
`

/** The pending tool outputs of messages of this chat. */
export const listPendingOutputs = listing<[source: number, ChatId], OpenReference>(
  `${LIST_OPEN} and kind = 'output' and pending.chat = (select num from chats where id = ?)`,
)

/** Pending contents with a number greater than `after`. */
export const listPendingContents = listing<[source: number, after: number], OpenReference>(
  `${LIST_OPEN} and kind = 'content' and pending.num > ? order by pending.num`,
)

const addBlobCall = writing<[source: number, callId: string, blob: string]>(
  `insert into blob_calls (source, call_id, blob) values (?, ?, ?) on conflict do nothing`,
)

export function writeBlobCalls(db: Mirror, { source, blobCalls }: Change): void {
  for (const { blob, callId } of blobCalls) addBlobCall(db, source, callId, blob)
}

/** Hashes of the blobs with the output of this call. */
export const listBlobsOfCall = listingValues<[source: number, callId: string], string>(
  `select blob from blob_calls where source = ? and call_id = ?`,
)

/** Content for a message, and the reference to it. */
interface FoundContent extends PendingReference {
  readonly num: number
  readonly chat: number
  readonly chatId: ChatId
  readonly source: number
  readonly messageId: MessageId
  readonly answer: AnswerWrite
}

const findReference = finding<[num: number], Omit<FoundContent, 'answer'>>(`
select pending.num, chat, chats.id as chatId, pending.source, message_id as messageId, kind, pending.name, path
from pending_references pending join chats on chats.num = chat where pending.num = ?
`)
const settle = writing<[num: number]>(`delete from pending_references where num = ?`)

/**
 * Adds found content to the messages that refer to it, and deletes these pending references.
 * @returns the messages. Their chats have to be placed again
 */
export function completeMessages(db: Mirror, { answers }: Change, tools: WriteTools): Written['messages'] {
  const byMessage = new Map<string, FoundContent[]>()
  for (const answer of answers) {
    const reference = findReference(db, answer.ask)
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
    for (const { num } of found) settle(db, num)
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
