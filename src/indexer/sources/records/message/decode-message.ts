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
import { countIn, filledStringIn, listIn, parseJson, recordIn, stringIn, type JsonRecord } from '../json/json-value.ts'
import { parseRow } from '../json/exact-json.ts'
import { readRowTimes } from '../json/read-time.ts'

/**
 * The ids from the key. They take precedence over the id in the JSON, which is empty in some rows and another row's in
 * others.
 */
export interface MessageIdentity {
  readonly chatId: ChatId
  readonly messageId: MessageId
}

/**
 * Decodes the value of a `bubbleId:` row. Total: any bytes become a message, nothing to show, or an issue. `octets` is
 * the row's size in bytes. `toolData` is this message's data from the chat's row, in chats of old builds. `listedRole`
 * is the role in the chat's list, for a row without a role.
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
  const withEvidence = evidence.length === 0 ? decoded : { ...decoded, evidence }
  return withEvidence.kind === 'message' ? withAsks(withEvidence, value, row.record) : withEvidence
}

type MessageResult = Extract<DecodedMessage, { readonly kind: 'message' }>

function withAsks(withEvidence: MessageResult, value: string | Buffer, record: JsonRecord): MessageResult {
  const contents = value.includes(CONTENT_PREFIX) ? findContents(record) : []
  const asks = [...findOmissions(withEvidence.message.parts), ...contents]
  return asks.length === 0 ? withEvidence : { ...withEvidence, message: { ...withEvidence.message, asks } }
}

export interface MessagePlace {
  readonly id: MessageId
  readonly octets: number
  readonly isEmbedded: boolean
  readonly toolData: unknown
  readonly listedRole?: Role | null
}

/** Decodes a message's object, from whichever place. */
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
    requestId: tokens === null ? null : filledStringIn(record, 'requestId'),
    parts,
    isSimulated: record['isSimulatedMsg'] === true,
    octets: place.octets,
    isEmbedded: place.isEmbedded,
    ...(childChatIds.length === 0 ? {} : { childChatIds }),
  }
  return { kind: 'message', message, issue }
}

/** The id inside some rows differs from the one in their key; the chat's list may use either. */
function readAlias(record: JsonRecord, id: MessageId): MessageId | null {
  const alias = stringIn(record, 'bubbleId')
  return alias === null || alias === id ? null : asMessageId(alias)
}

/** A number in composers, a word in the older tabs. Null if the entry has no role. */
export function readRole(type: unknown): Role | null {
  if (type === 1 || type === 'user') return 'user'
  return type === undefined || type === null ? null : 'assistant'
}

/**
 * Every row has both counts. Zero, as in all rows since early 2026, means not recorded, and so does an invalid value.
 */
function readTokens(count: JsonRecord | null): MessageDraft['tokens'] {
  return recordedTokens(countIn(count, 'inputTokens'), countIn(count, 'outputTokens'))
}

interface DecodedParts {
  readonly parts: readonly Part[]
  readonly childChatIds: readonly ChatId[]
  readonly issue: IssueReason | null
}

/** A row may contain several things at once. All of them are returned, in the order in which Cursor shows them. */
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

/** The field names differ by build, so every string is used. */
function decodeError(details: unknown): { readonly part: Part | null; readonly isTooDeep: boolean } {
  const parsed = typeof details === 'string' ? (parseJson(details)?.value ?? details) : details
  const leaves = stringLeaves(parsed)
  const part: Part | null = leaves.length === 0 ? null : { kind: 'error', text: leaves.join('\n') }
  return { part, isTooDeep: boundJson(parsed).isTooDeep }
}

/** Known strings of a message's record that are not part of the conversation, or are read elsewhere. */
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
 * Whether a record without anything to show contains words in an unknown field. A future version may rename a field,
 * and its messages would be lost silently. Ids, hashes and paths have no space between words.
 */
const holdsUnknownText = (record: JsonRecord): boolean =>
  Object.entries(record).some(
    ([name, value]) =>
      typeof value === 'string' && value.length >= LENGTH_MIN && /\p{L}\s+\p{L}/u.test(value) && !KNOWN.has(name),
  )
