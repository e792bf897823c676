import type { MessageDraft } from '../../../../mirror/write/batch.ts'
import { asMessageId, type ChatId, type MessageId } from '../../../../model/ids.ts'
import type { IssueReason } from '../../../../model/issue.ts'
import { recordedTokens, type Role } from '../../../../model/message.ts'
import type { Part } from '../../../../model/part.ts'
import type { DecodedMessage } from '../../../decoded.ts'
import { boundJson, stringLeaves } from '../json/bound-json.ts'
import { CONTENT_PREFIX, findContents, findOmissions } from './find-asks.ts'
import { decodeAttachments } from './decode-attachments.ts'
import { decodeCode, withoutCopies } from './decode-code.ts'
import { decodeMessageEvidence } from '../chat/decode-evidence.ts'
import { decodeText, decodeThinking } from './decode-text.ts'
import { decodeTodos, readModelName } from '../common-fields.ts'
import { decodeTool } from './decode-tool.ts'
import { countIn, listIn, parseJson, recordIn, stringIn, type JsonRecord } from '../json/json-value.ts'
import { parseRow } from '../json/exact-json.ts'
import { readRowTimes } from '../json/read-time.ts'

/** The key's ids. They outrank the id in the JSON, which is empty in some rows and another row's in others. */
export interface MessageIdentity {
  readonly chatId: ChatId
  readonly messageId: MessageId
}

/**
 * A `bubbleId:` row's value. Total: any bytes become a message, nothing to show, or an issue. `octets` is the row's
 * size in bytes; `toolData` is what the chat's row holds for this message, in chats of old builds; `listedRole` what
 * the chat's list says of a row that does not say it.
 */
export function decodeMessageRow(
  value: string | Buffer,
  identity: MessageIdentity,
  octets: number,
  toolData?: unknown,
  listedRole: Role | null = null,
): DecodedMessage {
  const row = parseRow(value)
  if (row.kind === 'issue') return row
  const place = { id: identity.messageId, octets, isEmbedded: false, toolData, listedRole }
  const decoded = decodeMessageRecord(row.record, place)
  if (decoded.kind === 'issue') return decoded
  const evidence = decodeMessageEvidence(row.record)
  const told = evidence.length === 0 ? decoded : { ...decoded, evidence }
  return told.kind === 'message' ? withAsks(told, value, row.record) : told
}

type Told = Extract<DecodedMessage, { readonly kind: 'message' }>

function withAsks(told: Told, value: string | Buffer, record: JsonRecord): Told {
  const contents = value.includes(CONTENT_PREFIX) ? findContents(record) : []
  const asks = [...findOmissions(told.message.parts), ...contents]
  return asks.length === 0 ? told : { ...told, message: { ...told.message, asks } }
}

export interface MessagePlace {
  readonly id: MessageId
  readonly octets: number
  readonly isEmbedded: boolean
  readonly toolData: unknown
  readonly listedRole?: Role | null
}

/** A message's object, wherever it stood. */
export function decodeMessageRecord(record: JsonRecord, place: MessagePlace): DecodedMessage {
  const role = readRole(record['type']) ?? place.listedRole ?? 'assistant'
  const { parts, childChatIds, issue } = decodeParts(record, role, place.toolData)
  const tokens = readTokens(recordIn(record, 'tokenCount'))
  if (parts.length === 0) {
    if (issue === null && holdsUnknownText(record)) return { kind: 'issue', reason: 'unknown-shape' }
    if (tokens === null) return { kind: 'nothing', issue }
    const base = { id: place.id, alias: readAlias(record, place.id), role, ...readRowTimes(record) }
    return { kind: 'nothing', issue, placeholder: { ...base, tokens } }
  }
  const message: MessageDraft = {
    id: place.id,
    alias: readAlias(record, place.id),
    role,
    ...readRowTimes(record),
    model: readModelName(recordIn(record, 'modelInfo'), 'modelName') ?? readModelName(record, 'modelType'),
    tokens,
    parts,
    isSimulated: record['isSimulatedMsg'] === true,
    octets: place.octets,
    isEmbedded: place.isEmbedded,
    ...(childChatIds.length === 0 ? {} : { childChatIds }),
  }
  return { kind: 'message', message, issue }
}

/** Some rows' own id is not the one in their key; the chat's list may name them by either. */
function readAlias(record: JsonRecord, id: MessageId): MessageId | null {
  const alias = stringIn(record, 'bubbleId')
  return alias === null || alias === id ? null : asMessageId(alias)
}

/** Numbers in composers, words in the tabs before them. Null where the entry does not say. */
export function readRole(type: unknown): Role | null {
  if (type === 1 || type === 'user') return 'user'
  return type === undefined || type === null ? null : 'assistant'
}

/** Every row carries both counts; zero, as on all rows since early 2026, means not recorded, and so does nonsense. */
function readTokens(count: JsonRecord | null): MessageDraft['tokens'] {
  return recordedTokens(countIn(count, 'inputTokens'), countIn(count, 'outputTokens'))
}

interface DecodedParts {
  readonly parts: readonly Part[]
  readonly childChatIds: readonly ChatId[]
  readonly issue: IssueReason | null
}

/** A row may hold several things at once; all of them are given, in the order in which Cursor shows them. */
function decodeParts(record: JsonRecord, role: Role, toolData: unknown): DecodedParts {
  const tool = decodeTool(record['toolFormerData'], toolData)
  const text = decodeText(record)
  const thinking = decodeThinking(record)
  const work = [...withoutCopies([...decodeCode(record, text?.text ?? ''), ...(tool?.code ?? [])]), tool?.part ?? null]
  const attachments = decodeAttachments(record)
  const error = decodeError(record['errorDetails'])
  const closing = [todoPart(record), error.part]
  const parts: readonly (Part | null)[] =
    role === 'user'
      ? [text, ...attachments, thinking, ...work, ...closing]
      : [thinking, text, ...work, ...attachments, ...closing]
  const isTooDeep = tool?.isTooDeep === true || error.isTooDeep
  return {
    parts: parts.filter((part) => part !== null),
    childChatIds: tool?.childChatIds ?? [],
    issue: isTooDeep ? 'too-deep' : null,
  }
}

function todoPart(record: JsonRecord): Part | null {
  const items = decodeTodos(listIn(record, 'todos'))
  return items.length === 0 ? null : { kind: 'todo', items }
}

/** The field names in here differ by build, so every string is taken. */
function decodeError(details: unknown): { readonly part: Part | null; readonly isTooDeep: boolean } {
  const parsed = typeof details === 'string' ? (parseJson(details)?.value ?? details) : details
  const leaves = stringLeaves(parsed)
  const part: Part | null = leaves.length === 0 ? null : { kind: 'error', text: leaves.join('\n') }
  return { part, isTooDeep: boundJson(parsed).isTooDeep }
}

/** Strings of a message's record that are known, and are not said in the chat or are read elsewhere. */
const KNOWN: ReadonlySet<string> = new Set([
  'text',
  'richText',
  'rawText',
  'delegate',
  'initText',
  'content',
  'message',
  'thinking',
  'simulatedMsgReason',
  'workspaceProjectDir',
  'conversationState',
  'checkpointId',
  'afterCheckpointId',
  'requestId',
  'serverBubbleId',
  'usageUuid',
  'unifiedMode',
  'modelType',
  'createdAt',
  'promptDryRunInfo',
])
const LENGTH_MIN = 20

/**
 * Whether a record of which nothing can be shown holds words under a name that is not known: a version to come may have
 * renamed a field, and its messages would be lost in silence. Ids, hashes and paths have no space between words.
 */
const holdsUnknownText = (record: JsonRecord): boolean =>
  Object.entries(record).some(
    ([name, value]) =>
      typeof value === 'string' && value.length >= LENGTH_MIN && /\p{L}\s+\p{L}/u.test(value) && !KNOWN.has(name),
  )
