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
import { openCall, readPayload } from '../records/tool.ts'
import { unwrapPrompt } from '../records/unwrap-prompt.ts'
import {
  answerParts,
  answerStep,
  errorStep,
  isRedacted,
  promptStep,
  unread,
  type Step,
  type Steps,
  OpenCalls,
} from './transcript.ts'

/** The JSON Lines format: one JSON object per line. Total: an unreadable line does not affect other lines. */
export function decodeLines(text: string): Steps {
  const lines = text.split('\n')
  const calls = new OpenCalls()
  const steps = lines.flatMap((line, index) => {
    if (isBlank(line)) return []
    const parsed = parseExactly(line)
    if (parsed !== null) return decodeLine(parsed.value, calls)
    // The last line has no line break yet: Cursor is still writing it, and the next pass reads it.
    return index === lines.length - 1 ? [] : unread('bad-json')
  })
  return { steps }
}

function decodeLine(value: unknown, calls: OpenCalls): Step {
  const line = asRecord(value)
  if (line === null) return unread('not-an-object')
  const role = readRole(line)
  if (role === null) return decodeControl(line)
  const blocks = readBlocks(line)
  const parts: Part[] = []
  const issues = blocks.map((block) => addBlock(parts, block, role, calls))
  const issue = issues.find((each) => each !== null) ?? null
  if (role === 'assistant') return { ...answerStep(parts), issue }
  const prompts = blocks.flatMap((block) => blockText(block) ?? []).map(unwrapPrompt)
  // The results of calls stand in a line of the user's, as the model is told them.
  if (prompts.length === 0 && blocks.some(isResult))
    return parts.length === 0 ? { ...noMessage, issue } : { ...answerStep(parts), issue }
  calls.clear()
  return { ...promptStep(prompts), issue }
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

const isResult = (block: JsonRecord | string): boolean => typeof block !== 'string' && block['type'] === 'tool_result'

/** Blocks with nothing that can be shown: what Cursor left out, and bytes. */
const empty: ReadonlySet<unknown> = new Set(['redacted', 'redacted_thinking', 'image', 'document'])

/** Adds what an answer says; of a prompt only results of calls, because its texts are unwrapped together. */
function addBlock(parts: Part[], block: JsonRecord | string, role: Role, calls: OpenCalls): IssueReason | null {
  if (typeof block === 'string' || isText(block)) {
    const text = role === 'user' ? null : blockText(block)
    if (text !== null) parts.push(...answerParts(text))
  } else if (block['type'] === 'tool_use') {
    const [name, callId] = [filledStringIn(block, 'name'), filledStringIn(block, 'id')]
    const { part, issue } = openCall(name, callId, boundJson(readPayload(block['input'])))
    calls.add(parts, part)
    return issue
  } else if (isResult(block)) {
    const output = boundJson(readResult(block['content']))
    calls.answer(filledStringIn(block, 'tool_use_id'), output.value, block['is_error'] === true, parts)
    return output.isTooDeep ? 'too-deep' : null
  } else if (block['type'] === 'thinking') {
    const thinking = firstFilledIn(block, ['thinking', 'text'])
    if (thinking !== null && !isRedacted(thinking)) parts.push({ kind: 'thinking', text: thinking, durationMs: null })
  } else if (!empty.has(block['type'])) return 'unknown-shape'
  return null
}

/** A text, or a list of blocks of text. */
function readResult(content: unknown): unknown {
  const texts = Array.isArray(content)
    ? content.flatMap((each: unknown) => filledString(each) ?? filledStringIn(asRecord(each), 'text') ?? [])
    : []
  return readPayload(texts.length > 0 ? texts.join('\n') : content)
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
  return { steps: entries.map((entry) => decodeEntry(entry, calls)) }
}

const isRole = (role: unknown): boolean => role === 'user' || role === 'assistant' || role === 'tool'

/** An entry that is not a message, such as the result of an earlier call. */
const noMessage: Step = { kind: 'control', turn: null, error: '' }

function decodeEntry(entry: unknown, calls: OpenCalls): Step {
  const record = asRecord(entry)
  const role = record?.['role']
  if (record === null) return unread('not-an-object')
  if (!isRole(role)) return typeof role === 'string' ? noMessage : unread('unknown-shape')
  const text = stringIn(record, 'text') ?? ''
  const oddText = typeof (record['text'] ?? '') === 'string' ? null : 'unknown-shape'
  if (role === 'user') {
    calls.clear()
    return { ...promptStep([unwrapPrompt(text)]), issue: oddText }
  }
  const parts: Part[] = role === 'tool' ? [] : [...answerParts(text)]
  const oddCall = addCalls(parts, record['toolCalls'] ?? [], calls)
  const oddResult = endCall(parts, record, role === 'tool' ? text : '', calls)
  const step = role === 'tool' && parts.length === 0 ? noMessage : answerStep(parts)
  return { ...step, issue: oddText ?? oddCall ?? oddResult }
}

function addCalls(parts: Part[], toolCalls: unknown, calls: OpenCalls): IssueReason | null {
  if (!Array.isArray(toolCalls)) return 'unknown-shape'
  let found: IssueReason | null = null
  for (const call of (toolCalls as readonly unknown[]).map(asRecord)) {
    const { part, issue } = openCall(filledStringIn(call, 'toolName'), null, boundJson(readPayload(call?.['args'])))
    if (call !== null) calls.add(parts, part)
    found ??= call === null ? 'unknown-shape' : issue
  }
  return found
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
