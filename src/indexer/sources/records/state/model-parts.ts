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

/** Stands where a message is that could not be read; why is told elsewhere. */
export const unreadMessage: JsonRecord = Object.freeze({})

/** A call of which nothing is known yet. */
export const openCall = { kind: 'tool', status: 'running', input: null, output: null, error: null, paths: [] } as const

/** What a message of the model's says, without its place. */
export interface Said {
  readonly role: Role
  readonly parts: readonly Part[]
  readonly sentAtMs: number | null
  readonly isSimulated: boolean
  /** True where something stands there that cannot be told. */
  readonly isGap: boolean
  readonly issue: IssueReason | null
}

const silence: Said = { role: 'assistant', parts: [], sentAtMs: null, isSimulated: false, isGap: false, issue: null }
const unknown: Said = { ...silence, isGap: true, issue: 'unknown-shape' }

/** Whether a person would be shown something of the message. */
export const isShown = (message: JsonRecord): boolean => decodeEntry(message).parts.length > 0

export function decodeEntry(message: JsonRecord): Said {
  if (message === unreadMessage) return { ...silence, isGap: true }
  const role = message['role']
  if (role === 'system' || role === 'tool') return silence
  if (role === 'user') return decodePrompt(message)
  return role === 'assistant' ? decodeAnswer(message) : unknown
}

function decodePrompt(message: JsonRecord): Said {
  const decoded = contentOf(message).map((part) => decodePromptPart(part))
  const sentAtMs = decoded.map((part) => part?.sentAtMs ?? null).find((time) => time !== null) ?? null
  const texts = decoded.flatMap((part) => part?.texts ?? []).map((text) => ({ kind: 'text' as const, text }))
  const paths = [...new Set(decoded.flatMap((part) => part?.paths ?? []))]
  const parts = [...texts, ...paths.map((path) => ({ kind: 'attachment' as const, path, text: null }))]
  const issue = decoded.includes(null) ? 'unknown-shape' : null
  // What Cursor itself put in place of messages that no longer fit.
  const isSimulated = cursorOptions(message)?.['isSummary'] === true
  return { ...silence, role: 'user', parts, sentAtMs, isSimulated, issue }
}

/** Null for a part of no known kind. */
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

/** What names a picture or a file; of one that is only there as bytes, that it was there. */
function attachedPath(part: unknown): string | null {
  const kind = kindOf(part)
  if (kind !== 'image' && kind !== 'file') return null
  const name = firstFilledIn(asRecord(part), ['filename', 'path', 'url'])
  // These are the bytes themselves, or say where they are.
  const uri = ['image', 'data'].map((field) => filledStringIn(asRecord(part), field)).find((text) => isUri(text))
  return [name, uri].find((text) => typeof text === 'string' && text.length <= PATH_LENGTH_MAX && !isData(text)) ?? kind
}

function decodeAnswer(message: JsonRecord): Said {
  const decoded = contentOf(message).map(decodeAnswerPart)
  const parts = decoded.flatMap((part) => part.part ?? [])
  return { ...silence, parts, issue: decoded.find((part) => part.issue !== null)?.issue ?? null }
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

/** What tools gave back, as a message tells it. */
export function readResults(message: JsonRecord): readonly NamedResult[] {
  if (message['role'] !== 'tool' && message['role'] !== 'assistant') return []
  const results = contentOf(message).filter((part): part is JsonRecord => kindOf(part) === 'tool-result')
  if (results.length > 0) return results.map((part) => readResult(part, message))
  // Builds that have a message of its own for each result may leave the part out.
  const isPlain = message['role'] === 'tool' && typeof message['content'] === 'string'
  return isPlain ? [readResult({ ...message, type: 'tool-result', result: message['content'] }, message)] : []
}

function readResult(part: JsonRecord, message: JsonRecord): NamedResult {
  const told = recordIn(cursorOptions(message), 'highLevelToolCallResult')
  const { value, isFault } = readOutput(part)
  const flags = [part['isError'], part['is_error'], told?.['isError'], recordIn(told, 'output')?.['isError']]
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

/** Plain in older builds; in newer ones in a box that says of what kind it is. */
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

/** What each thing that is said can be recognised by; a prompt is one thing. Null for what cannot be recognised. */
export function keysOfSaid({ role, parts }: Said): readonly (string | null)[] {
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
