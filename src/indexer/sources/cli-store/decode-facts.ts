import type { ChatFacts } from '../../../model/change.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Evidence } from '../../projects/root-uri.ts'
import { decodeFacts } from '../records/chat.ts'
import {
  type JsonRecord,
  asRecord,
  filledString,
  filledStringIn,
  isBlank,
  parseJson,
  parsedRecord,
  readFileUri,
  readModelName,
  readTime,
} from '../records/json.ts'
import type { ConversationState } from '../records/conversation-state.ts'
import type { RawFacts } from './read-store.ts'

/**
 * A store's facts about itself. Of the encryption key only its presence is reported; the key never leaves the decoder.
 */
export interface StoreFacts {
  /** Null if it names none. */
  readonly rootId: string | null
  readonly name: string | null
  readonly mode: string | null
  readonly createdAtMs: number | null
  readonly model: string | null
  readonly isEncrypted: boolean
}

const OWN_ROW = '0'
/** The name of a chat that was not given one. */
const PLACEHOLDER = 'New Agent'

/** One row of JSON, usually as hex; in other builds one row per fact. Null if the row is not a JSON object. */
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

/** Each value is plain text, or text as JSON. */
function recordOf(values: RawFacts['values']): JsonRecord {
  const entries = [...values].map(([name, value]) => {
    const text = value.toString('utf8')
    const parsed = text.startsWith('"') ? parseJson(text) : null
    return [name, parsed === null ? text : parsed.value] as const
  })
  return Object.fromEntries(entries)
}

/** The content of `meta.json` beside the store. */
export interface Sidecar {
  readonly title: string | null
  readonly cwd: string | null
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  /** Null if it is not given. */
  readonly hasConversation: boolean | null
  readonly isSubagent: boolean
}

const emptySidecar: Sidecar = {
  title: null,
  cwd: null,
  createdAtMs: null,
  updatedAtMs: null,
  hasConversation: null,
  isSubagent: false,
}

/** `isTorn`: the file has text that is not a JSON object. An empty file is about to be written. */
export function decodeSidecar(bytes: Buffer | null): { readonly sidecar: Sidecar; readonly isTorn: boolean } {
  const text = bytes?.toString('utf8') ?? ''
  const record = asRecord(parseJson(text)?.value)
  if (record === null) return { sidecar: emptySidecar, isTorn: !isBlank(text) }
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

/** A path of any OS on which the chat ran. A relative path is useless, because its base is unknown. */
function absolutePath(value: unknown): string | null {
  const path = filledString(value)
  if (path === null || path.length > PATH_LENGTH_MAX || path.includes('\0')) return null
  return /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(path) ? path : null
}

export function factsOf(
  chatId: ChatId,
  facts: StoreFacts,
  sidecar: Sidecar,
  state: ConversationState | null,
): ChatFacts {
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

/** Where the chat was started, according to the store. If the window had several roots, the first counts. */
export function evidenceOf({ cwd }: Sidecar, state: ConversationState | null): readonly Evidence[] {
  const uri = state?.workspaceUris.map(readFileUri).find((place) => place !== null) ?? null
  return [
    ...(cwd === null ? [] : [{ method: 'cli-folder' as const, uri: cwd }]),
    ...(uri === null ? [] : [{ method: 'cli-workspace' as const, uri }]),
  ]
}
