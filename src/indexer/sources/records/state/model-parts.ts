import type { IssueReason } from '../../../../model/issue.ts'
import type { Json } from '../../../../model/json.ts'
import type { Role } from '../../../../model/message.ts'
import type { Part, ToolPart } from '../../../../model/part.ts'
import { boundJson } from '../json/bound-json.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  listIn,
  numberIn,
  recordIn,
  type JsonRecord,
} from '../json/json-value.ts'
import { readPayload, readToolName, readToolPaths } from '../message/tool-payload.ts'
import { unwrapPrompt } from '../message/unwrap-prompt.ts'

/** Takes the place of a message that could not be read; the reason is recorded elsewhere. */
export const unreadMessage: JsonRecord = Object.freeze({})

/** A call before anything else is known about it. */
export const openCall = { kind: 'tool', status: 'running', input: null, output: null, error: null, paths: [] } as const

/** The decoded content of a message of the model's, without its place. */
export interface DecodedEntry {
  readonly role: Role
  readonly parts: readonly Part[]
  readonly sentAtMs: number | null
  readonly isSimulated: boolean
  /** True if the message contains something that could not be decoded. */
  readonly isGap: boolean
  readonly issue: IssueReason | null
}

const emptyEntry: DecodedEntry = {
  role: 'assistant',
  parts: [],
  sentAtMs: null,
  isSimulated: false,
  isGap: false,
  issue: null,
}
const unknown: DecodedEntry = { ...emptyEntry, isGap: true, issue: 'unknown-shape' }

/** Whether there is anything to show of the message. */
export const isShown = (message: JsonRecord): boolean => decodeEntry(message).parts.length > 0

export function decodeEntry(message: JsonRecord): DecodedEntry {
  if (message === unreadMessage) return { ...emptyEntry, isGap: true }
  const role = message['role']
  if (role === 'system' || role === 'tool') return emptyEntry
  if (role === 'user') return decodePrompt(message)
  return role === 'assistant' ? decodeAnswer(message) : unknown
}

function decodePrompt(message: JsonRecord): DecodedEntry {
  const decoded = contentOf(message).map((part) => decodePromptPart(part))
  const sentAtMs = decoded.map((part) => part?.sentAtMs ?? null).find((time) => time !== null) ?? null
  const texts = decoded.flatMap((part) => part?.texts ?? []).map((text) => ({ kind: 'text' as const, text }))
  const paths = [...new Set(decoded.flatMap((part) => part?.paths ?? []))]
  const parts = [...texts, ...paths.map((path) => ({ kind: 'attachment' as const, path, text: null }))]
  const issue = decoded.includes(null) ? 'unknown-shape' : null
  // A summary that Cursor put in place of messages that no longer fitted.
  const isSimulated = cursorOptions(message)?.['isSummary'] === true
  return { ...emptyEntry, role: 'user', parts, sentAtMs, isSimulated, issue }
}

/** Null for an unknown kind of part. */
function decodePromptPart(part: unknown): ReturnType<typeof unwrapPrompt> | null {
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
      return decodeCall(record ?? {})
    default:
      return { part: null, issue: 'unknown-shape' }
  }
}

function decodeCall(part: JsonRecord): AnswerPart {
  const input = boundJson(readPayload(part['args'] ?? part['input']))
  const name = filledStringIn(part, 'toolName')
  const call: ToolPart = {
    ...openCall,
    name: readToolName(name, input.value),
    callId: filledStringIn(part, 'toolCallId'),
    input: input.value,
    paths: readToolPaths(name, input.value),
  }
  return { part: call, issue: input.isTooDeep ? 'too-deep' : null }
}

export interface NamedResult {
  readonly callId: string
  readonly output: Json
  readonly isError: boolean
  readonly toolName: string | null
  readonly isTooDeep: boolean
}

/** The results of tools in a message. */
export function readResults(message: JsonRecord): readonly NamedResult[] {
  if (message['role'] !== 'tool' && message['role'] !== 'assistant') return []
  const results = contentOf(message).filter((part): part is JsonRecord => kindOf(part) === 'tool-result')
  if (results.length > 0) return results.map((part) => readResult(part, message))
  // Builds with one message per result may leave out the part.
  const isPlain = message['role'] === 'tool' && typeof message['content'] === 'string'
  return isPlain ? [readResult({ ...message, type: 'tool-result', result: message['content'] }, message)] : []
}

function readResult(part: JsonRecord, message: JsonRecord): NamedResult {
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
  const words = squash(parts.map((part) => (part.kind === 'text' ? part.text : '')).join(' '))
  return [words === '' ? null : `user ${words}`]
}

function keyOfPart(part: Part): string | null {
  if (part.kind === 'text' || part.kind === 'thinking') return `${part.kind} ${squash(part.text)}`
  return part.kind === 'tool' && part.callId !== null ? keyOfCall(part.callId) : null
}

export const keyOfCall = (callId: string): string => `call ${callId}`

const squash = (text: string): string => text.replace(/\s+/g, ' ').trim()
