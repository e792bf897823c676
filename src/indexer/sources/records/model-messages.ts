import type { MessageDraft, RowIssue } from '../../../model/change.ts'
import type { MessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Role } from '../../../model/message.ts'
import type { Part, ToolPart } from '../../../model/part.ts'
import type { Outline } from '../../../model/thread.ts'
import {
  parseValue,
  asRecord,
  type JsonRecord,
  stringLeaves,
  boundJson,
  filledString,
  filledStringIn,
  firstFilledIn,
  listIn,
  numberIn,
  recordIn,
} from './json.ts'
import { noInput, openCall, readPayload, withPlans } from './tool.ts'
import { joinPrompts, unwrapPrompt, type Prompt } from './unwrap-prompt.ts'

export type ParsedMessages = ReturnType<typeof parseModelMessages>

/** A blob of what the model saw: one message, or a list of messages. Total. */
export function parseModelMessages(bytes: Buffer) {
  const parsed = parseValue(bytes)
  if (typeof parsed === 'string') return { kind: 'issue' as const, reason: parsed }
  const list: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value]
  const messages = list.map(asRecord).filter((message) => message !== null)
  return messages.length < list.length
    ? { kind: 'issue' as const, reason: 'not-an-object' as const }
    : { kind: 'messages' as const, messages }
}

export interface ModelEntry {
  readonly key: string
  readonly message: JsonRecord
  /** When it was sent, epoch milliseconds, if a source other than the message has the time. */
  readonly atMs?: number | null
  /** True if it exists only in the turns. */
  readonly isFromTurn?: boolean
}

export type EntryIssue = Pick<RowIssue, 'key' | 'reason'>

export type DecodedThread = ReturnType<typeof decodeModelThread>

/** A place in the thread: something to show, or a message that could not be read, which has no role. */
interface Place extends Omit<DecodedEntry, 'role' | 'isGap' | 'issue'> {
  readonly id: MessageId
  readonly role: Role | null
}

/**
 * Decodes the entries, in order, into a thread. System messages are left out; results of tools are joined to their
 * calls. `nameMessage` gives an id to a key and its number of previous occurrences, because a blob can be named twice.
 */
export function decodeModelThread(
  entries: readonly ModelEntry[],
  nameMessage: (key: string, occurrence: number) => MessageId,
) {
  const seen = new Map<string, number>()
  const issues = new Map<string, IssueReason>()
  /** An id can be used again; a result then belongs to the last call before it. */
  const open = new Map<string, ToolPart>()
  const ends = new Map<ToolPart, NamedResult>()
  const places: Place[] = []
  const turnIds = new Set<MessageId>()
  for (const { key, message, atMs = null, isFromTurn = false } of entries) {
    const occurrence = seen.get(key) ?? 0
    seen.set(key, occurrence + 1)
    const decoded = decodeEntry(message)
    const results = readResults(message)
    const issue = decoded.issue ?? (results.some(({ isTooDeep }) => isTooDeep) ? 'too-deep' : null)
    if (issue !== null && !issues.has(key)) issues.set(key, issue)
    for (const part of decoded.parts) if (part.kind === 'tool' && part.callId !== null) open.set(part.callId, part)
    const parts = [...decoded.parts]
    for (const result of results) {
      const { callId, toolName } = result
      const call = open.get(callId) ?? openCall(toolName, callId === '' ? null : callId, noInput).part
      // A result without a call is a part of its own.
      if (!open.delete(callId)) parts.push(call)
      ends.set(call, result)
    }
    if (parts.length === 0 && !decoded.isGap) continue
    const { role, isSimulated } = decoded
    const id = nameMessage(key, occurrence)
    if (isFromTurn) turnIds.add(id)
    places.push({ id, role: decoded.isGap ? null : role, parts, sentAtMs: decoded.sentAtMs ?? atMs, isSimulated })
  }
  const settled = places.map((place, at): Place => {
    const settle = (part: Part): Part =>
      part.kind === 'tool' ? { ...part, ...endOf(ends.get(part), at === places.length - 1) } : part
    return { ...place, parts: place.parts.map(settle) }
  })
  const outline: Outline = settled.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  return {
    messages: settled.flatMap(draftOf),
    outline,
    /** The places that exist only in the turns. */
    turnIds: turnIds as ReadonlySet<MessageId>,
    /** At most one per key; the rest of its message was decoded. */
    issues: [...issues].map(([key, reason]): EntryIssue => ({ key, reason })),
  }
}

/** A call without a result is still running if nothing follows it. */
function endOf(result: NamedResult | undefined, isLast: boolean): Partial<ToolPart> {
  if (result === undefined) return { status: isLast ? 'running' : 'completed' }
  const error = result.isError ? stringLeaves(result.output).join('\n') : ''
  return { status: result.isError ? 'error' : 'completed', output: result.output, error: error || null }
}

const draftOf = ({ id, role, parts, sentAtMs, isSimulated }: Place): MessageDraft[] =>
  role === null || parts.length === 0
    ? []
    : [{ ...plainMessage, id, role, parts: withPlans(parts), sentAtMs, isSimulated }]

/** A message without an id of its own, or anything but its parts. */
export const plainMessage = {
  alias: null,
  isSimulated: false,
  startedAtMs: null,
  timingAtMs: null,
  model: null,
  tokens: null,
  octets: 0,
  isEmbedded: true,
}

/** Takes the place of a message that could not be read; the reason is recorded elsewhere. */
export const unreadMessage: JsonRecord = Object.freeze({})

/** The decoded content of a message of the model's, without its place. */
export type DecodedEntry = Readonly<typeof emptyEntry>

const emptyEntry = {
  role: 'assistant' as Role,
  parts: [] as readonly Part[],
  sentAtMs: null as number | null,
  isSimulated: false,
  /** True if the message contains something that could not be decoded. */
  isGap: false,
  issue: null as IssueReason | null,
}
const unknown: DecodedEntry = { ...emptyEntry, isGap: true, issue: 'unknown-shape' }

export function decodeEntry(message: JsonRecord): DecodedEntry {
  if (message === unreadMessage) return { ...emptyEntry, isGap: true }
  const role = message['role']
  if (role === 'system' || role === 'tool') return emptyEntry
  if (role === 'user') return decodePrompt(message)
  return role === 'assistant' ? decodeAnswer(message) : unknown
}

const asSummary = (part: Part): Part => (part.kind === 'text' ? { kind: 'summary', text: part.text } : part)

function decodePrompt(message: JsonRecord): DecodedEntry {
  const decoded = contentOf(message).map((part) => decodePromptPart(part))
  const { parts: said, sentAtMs } = joinPrompts(decoded.filter((part) => part !== null))
  const issue = decoded.includes(null) ? 'unknown-shape' : null
  // A summary that Cursor put in place of messages that no longer fitted.
  const isSimulated = cursorOptions(message)?.['isSummary'] === true
  return { ...emptyEntry, role: 'user', parts: isSimulated ? said.map(asSummary) : said, sentAtMs, isSimulated, issue }
}

/** Null for an unknown kind of part. */
function decodePromptPart(part: unknown): Prompt | null {
  const text = textOf(part)
  if (text !== null) return unwrapPrompt(text)
  const attached = attachedPath(part)
  if (attached !== null) return { texts: [], paths: [attached], sentAtMs: null }
  return kindOf(part) === 'text' ? { texts: [], paths: [], sentAtMs: null } : null
}

const textOf = (part: unknown): string | null =>
  kindOf(part) === 'text' ? filledString(typeof part === 'string' ? part : asRecord(part)?.['text']) : null

const PATH_LENGTH_MAX = 1024
const isUri = (text: string | null): boolean => text !== null && /^(?:https?|file):/i.test(text)
const isData = (text: string): boolean => /^\s*data:/i.test(text)

/** The name of an image or file; its kind if only its bytes are there. */
function attachedPath(part: unknown): string | null {
  const kind = kindOf(part)
  if (kind !== 'image' && kind !== 'file') return null
  const name = firstFilledIn(asRecord(part), ['filename', 'path', 'url'])
  // These fields are the bytes themselves, or their location.
  const uri = ['image', 'data'].map((field) => filledStringIn(asRecord(part), field)).find((text) => isUri(text))
  return [name, uri].find((text) => typeof text === 'string' && text.length <= PATH_LENGTH_MAX && !isData(text)) ?? kind
}

function decodeAnswer(message: JsonRecord): DecodedEntry {
  const decoded = contentOf(message).map(decodeAnswerPart)
  const parts = decoded.flatMap((part) => part.part ?? [])
  return { ...emptyEntry, parts, issue: decoded.find((part) => part.issue !== null)?.issue ?? null }
}

interface AnswerPart {
  readonly part: Part | null
  readonly issue: IssueReason | null
}

const plain = (part: Part | null): AnswerPart => ({ part, issue: null })

function decodeAnswerPart(part: unknown): AnswerPart {
  const record = asRecord(part)
  const text = textOf(part) ?? filledStringIn(record, 'text')
  const attached = attachedPath(part)
  if (attached !== null) return plain({ kind: 'attachment', path: attached, text: null })
  switch (kindOf(part)) {
    case 'text':
      return plain(text === null ? null : { kind: 'text', text })
    case 'reasoning':
      return plain(text === null ? null : { kind: 'thinking', text, durationMs: numberIn(record, 'durationMs') })
    case 'redacted-reasoning':
    case 'tool-result':
      return plain(null)
    case 'tool-call':
      return openCall(
        filledStringIn(record, 'toolName'),
        filledStringIn(record, 'toolCallId'),
        boundJson(readPayload(record?.['args'] ?? record?.['input'])),
      )
    default:
      return { part: null, issue: 'unknown-shape' }
  }
}

export type NamedResult = ReturnType<typeof readResult>

/** The results of tools in a message. */
export function readResults(message: JsonRecord): readonly NamedResult[] {
  if (message['role'] !== 'tool' && message['role'] !== 'assistant') return []
  const results = contentOf(message).filter((part): part is JsonRecord => kindOf(part) === 'tool-result')
  if (results.length > 0) return results.map((part) => readResult(part, message))
  // Builds with one message per result may leave out the part.
  const isPlain = message['role'] === 'tool' && typeof message['content'] === 'string'
  return isPlain ? [readResult({ ...message, type: 'tool-result', result: message['content'] }, message)] : []
}

function readResult(part: JsonRecord, message: JsonRecord) {
  const highLevel = recordIn(cursorOptions(message), 'highLevelToolCallResult')
  const { value, isFault } = readOutput(part)
  const flags = [part['isError'], part['is_error'], highLevel?.['isError'], recordIn(highLevel, 'output')?.['isError']]
  const output = boundJson(value)
  return {
    callId: firstFilledIn(part, ['toolCallId', 'tool_call_id', 'id']) ?? '',
    toolName: filledStringIn(part, 'toolName'),
    output: output.value,
    isError: isFault || flags.includes(true),
    isTooDeep: output.isTooDeep,
  }
}

const cursorOptions = (message: JsonRecord): JsonRecord | null =>
  recordIn(recordIn(message, 'providerOptions'), 'cursor')

/** A plain value in older builds; in newer ones an object with a type and a value. */
function readOutput(part: JsonRecord): { readonly value: unknown; readonly isFault: boolean } {
  const given = part['result'] ?? part['output'] ?? null
  const box = asRecord(given)
  const kind = box !== null && 'value' in box ? filledStringIn(box, 'type') : null
  const value = readPayload(kind === null ? given : box?.['value'])
  const text = listIn(part, 'experimental_content').flatMap((each) => filledStringIn(asRecord(each), 'text') ?? [])
  return { value: value ?? readPayload(text.join('\n')), isFault: kind?.startsWith('error') === true }
}

/** The parts of a message's content, which may be one text, one part, or a list of both. */
function contentOf(message: JsonRecord): readonly unknown[] {
  const content = message['content'] ?? []
  return Array.isArray(content) ? (content as readonly unknown[]) : [content]
}

const kindOf = (part: unknown): unknown => (typeof part === 'string' ? 'text' : asRecord(part)?.['type'])

/**
 * A key for each part, by which the same part is recognised elsewhere; a whole prompt has one key. Null if there is
 * nothing to recognise it by.
 */
export function keysOf({ role, parts }: DecodedEntry): readonly (string | null)[] {
  if (role !== 'user' || parts.length === 0) return parts.map(keyOfPart)
  const words = squash(
    parts.map((part) => (part.kind === 'text' || part.kind === 'summary' ? part.text : '')).join(' '),
  )
  return [words === '' ? null : `user ${words}`]
}

function keyOfPart(part: Part): string | null {
  if (part.kind === 'text' || part.kind === 'thinking') return `${part.kind} ${squash(part.text)}`
  return part.kind === 'tool' && part.callId !== null ? keyOfCall(part.callId) : null
}

export const keyOfCall = (callId: string): string => `call ${callId}`

const squash = (text: string): string => text.replace(/\s+/g, ' ').trim()
