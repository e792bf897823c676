import { type ChatId, asChatId } from '../../../../model/ids.ts'
import type { CodePart, ToolPart } from '../../../../model/part.ts'
import { boundJson } from '../json/bound-json.ts'
import { decodeCodeBlock } from './decode-code.ts'
import {
  asRecord,
  filledStringIn,
  holdsSomething,
  isBlank,
  listIn,
  parsedRecord,
  stringIn,
  type JsonRecord,
} from '../json/json-value.ts'
import { readInput, readOutput, readPayload, readToolError, readToolName, readToolPaths } from './tool-payload.ts'
import { toolStatus } from './tool-status.ts'
import { CALL_CHAT_PREFIX } from '../../../../model/chat.ts'

export interface DecodedTool {
  readonly part: ToolPart
  /** Code that the call wrote or changed, if the row stores it apart from the result. */
  readonly code: readonly CodePart[]
  readonly childChatIds: readonly ChatId[]
  readonly isTooDeep: boolean
}

/** A row's tool call: from its own data, or from the chat's row, where old builds stored it. */
export function decodeTool(own: unknown, fromChat: unknown): DecodedTool | null {
  const record = [own, fromChat].map(parsedRecord).find((candidate) => candidate !== null && isCall(candidate))
  return record === undefined || record === null ? null : decodeCall(record)
}

/** A third of all tool data contains only a status: that is bookkeeping and not a call. */
function isCall(record: JsonRecord): boolean {
  if (filledStringIn(record, 'name') !== null || readToolError(record['error']) !== null) return true
  return ['params', 'rawArgs', 'result'].some((name) => holdsSomething(readPayload(record[name])))
}

function decodeCall(record: JsonRecord): DecodedTool {
  const additional = parsedRecord(record['additionalData'])
  const error = readToolError(record['error'])
  const input = boundJson(readInput(record))
  const result = readPayload(record['result'])
  const output = boundJson(readOutput(result, additional))
  const name = filledStringIn(record, 'name')
  const paths = readToolPaths(name, input.value)
  const part: ToolPart = {
    kind: 'tool',
    name: readToolName(name, input.value),
    status: toolStatus({ record, additional, result, error }),
    callId: filledStringIn(record, 'toolCallId'),
    input: input.value,
    output: output.value,
    error,
    paths,
  }
  return {
    part,
    code: toolCode(additional, paths[0] ?? null),
    childChatIds: readStartedChats(record, additional),
    isTooDeep: input.isTooDeep || output.isTooDeep,
  }
}

function toolCode(additional: JsonRecord | null, path: string | null): readonly CodePart[] {
  const diff = diffText(parsedRecord(additional?.['precomputedDiff']))
  const diffPart: CodePart | null = diff === null ? null : { kind: 'code', language: 'diff', path, text: diff }
  const block = decodeCodeBlock(parsedRecord(additional?.['codeblock']))
  const blockPart = block === null ? null : { ...block, path: block.path ?? path }
  return [diffPart, blockPart].filter((part) => part !== null)
}

function diffText(diff: JsonRecord | null): string | null {
  const lines = listIn(diff, 'lines').map((line) => diffLine(asRecord(line)))
  const text = lines.filter((line) => line !== null).join('\n')
  return isBlank(text) ? null : text
}

function diffLine(line: JsonRecord | null): string | null {
  const content = stringIn(line, 'content')
  return content === null ? null : `${diffMark(stringIn(line, 'type') ?? '')}${content}`
}

/** Cursor's words for the kind of a line vary: added, removed, and several for an unchanged line. */
function diffMark(type: string): string {
  if (/^(?:add|ins|\+)/i.test(type)) return '+'
  return /^(?:rem|del|-)/i.test(type) ? '-' : ' '
}

const none: readonly ChatId[] = []

/**
 * The chat of the subagent that a call started. Newer builds name it. Older ones derived its id from the call's id, so
 * it is known only if such a chat exists. The chats' own rows do not reliably name each other.
 */
function readStartedChats(call: JsonRecord, additional: JsonRecord | null): readonly ChatId[] {
  const named = filledStringIn(additional, 'subagentComposerId')
  if (named !== null) return [asChatId(named)]
  const callId = filledStringIn(call, 'toolCallId')
  const isTask = /^task(?:_v\d+)?$/i.test(filledStringIn(call, 'name') ?? '')
  return isTask && callId !== null ? [asChatId(`${CALL_CHAT_PREFIX}${callId}`)] : none
}
