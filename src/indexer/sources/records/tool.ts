import { CALL_CHAT_PREFIX } from '../../../model/chat.ts'
import { type ChatId, asChatId } from '../../../model/ids.ts'
import type { CodePart, Part, ToolPart, ToolStatus } from '../../../model/part.ts'
import * as json from './json.ts'
import type { BoundedJson, JsonRecord } from './json.ts'

/** A row's tool call: from its own data, or from the chat's row, where old builds stored it. */
export function decodeTool(own: unknown, fromChat: unknown) {
  const record = [own, fromChat].map(json.parsedRecord).find((candidate) => candidate !== null && isCall(candidate))
  return record === undefined || record === null ? null : decodeCall(record)
}

/** A third of all tool data contains only a status: that is bookkeeping and not a call. */
function isCall(record: JsonRecord): boolean {
  if (json.filledStringIn(record, 'name') !== null || readToolError(record['error']) !== null) return true
  return ['params', 'rawArgs', 'result'].some((name) => json.holdsSomething(readPayload(record[name])))
}

function decodeCall(record: JsonRecord) {
  const additional = json.parsedRecord(record['additionalData'])
  const error = readToolError(record['error'])
  const given = json.boundJson(readInput(record))
  const result = readPayload(record['result'])
  const written = json.filledStringIn(record, 'name')
  const output = json.boundJson(readOutput(result, additional, written))
  const { name, input, paths } = readCalled(written, given)
  const part: ToolPart = {
    kind: 'tool',
    name,
    status: toolStatus({ record, additional, result, error }),
    callId: json.filledStringIn(record, 'toolCallId'),
    input: input.value,
    output: output.value,
    error,
    paths,
  }
  return {
    part,
    /** Code that the call wrote or changed, if the row stores it apart from the result. */
    code: toolCode(additional, paths[0] ?? null),
    childChatIds: readStartedChats(record, additional),
    isTooDeep: input.isTooDeep || output.isTooDeep,
  }
}

function toolCode(additional: JsonRecord | null, path: string | null): readonly CodePart[] {
  const lines = json.listIn(json.parsedRecord(additional?.['precomputedDiff']), 'lines').flatMap((each) => {
    const line = json.asRecord(each)
    const content = json.stringIn(line, 'content')
    return content === null ? [] : `${diffMark(json.stringIn(line, 'type') ?? '')}${content}`
  })
  const diff = lines.join('\n')
  const block = decodeCodeBlock(json.parsedRecord(additional?.['codeblock']))
  return [
    ...(json.isBlank(diff) ? [] : [{ kind: 'code' as const, language: 'diff', path, text: diff }]),
    ...(block === null ? [] : [{ ...block, path: block.path ?? path }]),
  ]
}

/** Cursor's words for the kind of a line vary: added, removed, and several for an unchanged line. */
function diffMark(type: string): string {
  if (/^(?:add|ins|\+)/i.test(type)) return '+'
  return /^(?:rem|del|-)/i.test(type) ? '-' : ' '
}

/**
 * The chat of the subagent that a call started. Newer builds name it, beside the call or in its result. Older ones derived
 * its id from the call's id, so it is known only if such a chat exists. The chats' own rows do not reliably name each other.
 */
function readStartedChats(call: JsonRecord, additional: JsonRecord | null): readonly ChatId[] {
  const isTask = /^task(?:_v\d+)?$/i.test(json.filledStringIn(call, 'name') ?? '')
  const agentId = isTask ? json.filledStringIn(json.parsedRecord(call['result']), 'agentId') : null
  const named = json.filledStringIn(additional, 'subagentComposerId') ?? agentId
  if (named !== null) return [asChatId(named)]
  const callId = json.filledStringIn(call, 'toolCallId')
  return isTask && callId !== null ? [asChatId(`${CALL_CHAT_PREFIX}${callId}`)] : []
}

/**
 * The parts, with the plan that a call of the planning tool writes as a part of its own. Later versions of the plan are only
 * in a file.
 */
export function withPlans(parts: readonly Part[]): readonly Part[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'tool' || !/^create_?plan$/i.test(part.name)) return part
    const input = json.asRecord(part.input)
    const text = json.filledStringIn(input, 'plan')
    return text === null
      ? part
      : [part, { kind: 'plan' as const, title: json.filledStringIn(input, 'name'), path: null, text }]
  })
}

/** A call of which only the arguments are known. */
export function openCall(written: string | null, callId: string | null, given: BoundedJson) {
  const { name, input, paths } = readCalled(written, given)
  const told = { name, callId, input: input.value, paths }
  const part: ToolPart = { kind: 'tool', status: 'running', output: null, error: null, ...told }
  return { part, issue: input.isTooDeep ? ('too-deep' as const) : null }
}

export const noInput: BoundedJson = { value: null, isTooDeep: false }

/** Cursor writes payloads as JSON strings, plain text or objects. Blank text is no payload. */
export function readPayload(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null
  return json.isBlank(value) ? null : json.parsedOrText(value)
}

/** `params` is Cursor's version of the arguments. `rawArgs` is the model's text, incomplete while it streams. */
export function readInput(record: JsonRecord): unknown {
  const params = readPayload(record['params'])
  if (json.holdsSomething(params)) return params
  const rawArgs = readPayload(record['rawArgs'])
  return json.holdsSomething(rawArgs) ? rawArgs : (params ?? rawArgs)
}

/** These have parts of their own, or are bookkeeping. `composerData` is a whole other chat. */
const neverOutput = new Set(['composerData', 'precomputedDiff', 'codeblock', 'subagentComposerId', 'status'])

/**
 * The result. If the build left it out, the additional data is used. The answers to a question may stand only there, beside
 * a result that tells no more than that it was answered.
 */
function readOutput(result: unknown, additional: JsonRecord | null, name: string | null): unknown {
  const isQuestion = /^ask_?question/i.test(name ?? '')
  if (json.holdsSomething(result) && !isQuestion) return result
  const rest = Object.entries(additional ?? {}).filter(([field]) => !neverOutput.has(field))
  if (!rest.some(([field, value]) => json.holdsSomething(value) && !isBookkeeping(field))) return result
  return { ...(json.holdsSomething(result) ? (json.asRecord(result) ?? { result }) : {}), ...Object.fromEntries(rest) }
}

const isBookkeeping = (name: string): boolean => name === 'reviewData' || /^ids?$|Ids?$/.test(name)

/** The message for people, else the one for the model, else any text. */
function readToolError(error: unknown): string | null {
  const record = json.parsedRecord(error)
  const message = json.firstFilledIn(record, ['clientVisibleErrorMessage', 'modelVisibleErrorMessage'])
  if (message !== null) return message
  const leaves = json.stringLeaves(typeof error === 'string' ? error : record)
  return leaves.length === 0 ? null : leaves.join('\n')
}

const genericMcpNames: ReadonlySet<string> = new Set(['mcp', 'call_mcp_tool', 'callmcptool'])

/**
 * The tool of a call, its arguments, and the files that they name. If Cursor names only a generic MCP tool, the arguments
 * tell which tool of which server it was: `server.tool`.
 */
function readCalled(written: string | null, given: BoundedJson) {
  const name = written ?? 'unknown'
  if (!genericMcpNames.has(name.toLowerCase())) return { name, input: given, paths: readToolPaths(name, given.value) }
  const record = json.asRecord(given.value)
  const [listed, ...others] = json.listIn(record, 'tools')
  const call = json.asRecord(listed) ?? record
  const tool = json.firstFilledIn(call, listed === undefined ? ['toolName'] : ['name'])
  if (tool === null) return { name, input: given, paths: noPaths }
  const server = json.firstFilledIn(call, ['serverName', 'server'])
  const args = readPayload(call?.['arguments'] ?? call?.['parameters'])
  // Of several tools, the first one gives the name, and all of them are shown.
  const input = args === null || others.length > 0 ? given : json.boundJson(args)
  return { name: server === null ? tool : `${server}.${tool}`, input, paths: noPaths }
}

/** The arguments of an MCP tool name no files: a `path` there can be anything. */
const noPaths: readonly string[] = []

const pathFields = [
  'relativeWorkspacePath',
  'targetFile',
  'target_file',
  'file_path',
  'filePath',
  'path',
  'targetDirectory',
  'target_directory',
  'relative_workspace_path',
  'notebook_path',
  'target_notebook',
  'effectiveUri',
]

/** Files and folders in the arguments, or in a patch among them. */
export function readToolPaths(name: string | null, input: unknown): readonly string[] {
  if (typeof input === 'string') return pathsInPatch(input)
  const record = json.asRecord(input)
  if (record === null || /^mcp[_-]/i.test(name ?? '')) return noPaths
  const named = [...pathFields.map((field) => record[field]), ...json.listIn(record, 'paths')].map(json.readUriPath)
  const patched = pathsInPatch(json.stringIn(record, 'patch') ?? json.stringIn(record, 'input') ?? '')
  return [...new Set([...named.filter((path) => path !== null), ...patched])]
}

/** Files that a patch names, if the input of a call is the patch itself: `*** Update File: src/a.ts`. */
function pathsInPatch(text: string): readonly string[] {
  const named = text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)
  return [...new Set([...named].map(([, path]) => (path ?? '').trim()))].filter((path) => path !== '')
}

const statuses: readonly (readonly [words: RegExp, status: ToolStatus])[] = [
  [/^(?:completed|success|submitted)$/i, 'completed'],
  [/^(?:error|failed)$/i, 'error'],
  [/^(?:cancell?ed|aborted)$/i, 'cancelled'],
  [/^rejected$/i, 'rejected'],
  [/^(?:loading|running|pending|generating)$/i, 'running'],
]

interface ToolOutcome {
  readonly record: JsonRecord
  readonly additional: JsonRecord | null
  readonly result: unknown
  readonly error: string | null
}

/**
 * How a call ended. A rejected command has the `status` `completed`, and the true state of a question is in its
 * additional data, so `status` is read last.
 */
function toolStatus(call: ToolOutcome): ToolStatus {
  if (isRejected(call)) return 'rejected'
  // Cursor gives tool number 0 to a call that it could not interpret.
  if (call.record['tool'] === 0 && call.error !== null) return 'error'
  const status = wordStatus(call.additional) ?? wordStatus(call.record)
  if (status !== null) return status
  if (call.error !== null) return 'error'
  return json.holdsSomething(call.result) ? 'completed' : 'running'
}

function wordStatus(record: JsonRecord | null): ToolStatus | null {
  const word = json.filledStringIn(record, 'status')?.trim() ?? ''
  return statuses.find(([words]) => words.test(word))?.[1] ?? null
}

/**
 * Why a call was blocked (`blockReason`) stays in its row after the user allowed it, and does not tell how it ended. The
 * option of a dialog is only its default until its status is `Done`.
 */
function isRejected({ record, additional, result }: ToolOutcome): boolean {
  const review = json.parsedRecord(additional?.['reviewData'])
  const option = json.filledStringIn(review, 'status') === 'Done' ? json.filledStringIn(review, 'selectedOption') : null
  if (/^reject/i.test(option ?? '')) return true
  if (option === 'accept' || option === 'run') return false
  return record['userDecision'] === 'rejected' || json.asRecord(result)?.['rejected'] === true
}

/** The row's code blocks, without those that the text already shows: newer builds write both. */
export function decodeCode(record: JsonRecord, text: string): readonly CodePart[] {
  const blocks = [...json.listIn(record, 'codeBlocks'), ...json.listIn(record, 'suggestedCodeBlocks')]
  const parts = blocks.map((block) => decodeCodeBlock(json.asRecord(block))).filter((part) => part !== null)
  return withoutCopies(parts.filter((part) => !text.includes(part.text.trim())))
}

function decodeCodeBlock(block: JsonRecord | null): CodePart | null {
  const text = json.filledStringIn(block, 'content')
  if (text === null) return null
  return {
    kind: 'code',
    language: json.filledStringIn(block, 'languageId'),
    path: json.readUriPath(block?.['uri']),
    text,
  }
}

/** A written file appears in up to three fields of its row, and only some of them have its path. */
export function withoutCopies(parts: readonly CodePart[]): readonly CodePart[] {
  if (parts.length < 2) return parts
  const textsWithPath = new Set(parts.filter((part) => part.path !== null).map((part) => part.text))
  const kept = new Map<string, CodePart>()
  for (const part of parts) {
    const key = `${part.path ?? ''}\0${part.text}`
    const isCopy = kept.has(key) || (part.path === null && textsWithPath.has(part.text))
    if (!isCopy) kept.set(key, part)
  }
  return [...kept.values()]
}
