import * as held from '../../../mirror/sources/sources.ts'
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { type OpenFile, fileSignature, filesOf, openCursorFile } from '../../open-safely/cursor-file.ts'
import { goneChat, withoutOldReading } from '../../open-safely/whole-store.ts'
import { type PassRequest, type Source, compareLater, sourceId } from '../../source.ts'
import {
  BLOB_PREFIX,
  type NamedPage,
  type NamedValue,
  VALUE_OCTETS_MAX,
  blobKey,
  decodeBlob,
  hasTable,
  readNamed,
} from './read.ts'
import { decodeChatRow, madeId } from '../records/chat.ts'
import {
  type ConversationState,
  decodeArchive,
  decodeConversationState,
  decodeStateText,
  decodeTurn,
  readStateText,
} from '../records/conversation-state.ts'
import { filledString, parseRow } from '../records/json.ts'
import {
  type ToolResult,
  decodeModelThread,
  listToolResults,
  parseModelMessages,
  unreadMessage,
} from '../records/model-messages.ts'
import { CONTENT_PREFIX } from '../records/message.ts'
import { walkState } from '../records/walk-state.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { findHeldRow } from '../../../mirror/sources/sources.ts'
import {
  type AnswerWrite,
  type Change,
  type Written,
  type BlobCall,
  type ChatFacts,
  type RowIssue,
  type RowState,
  emptyChange,
} from '../../../model/change.ts'
import { readOutline, readOwnRow } from '../../../mirror/write/chat-columns.ts'
import { packMessage } from '../../../mirror/write/pack-message.ts'
import {
  type OpenReference,
  type ReferringChat,
  listBlobsOfCall,
  listPendingContents,
  listPendingOutputs,
  listReferringChats,
  newestReference,
} from '../../../mirror/write/references.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import { type ChatId, type MessageId, asMessageId } from '../../../model/ids.ts'
import type { OutlineEntry } from '../../../model/thread.ts'

/** The source whose messages ask for values; the values are in the same file. */
const ASKER = 'composer-kv'

/** One search for the requested values, with the store open. */
export interface BlobPass {
  readonly file: OpenFile
  readonly mirror: Mirror
  /** The number of this source. */
  readonly num: number
  /** The number of the source whose messages ask. */
  readonly asker: number
  readonly request: PassRequest
  /** Requests up to this number were handled before. */
  readonly after: number
  /** True if no pass has ended since another decoder version read the source, or since the mirror was salvaged. */
  readonly isOutdated: boolean
  /** Keys of the rows with an issue in this pass. */
  readonly issueKeys: Set<string>
}

interface BlobSource {
  readonly kind: string
  readonly decoder: number
  readonly rank: number
  readonly look: (pass: BlobPass) => Promise<void>
}

/**
 * A source that reads only values requested by messages. If nothing was requested since its last pass, it opens no
 * file. A comparison of all values looks for everything that is still missing.
 */
export function blobSource(userDir: string, { kind, decoder, rank, look }: BlobSource): Source {
  const folder = join(userDir, 'globalStorage')
  const path = join(folder, 'state.vscdb')
  return {
    id: sourceId(kind, path),
    kind,
    decoder,
    path,
    rank,
    folder,
    files: filesOf(path),
    isAlwaysWarm: true,
    signature: () => fileSignature(path),
    async pass(mirror, num, request) {
      if (fileSignature(path) === null) return { kind: 'closed', state: 'missing', detail: null }
      const asker = held.findSource(mirror, ASKER, path)
      const { watermark } = held.readPosition(mirror, num)
      const newest = newestReference(mirror)
      const after = request.depth === 'values' ? 0 : (watermark ?? 0)
      // Requests made by a source that runs later in the same run are handled by a later pass.
      const done = { isRead: true, again: request.depth === 'tail' ? compareLater : [] }
      if (asker === null || newest <= after) return done
      const file = openCursorFile(path)
      if (file.kind === 'closed') return file
      try {
        if (file.bytesRead > 0) await request.turn({ bytesRead: file.bytesRead })
        const issueKeys = new Set<string>()
        const pass = { file, mirror, num, asker, request, after, isOutdated: watermark === null, issueKeys }
        if (file.read(hasTable)) await look(pass)
        // A search for everything has reported every issue that still exists.
        const droppedKeys = after > 0 ? [] : held.listIssueKeys(mirror, num).filter((key) => !issueKeys.has(key))
        const { identity, signature } = file
        writeFound(pass, { droppedKeys, position: { identity, signature, watermark: newest, watermarkKey: null } })
        // Other sources account for the rest of the store.
        held.saveCounts(mirror, num, { totalRows: held.countHeldRows(mirror, num), nullKeys: 0 }, request.now())
        return done
      } finally {
        file.close()
      }
    },
  }
}

/** Writes the found values in one transaction. */
function writeFound({ mirror, num, request }: BlobPass, found: Partial<Change>): Written {
  return writeChange(mirror, { ...emptyChange, ...found, source: num, nowMs: request.now() })
}

/** Used instead of a rowid: this decoder has read the value. */
export const READ = 0

/** A value named by its hash never changes, so the row only records that it was read. */
export const rowOf = ({ key, octets }: Omit<NamedValue, 'value'>): RowState => ({
  key,
  rowid: READ,
  octets,
  checksum: null,
})

/** Ends a step that read one page, and writes what it found. */
export async function endStep(
  pass: BlobPass,
  page: Omit<NamedPage, 'values'>,
  found: Partial<Change> | null = null,
): Promise<void> {
  const outcome = found === null ? null : writeFound(pass, found)
  for (const { key } of found?.issues ?? []) pass.issueKeys.add(key)
  await pass.request.turn({ bytesRead: page.bytesRead, longestReadMs: page.elapsedMs, outcome })
}

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

/** It contains no chats, so no chat ever comes from it. */
const TEXTS_RANK = 9
/** Of a longer text only the beginning is stored: whole files can be attached, and Cursor's store has each of them. */
export const TEXT_OCTETS_MAX = 256 * 1024

/**
 * Pasted and attached texts, which messages name by their hash.
 * @param userDir Cursor's `User` folder
 */
export const pastedTextSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'pasted-text', decoder: 1, rank: TEXTS_RANK, look: findTexts })

async function findTexts(pass: BlobPass): Promise<void> {
  const asks = listPendingContents(pass.mirror, pass.asker, pass.after)
  const byKey = new Map<string, OpenReference[]>()
  for (const ask of asks) {
    const key = `${CONTENT_PREFIX}${ask.name}`
    byKey.set(key, [...(byKey.get(key) ?? []), ask])
  }
  for (const page of readNamed(pass.file, [...byKey.keys()], TEXT_OCTETS_MAX)) {
    const answers = page.values.flatMap((row) => (byKey.get(row.key) ?? []).flatMap((ask) => answerOf(ask, row)))
    await endStep(pass, page, { answers, rows: page.values.map(rowOf) })
  }
}

/** NULL is a deletion: there may be another value later. */
function answerOf({ num }: OpenReference, { value, octets }: NamedValue): AnswerWrite[] {
  if (value === null) return []
  const text = textOf(value, octets > value.length)
  return [{ ask: num, value: text, cappedFrom: text !== null && octets > value.length ? octets : null }]
}

/** Null if it is not text, for example a picture. A character that was cut at the end is left out. */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  if (bytes.includes(0)) return null
  const whole = isCut ? bytes.subarray(0, endOfLastCharacter(bytes)) : bytes
  return isUtf8(whole) ? whole.toString('utf8') : null
}

/**
 * The end of the last complete character. A UTF-8 character has at most four bytes, and all but the first start with
 * the bits 10.
 */
function endOfLastCharacter(bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at -= 1) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) return at + 1
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return at + length <= bytes.length ? at + length : at
  }
  return bytes.length
}
