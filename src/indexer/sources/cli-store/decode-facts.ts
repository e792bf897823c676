import type { ChatFacts } from '../../../mirror/write/batch.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Evidence } from '../../projects/evidence.ts'
import { decodeFacts } from '../records/chat/decode-facts.ts'
import { readFileUri } from '../records/chat/decode-evidence.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  isBlank,
  parseJson,
  parsedRecord,
  type JsonRecord,
} from '../records/json/json-value.ts'
import { readModelName } from '../records/common-fields.ts'
import { readTime } from '../records/json/read-time.ts'
import type { WalkedState } from '../records/state/walk-state.ts'
import type { RawFacts } from './read.ts'

/** What a store says of itself. The key of its blobs is told as there or not, and never leaves the decoder. */
export interface StoreFacts {
  /** Null where it names none. */
  readonly rootId: string | null
  readonly name: string | null
  readonly mode: string | null
  readonly createdAtMs: number | null
  readonly model: string | null
  readonly isEncrypted: boolean
}

const OWN_ROW = '0'
/** What a chat is called that was given no name. */
const PLACEHOLDER = 'New Agent'

/** One row of JSON, most often as hex; in other builds a row for each fact. Null where the row is no JSON object. */
export function decodeStoreFacts({ values, hasKey }: RawFacts): StoreFacts | null {
  const own = values.get(OWN_ROW)?.toString('utf8')
  const record = own === undefined ? recordOf(values) : parseHexed(own)
  if (record === null) return null
  const name = filledStringIn(record, 'name')
  return {
    rootId: filledStringIn(record, 'latestRootBlobId')?.trim() ?? null,
    name: name === PLACEHOLDER ? null : name,
    mode: filledStringIn(record, 'mode'),
    createdAtMs: readTime(record['createdAt']),
    model: readModelName(record, 'lastUsedModel'),
    isEncrypted: hasKey || filledStringIn(record, 'blobEncryptionKey') !== null,
  }
}

function parseHexed(text: string): JsonRecord | null {
  const isHex = text.length % 2 === 0 && /^[0-9a-f]+$/i.test(text)
  return parsedRecord(isHex ? Buffer.from(text, 'hex').toString('utf8') : text)
}

/** Each value is text as it stands, or text as JSON. */
function recordOf(values: RawFacts['values']): JsonRecord {
  const told = [...values].map(([name, value]) => {
    const text = value.toString('utf8')
    const parsed = text.startsWith('"') ? parseJson(text) : null
    return [name, parsed === null ? text : parsed.value] as const
  })
  return Object.fromEntries(told)
}

/** What stands beside the store. */
export interface Sidecar {
  readonly title: string | null
  readonly cwd: string | null
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  /** Null where it does not say. */
  readonly hasConversation: boolean | null
  readonly isSubagent: boolean
}

const silent: Sidecar = {
  title: null,
  cwd: null,
  createdAtMs: null,
  updatedAtMs: null,
  hasConversation: null,
  isSubagent: false,
}

/** `isTorn`: there are words in it, and they are no object. An empty file is about to be written. */
export function decodeSidecar(bytes: Buffer | null): { readonly sidecar: Sidecar; readonly isTorn: boolean } {
  const text = bytes?.toString('utf8') ?? ''
  const record = asRecord(parseJson(text)?.value)
  if (record === null) return { sidecar: silent, isTorn: !isBlank(text) }
  const hasConversation = record['hasConversation']
  const sidecar: Sidecar = {
    title: filledStringIn(record, 'title'),
    cwd: absolutePath(record['cwd']),
    createdAtMs: readTime(record['createdAtMs']),
    updatedAtMs: readTime(record['updatedAtMs']),
    hasConversation: typeof hasConversation === 'boolean' ? hasConversation : null,
    isSubagent: record['isSubagent'] === true,
  }
  return { sidecar, isTorn: false }
}

const PATH_LENGTH_MAX = 4096

/** A path on whichever system the chat ran: one that is relative to an unknown place tells nothing. */
function absolutePath(value: unknown): string | null {
  const path = filledString(value)
  if (path === null || path.length > PATH_LENGTH_MAX || path.includes('\0')) return null
  return /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(path) ? path : null
}

export function factsOf(chatId: ChatId, facts: StoreFacts, sidecar: Sidecar, state: WalkedState | null): ChatFacts {
  const plain = decodeFacts({}, chatId, 'cli')
  return {
    ...plain,
    name: sidecar.title ?? facts.name,
    createdAtMs: facts.createdAtMs ?? sidecar.createdAtMs ?? state?.startedAtMs ?? null,
    updatedAtMs: sidecar.updatedAtMs,
    mode: facts.mode,
    model: facts.model,
    isSubagent: plain.isSubagent || sidecar.isSubagent,
    contextTokens: state?.contextTokens ?? null,
  }
}

/** Where it was begun, by its own word. Of a window with several roots the first stands for all. */
export function evidenceOf({ cwd }: Sidecar, state: WalkedState | null): readonly Evidence[] {
  const uri = state?.workspaceUris.map(readFileUri).find((place) => place !== null) ?? null
  return [
    ...(cwd === null ? [] : [{ method: 'cli-folder' as const, uri: cwd }]),
    ...(uri === null ? [] : [{ method: 'cli-workspace' as const, uri }]),
  ]
}
