import type { IssueReason } from '../../../model/issue.ts'
import type { Part } from '../../../model/part.ts'
import { boundJson } from '../records/bound-json.ts'
import { parseExactly } from '../records/exact-json.ts'
import { asRecord, filledStringIn, stringIn, type JsonRecord } from '../records/json-value.ts'
import { readPayload, readToolName, readToolPaths } from '../records/tool-payload.ts'
import { unwrapPrompt } from '../records/unwrap-prompt.ts'
import { openCall, OpenCalls } from './open-calls.ts'
import { answerParts, answerStep, promptStep, type Step, type Steps } from './transcript.ts'

/**
 * The form of one JSON list: `{role, text, toolCalls: [{toolName, args}], toolResult}`. Total: an entry that cannot be read
 * costs no other. Null where the text is no list.
 */
export function decodeRecords(text: string): Steps | null {
  const parsed = parseExactly(text)
  if (!Array.isArray(parsed?.value)) return null
  const entries: readonly unknown[] = parsed.value
  if (entries.length > 0 && !entries.some((entry) => isRole(asRecord(entry)?.['role']))) {
    return { steps: [], issue: 'unknown-shape' }
  }
  const calls = new OpenCalls()
  const steps: Step[] = []
  let issue: IssueReason | null = null
  for (const entry of entries) {
    const decoded = decodeEntry(entry, calls)
    if (decoded.step !== null) steps.push(decoded.step)
    issue ??= decoded.issue
  }
  return { steps, issue }
}

const isRole = (role: unknown): boolean => role === 'user' || role === 'assistant' || role === 'tool'

interface DecodedEntry {
  /** Null for what is no message, such as a result that belongs to a call before it. */
  readonly step: Step | null
  readonly issue: IssueReason | null
}

function decodeEntry(entry: unknown, calls: OpenCalls): DecodedEntry {
  const record = asRecord(entry)
  const role = record?.['role']
  if (record === null || !isRole(role)) {
    // A role of another kind, such as `system`, is no message.
    if (typeof role === 'string') return { step: null, issue: null }
    return { step: { kind: 'gap' }, issue: record === null ? 'not-an-object' : 'unknown-shape' }
  }
  const text = stringIn(record, 'text') ?? ''
  const oddText = (record['text'] ?? null) !== null && typeof record['text'] !== 'string' ? 'unknown-shape' : null
  if (role === 'user') {
    calls.forget()
    return { step: promptStep([unwrapPrompt(text)]), issue: oddText }
  }
  const parts: Part[] = role === 'tool' ? [] : [...answerParts(text)]
  const oddCall = addCalls(parts, record['toolCalls'] ?? [], calls)
  const oddResult = endCall(parts, record, role === 'tool' ? text : '', calls)
  const step = role === 'tool' && parts.length === 0 ? null : answerStep(parts)
  return { step, issue: oddText ?? oddCall ?? oddResult }
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

/** A result mostly names its tool and no more: then it only says that the call ended. */
function endCall(parts: Part[], record: JsonRecord, text: string, calls: OpenCalls): IssueReason | null {
  const result = record['toolResult'] ?? (text === '' ? null : {})
  if (result === null) return null
  const { toolName, ...fields } = asRecord(result) ?? { output: result }
  const [first, ...others] = Object.values(fields)
  const output = boundJson(readPayload((others.length > 0 ? fields : first) ?? text))
  calls.end(typeof toolName === 'string' ? toolName : '', output.value, parts)
  return output.isTooDeep ? 'too-deep' : null
}
