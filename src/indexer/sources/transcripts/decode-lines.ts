import type { IssueReason } from '../../../model/issue.ts'
import type { Role } from '../../../model/message.ts'
import type { Part } from '../../../model/part.ts'
import { boundJson, stringLeaves } from '../records/json/bound-json.ts'
import { parseExactly } from '../records/json/exact-json.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  isBlank,
  type JsonRecord,
} from '../records/json/json-value.ts'
import { readPayload, readToolName, readToolPaths } from '../records/message/tool-payload.ts'
import { unwrapPrompt } from '../records/message/unwrap-prompt.ts'
import { openCall } from './open-calls.ts'
import {
  answerParts,
  answerStep,
  errorStep,
  isRedacted,
  promptStep,
  unread,
  type DecodedStep,
  type Step,
  type Steps,
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
