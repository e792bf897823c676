import { findHeldRow } from '../../../mirror/sources/source-state.ts'
import { readOwnRow, readOutline } from '../../../mirror/threads/outlines.ts'
import type { AnswerWrite, BlobCall, ChatFacts, RowIssue } from '../../../mirror/write/batch.ts'
import { packMessage } from '../../../mirror/write/messages/pack-message.ts'
import {
  listReferringChats,
  listPendingOutputs,
  type ReferringChat,
  type OpenReference,
  listBlobsOfCall,
} from '../../../mirror/write/pending-references.ts'
import { asMessageId, type ChatId, type MessageId } from '../../../model/ids.ts'
import type { OutlineEntry } from '../../../model/thread.ts'
import { goneChat, withoutOldReading } from '../../open-safely/whole-store.ts'
import type { Source } from '../../source.ts'
import { decodeChatRow, madeId } from '../records/chat.ts'
import {
  decodeStateText,
  readStateText,
  decodeConversationState,
  decodeArchive,
  decodeTurn,
  type ConversationState,
} from '../records/conversation-state.ts'
import { filledString, parseRow } from '../records/json.ts'
import {
  listToolResults,
  parseModelMessages,
  type ToolResult,
  decodeModelThread,
  unreadMessage,
} from '../records/model-messages.ts'
import { walkState } from '../records/walk-state.ts'
import { blobSource, endStep, type BlobPass, READ, rowOf } from './blob-pass.ts'
import { blobKey, BLOB_PREFIX, decodeBlob, VALUE_OCTETS_MAX, readNamed, type NamedValue } from './read.ts'

/** The model's copy of a thread has no ids and no times: every other source of the chat is more complete. */
const RANK = 4
const DECODER = 2

/**
 * What was sent to the model, for chats whose messages leave something out: the outputs of calls, and the whole thread
 * of a chat that has no messages any more. A blob does not name its chat, so only blobs named by the state of an asking
 * chat are read.
 * @param userDir Cursor's `User` folder
 */
export const agentBlobsSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'agent-blobs', decoder: DECODER, rank: RANK, look: lookIntoChats })

async function lookIntoChats(pass: BlobPass): Promise<void> {
  for (const chat of listReferringChats(pass.mirror, pass.asker, pass.after)) await lookIntoChat(pass, chat)
}

async function lookIntoChat(pass: BlobPass, chat: ReferringChat): Promise<void> {
  const { id, hasMessages } = chat
  if (readOwnRow(pass.mirror, id, pass.asker) === 'gone') {
    // The copy belongs to the chat only as long as the chat exists. Its blobs stay until Cursor collects them, but
    // nobody can see them.
    const isCopied = readOwnRow(pass.mirror, id, pass.num) === 'live'
    if (isCopied) await endStep(pass, { bytesRead: 0, elapsedMs: 0 }, { chats: [goneChat(id)] })
    return
  }
  const asks = hasMessages ? listPendingOutputs(pass.mirror, pass.asker, id) : []
  if (hasMessages && asks.length === 0) return
  const state = await readState(pass, id)
  if (state === null) return
  if (!hasMessages) return recoverThread(pass, chat, state)
  const decoded = decodeConversationState(state.root)
  if (decoded !== null) await joinOutputs(pass, decoded, asks)
}

/**
 * Finds the outputs that messages of a chat leave out, in the blobs named by the chat's state. Each blob is read once
 * to learn which outputs it contains, and again only if one of those is requested later. What the state's own list does
 * not have is looked for in what its summaries replaced, and in its turns.
 */
export async function joinOutputs(
  pass: BlobPass,
  state: ConversationState,
  asks: readonly OpenReference[],
): Promise<void> {
  const open = new Map<string, number[]>()
  for (const { name, num } of asks) open.set(name, [...(open.get(name) ?? []), num])
  await joinFrom(pass, new Set(state.entries.flatMap((entry) => (entry.kind === 'blob' ? [entry.id] : []))), open)
  if (open.size > 0) await joinFrom(pass, await namedBelow(pass, state.archives, decodeArchive), open)
  if (open.size > 0) await joinFrom(pass, await namedBelow(pass, state.turns, decodeTurnSteps), open)
}

const decodeTurnSteps = (bytes: Buffer): Named => ({ messages: decodeTurn(bytes)?.steps ?? [] })

interface Named {
  readonly messages: readonly string[]
}

/** The ids that these blobs name. */
async function namedBelow(
  pass: BlobPass,
  ids: readonly string[],
  decode: (bytes: Buffer) => Named | null,
): Promise<ReadonlySet<string>> {
  const found = await readWhole(pass, ids.map(blobKey))
  return new Set([...found.values()].flatMap((bytes) => decode(decodeBlob(bytes))?.messages ?? []))
}

/** @param open numbers of requests by the call's id; answered ones are removed */
async function joinFrom(
  pass: BlobPass,
  named: ReadonlySet<string>,
  open: Map<string, readonly number[]>,
): Promise<void> {
  for (const page of readNamed(pass.file, blobsToRead(pass, named, [...open.keys()]).map(blobKey), VALUE_OCTETS_MAX)) {
    const answers: AnswerWrite[] = []
    const blobCalls: BlobCall[] = []
    for (const row of page.values) {
      for (const { callId, output } of resultsIn(row)) {
        blobCalls.push({ blob: row.key.slice(BLOB_PREFIX.length), callId })
        for (const ask of open.get(callId) ?? []) answers.push({ ask, value: output, cappedFrom: null })
        open.delete(callId)
      }
    }
    await endStep(pass, page, { answers, blobCalls, rows: page.values.map(rowOf) })
  }
}

/** Blobs that this decoder never read, and those known to contain a requested output. */
function blobsToRead({ mirror, num }: BlobPass, named: ReadonlySet<string>, callIds: readonly string[]): string[] {
  const fresh = [...named].filter((blob) => findHeldRow(mirror, num, blobKey(blob))?.rowid !== READ)
  const known = callIds.flatMap((callId) => listBlobsOfCall(mirror, num, callId)).filter((blob) => named.has(blob))
  return [...new Set([...fresh, ...known])]
}

function resultsIn({ value, octets }: NamedValue): readonly ToolResult[] {
  if (value === null || value.length < octets) return []
  const parsed = parseModelMessages(decodeBlob(value))
  // A node of the tree, or a newer format; `doctor` reports which.
  return parsed.kind === 'issue' ? [] : parsed.messages.flatMap((message) => listToolResults(message))
}

/**
 * Recovers the thread of a chat whose messages are gone, as the model saw it. Its messages have made-up ids and no
 * times. If the chat's own messages come back, these are copies of them.
 */
export async function recoverThread(pass: BlobPass, chat: ReferringChat, { root, facts }: ChatState): Promise<void> {
  if (facts === null) return
  const reading = { bytesRead: 0, elapsedMs: 0, octets: new Map<string, number>() }
  const walked = walkState(root, (ids) => readBlobs(pass, ids, reading))
  const name: NameMessage = (key, occurrence) => nameMessage(chat.id, key, occurrence)
  const thread = decodeModelThread(walked.entries, name)
  const messages = thread.messages.map((message) => packMessage({ ...message, isEmbedded: true }))
  const issues = [...walked.issues, ...thread.issues].map(({ key, reason }): RowIssue => ({
    key: blobKey(key),
    reason,
    octets: reading.octets.get(key) ?? null,
  }))
  const rows = [...reading.octets].map(([id, octets]) => rowOf({ key: blobKey(id), octets }))
  const read = walked.entries.flatMap(({ key, message }) => (message === unreadMessage ? [] : key))
  const before = readBefore(pass, chat, [...reading.octets.keys(), ...read], name)
  const write = messages.length === 0 ? goneChat(chat.id) : chatWrite(chat.id, facts, thread.outline, messages)
  const isWritten = messages.length > 0 || before !== undefined
  const chats = isWritten ? [withoutOldReading(write, before)] : []
  await endStep(pass, reading, { chats, issues, rows })
}

type NameMessage = (key: string, occurrence: number) => MessageId

/**
 * What an older decoder read of the chat; undefined if none did. The store counts as untouched if everything that had a
 * message then was read now: if part of it yields no message any more, it never was one.
 */
function readBefore(
  pass: BlobPass,
  { num }: ReferringChat,
  keys: readonly string[],
  name: NameMessage,
): { readonly isUntouched: boolean } | undefined {
  const former = pass.isOutdated ? (readOutline(pass.mirror, num, pass.num) ?? null) : null
  if (former === null) return undefined
  const places = new Map(keys.map((key) => [name(key, 0), { key, occurrence: 0 }]))
  const isRead = ({ id, role }: OutlineEntry): boolean => {
    const place = id === null ? undefined : places.get(id)
    if (place === undefined) return role === null
    const occurrence = place.occurrence + 1
    places.set(name(place.key, occurrence), { key: place.key, occurrence })
    return true
  }
  return { isUntouched: former.every(isRead) }
}

function chatWrite(
  id: ChatId,
  facts: ChatFacts,
  outline: ReturnType<typeof decodeModelThread>['outline'],
  messages: readonly ReturnType<typeof packMessage>[],
) {
  const embeddedIds = new Set(messages.map((message) => message.id))
  return { id, ownRow: { kind: 'read' as const, facts, outline, embeddedIds, octets: 0 }, messages, vanished: [] }
}

interface Reading {
  bytesRead: number
  /** Of the longest transaction. */
  elapsedMs: number
  /** Size of each blob that was read. */
  readonly octets: Map<string, number>
}

function readBlobs(pass: BlobPass, ids: readonly string[], reading: Reading): Map<string, Buffer | null> {
  const keys = new Map(ids.map((id) => [blobKey(id), id]))
  const found = new Map<string, Buffer | null>(ids.map((id) => [id, null]))
  for (const { values, bytesRead, elapsedMs } of readNamed(pass.file, [...keys.keys()], VALUE_OCTETS_MAX)) {
    reading.bytesRead += bytesRead
    reading.elapsedMs = Math.max(reading.elapsedMs, elapsedMs)
    for (const { key, value, octets } of values) {
      const id = keys.get(key)
      if (id === undefined || value === null || value.length < octets) continue
      found.set(id, decodeBlob(value))
      reading.octets.set(id, octets)
    }
  }
  return found
}

/** The same text can be sent twice: then the same blob is at two places of the thread. */
const nameMessage = (chatId: ChatId, key: string, occurrence: number): MessageId =>
  madeId(['agent-blobs', chatId, key, occurrence])

/** The values that exist and were read completely, by key. */
async function readWhole(pass: BlobPass, keys: readonly string[]): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const page of readNamed(pass.file, keys, VALUE_OCTETS_MAX)) {
    for (const { key, value, octets } of page.values) if (value?.length === octets) found.set(key, value)
    await endStep(pass, page)
  }
  return found
}

interface ChatState {
  /** The bytes of the state: a tree of what the model saw, in which blobs are named by hash. */
  readonly root: Buffer
  /** The chat's facts from its own row; null if the row is gone. */
  readonly facts: ChatFacts | null
}

/** The state of a chat, from its own row or otherwise from its checkpoint; null if there is none. */
async function readState(pass: BlobPass, chatId: ChatId): Promise<ChatState | null> {
  const [rowKey, pointerKey] = [chatRowKey(chatId), checkpointKey(chatId)]
  const found = await readWhole(pass, [rowKey, pointerKey])
  const row = found.get(rowKey)
  const own = row === undefined ? null : stateIn(row)
  const facts = row === undefined ? null : factsIn(row, chatId)
  if (own !== null) return { root: own, facts }
  const pointer = found.get(pointerKey)
  const hash = pointer === undefined ? null : decodeCheckpoint(pointer)
  if (hash === null) return null
  const root = (await readWhole(pass, [blobKey(hash)])).get(blobKey(hash))
  return root === undefined ? null : { root: decodeBlob(root), facts }
}

function stateIn(row: Buffer): Buffer | null {
  const parsed = parseRow(row)
  const text = parsed.kind === 'record' ? readStateText(parsed.record) : null
  return text === null ? null : decodeStateText(text)
}

/** Messages in the row itself are read by other sources and ask for nothing here. */
function factsIn(row: Buffer, chatId: ChatId): ChatFacts | null {
  const decoded = decodeChatRow(row, chatId, (ordinal) => asMessageId(String(ordinal)))
  return decoded.kind === 'chat' ? decoded.facts : null
}

const chatRowKey = (chatId: string): string => `composerData:${chatId}`

/** Its value is the hash of the state's blob. Cursor writes it if the chat's row has no state of its own. */
const checkpointKey = (chatId: string): string => `agentKv:checkpoint:${chatId}`

/** The hash in a checkpoint; null if there is none. */
function decodeCheckpoint(value: Buffer): string | null {
  const text = filledString(value.toString('utf8'))?.trim() ?? ''
  if (value.length === 32) return value.toString('hex')
  return /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null
}
