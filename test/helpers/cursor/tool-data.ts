import type { Ending, Step, ToolAct, ToolStep } from './steps.ts'

/** `old` builds are those up to the turn of the year; `new` ones have other names and shorter results. */
export type Build = 'old' | 'new'

interface Payload {
  readonly tool: number
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
  readonly result: unknown
  readonly additionalData?: Readonly<Record<string, unknown>>
}

/** A tool call as stored in a message. Payloads are JSON inside JSON. */
export function toolData(step: ToolStep, build: Build, callId: string): Record<string, unknown> {
  const payload = payloadOf(step.act, build, callId)
  return { ...callHead(payload, callId), ...endingOf(step.ending, payload) }
}

/** The same call while it is running: with arguments, but without a result. */
export function loadingToolData(step: ToolStep, build: Build, callId: string): Record<string, unknown> {
  return { ...callHead(payloadOf(step.act, build, callId), callId), status: 'loading', additionalData: {} }
}

export function taskData(step: Step & { readonly kind: 'task' }, callId: string): Record<string, unknown> {
  const { description, prompt, childId } = step
  const payload: Payload = {
    tool: 48,
    name: 'task_v2',
    params: { description, prompt, subagentType: 'unspecified' },
    result: { agentId: childId },
    additionalData: { status: 'completed', subagentComposerId: childId },
  }
  return { ...callHead(payload, callId), ...endingOf({ kind: 'completed' }, payload) }
}

export function todoData(items: readonly unknown[], callId: string): Record<string, unknown> {
  const payload: Payload = {
    tool: 35,
    name: 'todo_write',
    params: { merge: true, todos: items },
    result: { success: true },
  }
  return { ...callHead(payload, callId), ...endingOf({ kind: 'completed' }, payload) }
}

function callHead({ tool, name, params }: Payload, callId: string): Record<string, unknown> {
  const text = JSON.stringify(params)
  return { tool, name, toolCallId: callId, toolIndex: 0, params: text, rawArgs: text }
}

/** A rejected command has the status "completed". Only the decision and the result show the rejection. */
function endingOf(ending: Ending, { result, additionalData = {} }: Payload): Record<string, unknown> {
  if (ending.kind === 'completed') return { status: 'completed', result: JSON.stringify(result), additionalData }
  if (ending.kind === 'cancelled') return { status: 'cancelled', additionalData: {} }
  if (ending.kind === 'rejected') {
    return { status: 'completed', userDecision: 'rejected', result: '{"rejected":true}', additionalData: {} }
  }
  const words = { clientVisibleErrorMessage: ending.message, modelVisibleErrorMessage: ending.message }
  return { status: 'error', result: JSON.stringify(result), error: JSON.stringify(words), additionalData: {} }
}

function payloadOf(act: ToolAct, build: Build, callId: string): Payload {
  if (act.name === 'read') return readPayload(act, build)
  if (act.name === 'edit') return editPayload(act, build, callId)
  if (act.name === 'run') return runPayload(act, build)
  if (act.name === 'grep') return build === 'old' ? oldGrep(act) : newGrep(act)
  if (act.name === 'list') return listPayload(act, build)
  if (act.name === 'mcp') return { tool: 19, name: act.tool, params: act.input, result: { content: act.answer } }
  return { tool: 18, name: 'web_search', params: { searchTerm: act.query }, result: { answer: act.answer } }
}

function runPayload({ command, output }: ToolAct & { name: 'run' }, build: Build): Payload {
  const name = build === 'old' ? 'run_terminal_cmd' : 'run_terminal_command_v2'
  return { tool: 15, name, params: { command, requireUserApproval: true }, result: { output } }
}

function listPayload({ path, files }: ToolAct & { name: 'list' }, build: Build): Payload {
  const result = { files: files.map((name) => ({ name, isDirectory: !name.includes('.') })) }
  if (build === 'old') return { tool: 6, name: 'list_dir', params: { relativeWorkspacePath: path }, result }
  return { tool: 39, name: 'list_dir_v2', params: { targetDirectory: path }, result }
}

function readPayload({ path, contents }: ToolAct & { name: 'read' }, build: Build): Payload {
  const totalLinesInFile = contents.split('\n').length
  if (build === 'new')
    return { tool: 40, name: 'read_file_v2', params: { targetFile: path }, result: { totalLinesInFile } }
  const params = { relativeWorkspacePath: path, startLineOneIndexed: 1, endLineOneIndexedInclusive: totalLinesInFile }
  return { tool: 5, name: 'read_file', params, result: { contents, totalLinesInFile } }
}

function editPayload({ path, lines }: ToolAct & { name: 'edit' }, build: Build, callId: string): Payload {
  const params = { relativeWorkspacePath: path }
  if (build === 'new') {
    return {
      tool: 38,
      name: 'edit_file_v2',
      params,
      result: { beforeContentId: `composer.content.${callId}a`, afterContentId: `composer.content.${callId}b` },
      additionalData: { precomputedDiff: { lines: lines.map(diffLine) } },
    }
  }
  const { added, removed } = countLines(lines)
  const chunk = { diffString: lines.join('\n'), oldStart: 1, newStart: 1, linesAdded: added, linesRemoved: removed }
  const instructions = `Change ${path} as discussed.`
  return { tool: 7, name: 'edit_file', params: { ...params, instructions }, result: { diff: { chunks: [chunk] } } }
}

function diffLine(line: string): Record<string, unknown> {
  const types: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' }
  return { type: types[line.charAt(0)] ?? 'unchanged', content: line.slice(1) }
}

export function countLines(lines: readonly string[]): { readonly added: number; readonly removed: number } {
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  return { added: count('+'), removed: count('-') }
}

function oldGrep({ pattern, hits }: ToolAct & { name: 'grep' }): Payload {
  const results = hits.map(({ path, line, text }) => ({
    resource: path,
    results: [{ match: { previewText: text, rangeLocations: [{ source: { startLineNumber: line } }] } }],
  }))
  return { tool: 41, name: 'grep_search', params: { query: pattern }, result: { internal: { results } } }
}

function newGrep({ pattern, hits }: ToolAct & { name: 'grep' }): Payload {
  const matches = hits.map(({ path, line, text }) => ({
    file: path,
    matches: [{ lineNumber: line, content: text, isContextLine: false }],
  }))
  const result = { success: { workspaceResults: { '.': { content: { matches } } } } }
  return { tool: 41, name: 'grep', params: { pattern, outputMode: 'content', caseInsensitive: false }, result }
}
