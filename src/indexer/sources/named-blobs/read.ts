import * as held from '../../../mirror/sources/sources.ts'
import { join } from 'node:path'
import { VALUE_OCTETS_MAX, type OpenFile, fileSignature, readPortion, tryRead } from '../../open-safely/cursor-file.ts'
import { chatWrite, goneChat } from '../../open-safely/whole-store.ts'
import { type PassRequest, type Source, compareLater, ofDatabase, whileOpen } from '../../source.ts'
import { decodeChatRecord, madeId, readStateText } from '../records/chat.ts'
import {
  type ConversationState,
  decodeArchive,
  decodeConversationState,
  decodeStep,
  decodeStateText,
  decodeTurn,
  hexBytes,
} from '../records/conversation-state.ts'
import { groupBy, parseRow } from '../records/json.ts'
import { type NamedResult, decodeModelThread, parseModelMessages, readResults } from '../records/model-messages.ts'
import { CONTENT_PREFIX } from '../records/message.ts'
import { walkState } from '../records/walk-state.ts'
import type { Mirror } from '../../../mirror/open.ts'
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
import { readOwnRow } from '../../../mirror/write/chat-columns.ts'
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
import { type ChatId, asMessageId } from '../../../model/ids.ts'
import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import { hasKnownTable } from '../records/read-table.ts'

/** `value` is null for NULL, and only the beginning of a longer value. */
export interface NamedValue {
  readonly key: string
  /** Bytes of the whole value. */
  readonly octets: number
  readonly value: Buffer | null
}

const READ_VALUE = `
select key, octet_length(value) as octets, substr(cast(value as blob), 1, ?) as value from cursorDiskKV where key = ?
`

/** What was sent to the model, by its SHA-256. The key does not name the chat. */
export const BLOB_PREFIX = 'agentKv:blob:'

export const blobKey = (hash: string): string => `${BLOB_PREFIX}${hash}`

/** Older builds wrote blobs as hex, and an empty blob as a zero byte. */
export function decodeBlob(value: Buffer): Buffer {
  if (value.length === 1 && value[0] === 0) return Buffer.alloc(0)
  return hexBytes(value.toString('latin1')) ?? value
}

/** The source whose messages ask for values; the values are in the same file. */
const ASKER = 'composer-kv'

/** One search for the requested values, with the store open. */
interface BlobPass {
  readonly file: OpenFile
  readonly mirror: Mirror
  /** The number of this source. */
  readonly num: number
  /** The number of the source whose messages ask. */
  readonly asker: number
  readonly request: PassRequest
  /** Requests up to this number were handled before. */
  readonly after: number
  /** Keys of the rows with an issue in this pass. */
  readonly issueKeys: Set<string>
  /** What reading cost since the last step. */
  cost: { readonly bytesRead: number; readonly longestReadMs: number }
}

interface BlobSource extends Pick<Source, 'kind' | 'decoder' | 'rank'> {
  readonly search: (pass: BlobPass) => Promise<void>
}

/**
 * A source that reads only values requested by messages. If nothing was requested since its last pass, it opens no
 * file. A comparison of all values looks for everything that is still missing.
 * @param userDir Cursor's `User` folder
 */
function blobSource(userDir: string, { search, ...facts }: BlobSource): Source {
  const path = join(userDir, 'globalStorage', 'state.vscdb')
  return {
    ...ofDatabase({ ...facts, path, isAlwaysWarm: true }),
    readsReferences: true,
    async pass(mirror, num, request) {
      if (fileSignature(path) === null) return { kind: 'closed', state: 'missing', detail: null }
      const asker = held.findSource(mirror, ASKER, path)
      const newest = newestReference(mirror)
      const after = request.depth === 'values' ? 0 : (held.readPosition(mirror, num).watermark ?? 0)
      // Requests made by a source that runs later in the same run are handled by a later pass.
      const done = { isRead: true, again: request.depth === 'tail' ? compareLater : [] }
      if (asker === null || newest <= after) return done
      return whileOpen(path, async (file) => {
        if (file.bytesRead > 0) await request.turn({ bytesRead: file.bytesRead })
        const cost = { bytesRead: 0, longestReadMs: 0 }
        const pass: BlobPass = { file, mirror, num, asker, request, after, issueKeys: new Set(), cost }
        if (file.read((db) => hasKnownTable(db, 'cursorDiskKV', ['key', 'value'], 'key'))) await search(pass)
        // A search for everything has reported every issue that still exists.
        const droppedKeys = after > 0 ? [] : held.listIssueKeys(mirror, num).filter((key) => !pass.issueKeys.has(key))
        const { identity, signature } = file
        writeFound(pass, { droppedKeys, position: { identity, signature, watermark: newest, watermarkKey: null } })
        // Other sources account for the rest of the store.
        held.saveCounts(mirror, { num, totalRows: held.countHeldRows(mirror, num), nullKeys: 0, nowMs: request.now() })
        return done
      })
    },
  }
}

/** Writes the found values in one transaction. */
function writeFound({ mirror, num, request }: BlobPass, found: Partial<Change>): Written {
  return writeChange(mirror, { ...emptyChange, ...found, source: num, nowMs: request.now() })
}

/** Used instead of a rowid: this decoder has read the value. */
const READ = 0

/** A value named by its hash never changes, so the row only records that it was read. */
const rowOf = ({ key, octets }: Omit<NamedValue, 'value'>): RowState => ({ key, rowid: READ, octets, checksum: null })

/** Writes what was found in the values that were read since the last step. */
async function endStep(pass: BlobPass, found: Partial<Change> | null = null): Promise<void> {
  const outcome = found === null ? null : writeFound(pass, found)
  for (const { key } of found?.issues ?? []) pass.issueKeys.add(key)
  const { cost } = pass
  pass.cost = { bytesRead: 0, longestReadMs: 0 }
  await pass.request.turn({ ...cost, outcome })
}

/**
 * The values of these keys, each by one seek in the index. Unknown keys and rows on damaged pages are left out. Each
 * page is one short transaction.
 * @param octetsMax only this many bytes of a longer value are read
 */
function* readNamed(
  pass: BlobPass,
  keys: readonly string[],
  octetsMax: number,
): Generator<readonly NamedValue[], void> {
  const { file } = pass
  for (let at = 0; at < keys.length;) {
    const rest = keys.slice(at)
    const values: NamedValue[] = []
    const read = (db: Database.Database, key: string): number => {
      const row = tryRead(() => prepared<NamedValue>(db, READ_VALUE).get(octetsMax, key))?.value
      if (row !== undefined) values.push({ ...row, octets: row.octets ?? 0 })
      return row?.value?.length ?? 0
    }
    const portion = file.read((db) => readPortion(db, rest, file.readMsMax, (key) => read(db, key)))
    const { bytesRead, longestReadMs } = pass.cost
    pass.cost = {
      bytesRead: bytesRead + portion.bytesRead,
      longestReadMs: Math.max(longestReadMs, portion.elapsedMs),
    }
    yield values
    at += portion.taken
  }
}

/** The values that exist and were read completely, by key. */
function readWhole(pass: BlobPass, keys: readonly string[]): ReadonlyMap<string, Buffer> {
  const found = new Map<string, Buffer>()
  for (const values of readNamed(pass, keys, VALUE_OCTETS_MAX))
    for (const { key, value, octets } of values) if (value?.length === octets) found.set(key, value)
  return found
}

/** The model's copy of a thread has no ids and no times: every other source of the chat is more complete. */
const RANK = 4

/**
 * What was sent to the model, for chats whose messages leave something out: the outputs of calls, and the whole thread
 * of a chat that has no messages any more. A blob does not name its chat, so only blobs named by the state of an asking
 * chat are read.
 * @param userDir Cursor's `User` folder
 */
export const agentBlobsSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'agent-blobs', decoder: 3, rank: RANK, search: searchChats })

async function searchChats(pass: BlobPass): Promise<void> {
  const { mirror, asker: source, after } = pass
  for (const chat of listReferringChats(mirror, { source, after })) await lookIntoChat(pass, chat)
}

async function lookIntoChat(pass: BlobPass, { id, hasMessages }: ReferringChat): Promise<void> {
  if (readOwnRow(pass.mirror, id, pass.asker) === 'gone') {
    // The copy belongs to the chat only as long as the chat exists. Its blobs stay until Cursor collects them, but
    // nobody can see them.
    if (readOwnRow(pass.mirror, id, pass.num) === 'live') await endStep(pass, { chats: [goneChat(id)] })
    return
  }
  const asks = hasMessages === 1 ? listPendingOutputs(pass.mirror, pass.asker, id) : []
  if (hasMessages === 1 && asks.length === 0) return
  const { root, facts } = readState(pass, id)
  await endStep(pass)
  if (root === null) return
  if (hasMessages === 1) await joinOutputs(pass, decodeConversationState(root), asks)
  else if (facts !== null) await recoverThread(pass, id, root, facts)
}

/**
 * Finds the outputs that messages of a chat leave out, in the blobs named by the chat's state. Each blob is read once
 * to learn which outputs it contains, and again only if one of those is requested later. What the state's own list does
 * not have is looked for in what its summaries replaced, and in its turns.
 */
async function joinOutputs(
  pass: BlobPass,
  state: ConversationState | null,
  asks: readonly OpenReference[],
): Promise<void> {
  if (state === null) return
  /** Numbers of requests by the call's id; answered ones are removed. */
  const open = groupBy(asks, ({ name }) => name)
  const below = (ids: readonly string[]): Buffer[] => [...readWhole(pass, ids.map(blobKey)).values()].map(decodeBlob)
  for (const listNamed of [
    () => state.entries.filter((entry) => typeof entry === 'string'),
    () => below(state.archives).flatMap((bytes) => decodeArchive(bytes)?.messages ?? []),
    () => below(state.turns).flatMap((bytes) => decodeTurn(bytes)?.steps ?? []),
  ]) {
    if (open.size === 0) return
    for (const values of readNamed(pass, blobsToRead(pass, new Set(listNamed()), [...open.keys()]), VALUE_OCTETS_MAX)) {
      const answers: AnswerWrite[] = []
      const blobCalls: BlobCall[] = []
      for (const row of values) {
        for (const { callId, output } of resultsIn(row)) {
          blobCalls.push({ blob: row.key.slice(BLOB_PREFIX.length), callId })
          for (const { num } of open.get(callId) ?? []) answers.push({ ask: num, value: output, cappedFrom: null })
          open.delete(callId)
        }
      }
      await endStep(pass, { answers, blobCalls, rows: values.map(rowOf) })
    }
  }
}

/** The keys of blobs that this decoder never read, and of those known to contain a requested output. */
function blobsToRead({ mirror, num }: BlobPass, named: ReadonlySet<string>, callIds: readonly string[]): string[] {
  const fresh = [...named].filter((blob) => held.findHeldRow(mirror, num, blobKey(blob))?.rowid !== READ)
  const known = callIds.flatMap((callId) => listBlobsOfCall(mirror, num, callId)).filter((blob) => named.has(blob))
  return [...new Set([...fresh, ...known])].map(blobKey)
}

function resultsIn({ value, octets }: NamedValue): readonly NamedResult[] {
  if (value === null || value.length < octets) return []
  const parsed = parseModelMessages(decodeBlob(value))
  if (parsed.kind === 'messages') return parsed.messages.flatMap(readResults)
  // A step of a turn; else a node of the tree, or a newer format; `doctor` reports which.
  const content = decodeStep(decodeBlob(value))?.content ?? []
  return typeof content === 'string' ? [] : readResults({ role: 'assistant', content })
}

/**
 * Recovers the thread of a chat whose messages are gone, as the model saw it. Its messages have made-up ids and no
 * times. If the chat's own messages come back, these are copies of them.
 */
async function recoverThread(pass: BlobPass, id: ChatId, root: Buffer, facts: ChatFacts): Promise<void> {
  const octets = new Map<string, number>()
  const walked = walkState(root, (ids) => {
    const found = readWhole(pass, ids.map(blobKey))
    for (const [key, { length }] of found) octets.set(key, length)
    return new Map(ids.map((each) => [each, decodedOrNull(found.get(blobKey(each)))]))
  })
  // The same text can be sent twice: then the same blob is at two places of the thread.
  const { messages, outline, issues } = decodeModelThread(walked.entries, (key, occurrence) =>
    madeId(['agent-blobs', id, key, occurrence]),
  )
  await endStep(pass, {
    chats: messages.length === 0 ? [] : [chatWrite({ id, facts, outline, messages }, 0)],
    issues: [...walked.issues, ...issues].map(({ key, reason }): RowIssue => ({
      key: blobKey(key),
      reason,
      octets: octets.get(blobKey(key)) ?? null,
    })),
    rows: [...octets].map(([key, size]) => rowOf({ key, octets: size })),
  })
}

const decodedOrNull = (value: Buffer | undefined): Buffer | null => (value === undefined ? null : decodeBlob(value))

/**
 * The state of a chat, from its own row or otherwise from its checkpoint: the bytes of a tree of what the model saw, in
 * which blobs are named by hash. And the chat's facts, null if its row is gone.
 */
function readState(pass: BlobPass, id: ChatId): { readonly root: Buffer | null; readonly facts: ChatFacts | null } {
  // Cursor writes the second, the hash of the state's blob, if the chat's row has no state of its own.
  const [rowKey, pointerKey] = [`composerData:${id}`, `agentKv:checkpoint:${id}`]
  const found = readWhole(pass, [rowKey, pointerKey])
  const row = parseRow(found.get(rowKey) ?? '')
  const record = row.kind === 'record' ? row.record : null
  // Messages in the row itself are read by other sources and ask for nothing here.
  const facts = record === null ? null : decodeChatRecord(record, id, (at) => asMessageId(String(at))).facts
  const text = record === null ? null : readStateText(record)
  const own = text === null ? null : decodeStateText(text)
  const hash = own === null ? decodeCheckpoint(found.get(pointerKey)) : null
  if (hash === null) return { root: own, facts }
  return { root: decodedOrNull(readWhole(pass, [blobKey(hash)]).get(blobKey(hash))), facts }
}

/** The hash in a checkpoint; null if there is none. */
function decodeCheckpoint(value: Buffer | undefined): string | null {
  if (value?.length === 32) return value.toString('hex')
  const text = value?.toString('utf8').trim() ?? ''
  return /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null
}

/** Of a longer text only the beginning is stored: whole files can be attached, and Cursor's store has each of them. */
const TEXT_OCTETS_MAX = 256 * 1024

/**
 * Pasted and attached texts, which messages name by their hash. It contains no chats, so no chat ever comes from it.
 * @param userDir Cursor's `User` folder
 */
export const pastedTextSource = (userDir: string): Source =>
  blobSource(userDir, { kind: 'pasted-text', decoder: 1, rank: 9, search: findTexts })

async function findTexts(pass: BlobPass): Promise<void> {
  const asks = listPendingContents(pass.mirror, pass.asker, pass.after)
  const byKey = groupBy(asks, ({ name }) => `${CONTENT_PREFIX}${name}`)
  for (const values of readNamed(pass, [...byKey.keys()], TEXT_OCTETS_MAX)) {
    const answers = values.flatMap((row) => (byKey.get(row.key) ?? []).flatMap((ask) => answerOf(ask, row)))
    await endStep(pass, { answers, rows: values.map(rowOf) })
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
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
  } catch {
    return null
  }
}
