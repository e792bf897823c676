import { decodeChatRow } from '../records/chat/decode-chat.ts'
import { parseRow } from '../records/json/exact-json.ts'
import { decodeStateText, readStateText } from '../records/state/conversation-state.ts'
import { asMessageId, type ChatId } from '../../../model/ids.ts'
import type { ChatFacts } from '../../../mirror/write/batch.ts'
import { readingStep, type PassStep } from '../../source.ts'
import type { BlobPass } from './blob-pass.ts'
import { readNamed } from './read.ts'
import { filledString } from '../records/json/json-value.ts'

/** Larger values are not read. */
export const VALUE_OCTETS_MAX = 32 * 1024 * 1024

/** The values that exist and were read completely, by key. */
export function* readWhole(pass: BlobPass, keys: readonly string[]): Generator<PassStep, Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const { values, bytesRead, elapsedMs } of readNamed(pass.file, keys, VALUE_OCTETS_MAX)) {
    for (const { key, value, octets } of values) if (value?.length === octets) found.set(key, value)
    yield { ...readingStep, bytesRead, longestReadMs: elapsedMs }
  }
  return found
}

export interface ChatState {
  /** The bytes of the state: a tree of what the model saw, in which blobs are named by hash. */
  readonly root: Buffer
  /** The chat's facts from its own row; null if the row is gone. */
  readonly facts: ChatFacts | null
}

/** The state of a chat, from its own row or otherwise from its checkpoint; null if there is none. */
export function* readState(pass: BlobPass, chatId: ChatId): Generator<PassStep, ChatState | null> {
  const [rowKey, pointerKey] = [chatRowKey(chatId), checkpointKey(chatId)]
  const found = yield* readWhole(pass, [rowKey, pointerKey])
  const row = found.get(rowKey)
  const own = row === undefined ? null : stateIn(row)
  const facts = row === undefined ? null : factsIn(row, chatId)
  if (own !== null) return { root: own, facts }
  const pointer = found.get(pointerKey)
  const hash = pointer === undefined ? null : decodeCheckpoint(pointer)
  if (hash === null) return null
  const root = (yield* readWhole(pass, [blobKey(hash)])).get(blobKey(hash))
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

/** What was sent to the model, by its SHA-256. The key does not name the chat. */
export const BLOB_PREFIX = 'agentKv:blob:'

export const blobKey = (hash: string): string => `${BLOB_PREFIX}${hash}`

const chatRowKey = (chatId: string): string => `composerData:${chatId}`

/** Its value is the hash of the state's blob. Cursor writes it if the chat's row has no state of its own. */
const checkpointKey = (chatId: string): string => `agentKv:checkpoint:${chatId}`

/** Older builds wrote blobs as hex, and an empty blob as a zero byte. */
export function decodeBlob(value: Buffer): Buffer {
  if (value.length === 1 && value[0] === 0) return Buffer.alloc(0)
  const text = value.toString('latin1')
  return value.length % 2 === 0 && /^[0-9a-f]+$/i.test(text) ? Buffer.from(text, 'hex') : value
}

/** The hash in a checkpoint; null if there is none. */
function decodeCheckpoint(value: Buffer): string | null {
  const text = filledString(value.toString('utf8'))?.trim() ?? ''
  if (value.length === 32) return value.toString('hex')
  return /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null
}
