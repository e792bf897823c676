import type { IssueReason } from '../../../model/issue.ts'
import type { Role } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import {
  boundJson,
  stringLeaves,
  parseExactly,
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  isBlank,
  type JsonRecord,
  stringIn,
} from '../records/json.ts'
import { readPayload, readToolName, readToolPaths } from '../records/tool.ts'
import { unwrapPrompt } from '../records/unwrap-prompt.ts'
import {
  openCall,
  answerParts,
  answerStep,
  errorStep,
  isRedacted,
  promptStep,
  unread,
  type DecodedStep,
  type Step,
  type Steps,
  OpenCalls,
} from './transcript.ts'

/** The JSON Lines format: one JSON object per line. Total: an unreadable line does not affect other lines. */
export function decodeLines(text: string): Steps {
  const lines = text.split('\n')
  const steps: Step[] = []
  let issue: IssueReason | null = null
  for (const [index, line] of lines.entries()) {
    if (isBlank(line)) continue
    const parsed = parseExactly(line)
    // The last line has no line break yet: Cursor is still writing it, and the next pass reads it.
    if (parsed === null && index === lines.length - 1) break
    const decoded = parsed === null ? unread('bad-json') : decodeLine(parsed.value)
    steps.push(decoded.step)
    issue ??= decoded.issue
  }
  return { steps, issue }
}

function decodeLine(value: unknown): DecodedStep {
  const line = asRecord(value)
  if (line === null) return unread('not-an-object')
  const role = readRole(line)
  if (role === null) return { step: decodeControl(line), issue: null }
  const blocks = readBlocks(line)
  return role === 'user' ? decodePrompt(blocks) : decodeAnswer(blocks)
}

function readRole(line: JsonRecord): Role | null {
  const words = [line['role'], asRecord(line['message'])?.['role'], line['type']]
  return words.find((word): word is Role => word === 'user' || word === 'assistant') ?? null
}

/** Lines about the run. An error is shown, because it may be the only answer to a prompt. */
function decodeControl(line: JsonRecord): Step {
  if (line['type'] === 'error') {
    const text = stringLeaves(line['error'] ?? line['message']).join('\n')
    if (text !== '') return errorStep(text)
  }
  if (line['type'] !== 'turn_ended') return { kind: 'control', turn: null, error: '' }
  const turn = line['status'] === 'aborted' || line['status'] === 'error' ? 'cut' : 'ended'
  return { kind: 'control', turn, error: stringLeaves(line['error']).join('\n') }
}

/** The content: a list of blocks, one block, or plain text. */
function readBlocks(line: JsonRecord): readonly (JsonRecord | string)[] {
  const message = asRecord(line['message'])
  const content = message === null ? (line['message'] ?? line['content']) : (message['content'] ?? message)
  const list: readonly unknown[] = Array.isArray(content) ? content : [content]
  return list.map((block) => (typeof block === 'string' ? block : asRecord(block))).filter((block) => block !== null)
}

const isText = (block: JsonRecord | string): boolean =>
  typeof block === 'string' || block['type'] === 'text' || block['type'] === undefined

const blockText = (block: JsonRecord | string): string | null =>
  isText(block) ? filledString(typeof block === 'string' ? block : block['text']) : null

function decodePrompt(blocks: readonly (JsonRecord | string)[]): DecodedStep {
  const texts = blocks.map(blockText).filter((text) => text !== null)
  return { step: promptStep(texts.map(unwrapPrompt)), issue: null }
}

function decodeAnswer(blocks: readonly (JsonRecord | string)[]): DecodedStep {
  const decoded = blocks.map(decodeBlock)
  const isTooDeep = decoded.some((block) => block.isTooDeep)
  return { step: answerStep(decoded.flatMap((block) => block.parts)), issue: isTooDeep ? 'too-deep' : null }
}

interface DecodedBlock {
  readonly parts: readonly Part[]
  readonly isTooDeep: boolean
}

function decodeBlock(block: JsonRecord | string): DecodedBlock {
  const text = blockText(block)
  if (text !== null) return { parts: answerParts(text), isTooDeep: false }
  if (typeof block !== 'string' && block['type'] === 'tool_use') return decodeCall(block)
  const thinking = typeof block !== 'string' && block['type'] === 'thinking' ? firstFilledIn(block, thoughts) : null
  const isShown = thinking !== null && !isRedacted(thinking)
  return { parts: isShown ? [{ kind: 'thinking', text: thinking, durationMs: null }] : [], isTooDeep: false }
}

const thoughts = ['thinking', 'text']

function decodeCall(block: JsonRecord): DecodedBlock {
  const name = filledStringIn(block, 'name')
  const input = boundJson(readPayload(block['input']))
  const paths = readToolPaths(name, input.value)
  const call = { name: readToolName(name, input.value), callId: filledStringIn(block, 'id'), input: input.value, paths }
  return { parts: [openCall(call)], isTooDeep: input.isTooDeep }
}

/**
 * The JSON list format: `{role, text, toolCalls: [{toolName, args}], toolResult}`. Total: an unreadable entry does not
 * affect other entries. Null if the text is not a list.
 */
export function decodeRecords(text: string): Steps | null {
  const parsed = parseExactly(text)
  if (!Array.isArray(parsed?.value)) return null
  const entries: readonly unknown[] = parsed.value
  if (entries.length > 0 && !entries.some((entry) => isRole(asRecord(entry)?.['role']))) {
    return { steps: [], issue: 'unknown-shape' }
  }
  const calls = new OpenCalls()
  const decoded = entries.map((entry) => decodeEntry(entry, calls))
  return { steps: decoded.map(({ step }) => step), issue: decoded.find(({ issue }) => issue !== null)?.issue ?? null }
}

const isRole = (role: unknown): boolean => role === 'user' || role === 'assistant' || role === 'tool'

/** An entry that is not a message, such as the result of an earlier call. */
const noMessage: Step = { kind: 'control', turn: null, error: '' }

function decodeEntry(entry: unknown, calls: OpenCalls): DecodedStep {
  const record = asRecord(entry)
  const role = record?.['role']
  if (record === null) return unread('not-an-object')
  if (!isRole(role)) return typeof role === 'string' ? { step: noMessage, issue: null } : unread('unknown-shape')
  const text = stringIn(record, 'text') ?? ''
  const oddText = typeof (record['text'] ?? '') === 'string' ? null : 'unknown-shape'
  if (role === 'user') {
    calls.clear()
    return { step: promptStep([unwrapPrompt(text)]), issue: oddText }
  }
  const parts: Part[] = role === 'tool' ? [] : [...answerParts(text)]
  const oddCall = addCalls(parts, record['toolCalls'] ?? [], calls)
  const oddResult = endCall(parts, record, role === 'tool' ? text : '', calls)
  const isNoMessage = role === 'tool' && parts.length === 0
  return { step: isNoMessage ? noMessage : answerStep(parts), issue: oddText ?? oddCall ?? oddResult }
}

function addCalls(parts: Part[], toolCalls: unknown, calls: OpenCalls): IssueReason | null {
  if (!Array.isArray(toolCalls)) return 'unknown-shape'
  let issue: IssueReason | null = null
  for (const call of (toolCalls as readonly unknown[]).map(asRecord)) {
    const name = filledStringIn(call, 'toolName')
    const input = boundJson(readPayload(call?.['args']))
    const paths = readToolPaths(name, input.value)
    if (call === null) issue ??= 'unknown-shape'
    else calls.add(parts, openCall({ name: readToolName(name, input.value), callId: null, input: input.value, paths }))
    if (input.isTooDeep) issue ??= 'too-deep'
  }
  return issue
}

/** Most results contain only the name of their tool; they only tell that the call ended. */
function endCall(parts: Part[], record: JsonRecord, text: string, calls: OpenCalls): IssueReason | null {
  const result = record['toolResult'] ?? (text === '' ? null : {})
  if (result === null) return null
  const { toolName, ...fields } = asRecord(result) ?? { output: result }
  const [first, ...others] = Object.values(fields)
  const output = boundJson(readPayload((others.length > 0 ? fields : first) ?? text))
  calls.end(typeof toolName === 'string' ? toolName : '', output.value, parts)
  return output.isTooDeep ? 'too-deep' : null
}
