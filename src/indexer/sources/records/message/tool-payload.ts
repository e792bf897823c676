import { parsedOrText } from '../json/exact-json.ts'
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
import { readUriPath } from '../common-fields.ts'
import { stringLeaves } from '../json/bound-json.ts'

/** Cursor writes payloads as JSON strings, plain text or objects. Blank text is no payload. */
export function readPayload(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null
  return isBlank(value) ? null : parsedOrText(value)
}

/** `params` is Cursor's version of the arguments. `rawArgs` is the model's text, incomplete while it streams. */
export function readInput(record: JsonRecord): unknown {
  const params = readPayload(record['params'])
  if (holdsSomething(params)) return params
  const rawArgs = readPayload(record['rawArgs'])
  return holdsSomething(rawArgs) ? rawArgs : (params ?? rawArgs)
}

/** These have parts of their own, or are bookkeeping. `composerData` is a whole other chat. */
const neverOutput = new Set(['composerData', 'precomputedDiff', 'codeblock', 'subagentComposerId', 'status'])

/** The result. If the build left it out, the additional data is used. */
export function readOutput(result: unknown, additional: JsonRecord | null): unknown {
  if (holdsSomething(result)) return result
  const rest = Object.entries(additional ?? {}).filter(([name]) => !neverOutput.has(name))
  const hasOutput = rest.some(([name, value]) => holdsSomething(value) && !isBookkeeping(name))
  return hasOutput ? Object.fromEntries(rest) : result
}

const isBookkeeping = (name: string): boolean => name === 'reviewData' || /^ids?$|Ids?$/.test(name)

/** The message for people, else the one for the model, else any text. */
export function readToolError(error: unknown): string | null {
  const record = parsedRecord(error)
  const message = ['clientVisibleErrorMessage', 'modelVisibleErrorMessage']
    .map((name) => filledStringIn(record, name))
    .find((text) => text !== null)
  if (message !== undefined) return message
  const leaves = typeof error === 'string' ? stringLeaves(error) : stringLeaves(record)
  return leaves.length === 0 ? null : leaves.join('\n')
}

const genericMcpNames: ReadonlySet<string> = new Set(['mcp', 'call_mcp_tool'])

/** If Cursor names only a generic MCP tool, the arguments tell which one. */
export function readToolName(name: string | null, input: unknown): string {
  if (name === null) return 'unknown'
  if (!genericMcpNames.has(name)) return name
  const call = mcpCall(input)
  const words = ['mcp', filledStringIn(call, 'serverName'), filledStringIn(call, 'name')]
  return filledStringIn(call, 'name') === null ? name : words.filter((word) => word !== null).join('_')
}

const mcpCall = (input: unknown): JsonRecord | null => asRecord(listIn(asRecord(input), 'tools')[0])

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

/**
 * Files and folders in the arguments, or in a patch among them. The arguments of an MCP tool are skipped: a `path`
 * there can be anything.
 */
export function readToolPaths(name: string | null, input: unknown): readonly string[] {
  if (typeof input === 'string') return pathsInPatch(input)
  const record = asRecord(input)
  const isMcp = /^(?:mcp(?:[_-]|$)|call_mcp_tool$)/i.test(name ?? '') || filledStringIn(mcpCall(input), 'name') !== null
  if (record === null || isMcp) return []
  const named = [...pathFields.map((field) => record[field]), ...listIn(record, 'paths')].map(readUriPath)
  const patched = pathsInPatch(stringIn(record, 'patch') ?? stringIn(record, 'input') ?? '')
  return [...new Set([...named.filter((path) => path !== null), ...patched])]
}

/** Files that a patch names, if the input of a call is the patch itself: `*** Update File: src/a.ts`. */
function pathsInPatch(text: string): readonly string[] {
  const named = text.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)
  return [...new Set([...named].map(([, path]) => (path ?? '').trim()))].filter((path) => path !== '')
}
