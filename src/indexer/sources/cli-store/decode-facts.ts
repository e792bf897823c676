import type { ChatFacts } from '../../../model/change.ts'
import { type ChatId, asChatId } from '../../../model/ids.ts'
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
  recordIn,
} from '../records/json.ts'
import type { ConversationState } from '../records/conversation-state.ts'
import { hexBytes } from '../records/wire.ts'
import type { RawFacts } from './read-store.ts'

/** A store's facts about itself. Of the encryption key only its presence is reported. */
export interface StoreFacts {
  readonly record: JsonRecord
  readonly isEncrypted: boolean
}

const OWN_ROW = '0'
/** The name of a chat that was not given one. */
const PLACEHOLDER = 'New Agent'

/** One row of JSON, usually as hex; in other builds one row per fact. Null if the row is not a JSON object. */
export function decodeStoreFacts({ values, hasKey }: RawFacts): StoreFacts | null {
  const own = values.get(OWN_ROW)?.toString('utf8')
  const found = own === undefined ? recordOf(values) : parseHexed(own)
  if (found === null) return null
  const { blobEncryptionKey: key, ...record } = found
  return { record, isEncrypted: hasKey || filledString(key) !== null }
}

function parseHexed(text: string): JsonRecord | null {
  return parsedRecord(hexBytes(text)?.toString('utf8') ?? text)
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

/** `isTorn`: the file has text that is not a JSON object. An empty file is about to be written. */
export function decodeSidecar(bytes: Buffer | null): { readonly sidecar: JsonRecord; readonly isTorn: boolean } {
  const text = bytes?.toString('utf8') ?? ''
  const sidecar = asRecord(parseJson(text)?.value)
  return { sidecar: sidecar ?? {}, isTorn: sidecar === null && !isBlank(text) }
}

const PATH_LENGTH_MAX = 4096

/** A path of any OS on which the chat ran. A relative path is useless, because its base is unknown. */
function absolutePath(value: unknown): string | null {
  const path = filledString(value)
  if (path === null || path.length > PATH_LENGTH_MAX || path.includes('\0')) return null
  return /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(path) ? path : null
}

/** @param sidecar the content of `meta.json` beside the store */
export function factsOf(
  chatId: ChatId,
  { record }: StoreFacts,
  sidecar: JsonRecord,
  state: ConversationState | null,
): ChatFacts {
  const plain = decodeFacts({}, chatId, 'cli')
  const name = filledStringIn(record, 'name')
  const [parent = null] = [record, sidecar].flatMap(
    (each) => filledStringIn(recordIn(each, 'subagentInfo'), 'parentAgentId') ?? [],
  )
  return {
    ...plain,
    name: filledStringIn(sidecar, 'title') ?? (name === PLACEHOLDER ? null : name),
    createdAtMs: readTime(record['createdAt']) ?? readTime(sidecar['createdAtMs']) ?? state?.startedAtMs ?? null,
    updatedAtMs: readTime(sidecar['updatedAtMs']),
    mode: filledStringIn(record, 'mode'),
    model: readModelName(record, 'lastUsedModel'),
    isSubagent: plain.isSubagent || sidecar['isSubagent'] === true || record['isSubagent'] === true || parent !== null,
    parentChatId: parent === null ? null : asChatId(parent),
    childChatIds: (state?.childIds ?? []).map(asChatId),
    summary: state?.goal ?? null,
    contextTokens: state?.contextTokens ?? null,
  }
}

/** Where the chat was started, according to the store. If the window had several roots, the first counts. */
export function evidenceOf(sidecar: JsonRecord, state: ConversationState | null): readonly Evidence[] {
  const cwd = absolutePath(sidecar['cwd'])
  const uri = state?.workspaceUris.map(readFileUri).find((place) => place !== null) ?? null
  return [
    ...(cwd === null ? [] : [{ method: 'cli-folder' as const, uri: cwd }]),
    ...(uri === null ? [] : [{ method: 'cli-workspace' as const, uri }]),
  ]
}
