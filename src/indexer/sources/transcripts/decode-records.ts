import type { IssueReason } from '../../../model/issue.ts'
import type { Part } from '../../../model/part.ts'
import { boundJson } from '../records/json/bound-json.ts'
import { parseExactly } from '../records/json/exact-json.ts'
import { asRecord, filledStringIn, stringIn, type JsonRecord } from '../records/json/json-value.ts'
import { readPayload, readToolName, readToolPaths } from '../records/message/tool-payload.ts'
import { unwrapPrompt } from '../records/message/unwrap-prompt.ts'
import { openCall, OpenCalls } from './open-calls.ts'
import { answerParts, answerStep, promptStep, unread, type DecodedStep, type Step, type Steps } from './transcript.ts'

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
