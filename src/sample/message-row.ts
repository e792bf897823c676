import type { SampleProject } from './projects.ts'
import type { Attached, Step, Todo } from './script.ts'
import { taskData, todoData, toolData } from './tool-data.ts'
import type { Build } from './tool-data.ts'

export interface MessagePlan {
  readonly id: string
  readonly step: Step
  readonly atMs: number
  readonly build: Build
  readonly model: string | null
  readonly project: SampleProject | null
  /** Recorded by old builds, on the last answer of a turn. */
  readonly tokens: { readonly input: number; readonly output: number } | null
  /** Milliseconds since the window opened, as old builds count. */
  readonly windowMs: number
}

export type Row = Record<string, unknown>

/** One message as Cursor writes it, in its own row or inside its chat's row. */
export function messageRow(plan: MessagePlan): Row {
  const { id, step, build, tokens } = plan
  return {
    _v: build === 'old' ? 2 : 3,
    bubbleId: id,
    type: step.kind === 'user' ? 1 : 2,
    ...emptyFields,
    ...contentOf(plan),
    ...timesOf(plan),
    // Old builds named the model only beside recorded tokens.
    ...(tokens === null || plan.model === null ? {} : { modelInfo: { modelName: plan.model } }),
    tokenCount: { inputTokens: tokens?.input ?? 0, outputTokens: tokens?.output ?? 0 },
  }
}

/** Some of the many fields that nearly every row has, mostly empty. */
const emptyFields: Row = {
  approximateLintErrors: [],
  lints: [],
  codebaseContextChunks: [],
  attachedCodeChunks: [],
  allThinkingBlocks: [],
  toolResults: [],
  capabilitiesRan: {},
  supportedTools: [1, 41, 38, 8, 9, 11, 12, 15, 18, 19, 25, 27, 43, 46, 47, 29, 30, 32, 34, 35, 39, 40, 42, 44, 45],
  isAgentic: true,
}

function timesOf({ step, build, atMs, windowMs }: MessagePlan): Row {
  if (build === 'new') return { createdAt: new Date(atMs).toISOString() }
  if (step.kind === 'user') return {}
  const timingInfo = {
    clientStartTime: windowMs + 0.7,
    clientRpcSendTime: atMs - 180,
    clientSettleTime: atMs,
    clientEndTime: atMs,
  }
  return { timingInfo }
}

function contentOf(plan: MessagePlan): Row {
  const { step, id, build } = plan
  if (step.kind === 'user') return userFields(step.text, step.attached, plan)
  if (step.kind === 'say') return { text: step.text, codeBlocks: fencedBlocks(step.text) }
  if (step.kind === 'error') return { text: '', errorDetails: { error: 'ERROR_PROVIDER', message: step.text } }
  if (step.kind === 'think') return thinkingFields(step.text, step.seconds, id)
  const callId = callIdOf(id)
  if (step.kind === 'todos') return todoFields(step.items, build, callId)
  const toolFormerData = step.kind === 'tool' ? toolData(step, build, callId) : taskData(step, callId)
  return { text: '', capabilityType: 15, toolFormerData }
}

export const callIdOf = (messageId: string): string => `toolu_${messageId.replaceAll('-', '').slice(0, 24)}`

/** The signature is long and useless for people. */
function thinkingFields(text: string, seconds: number, id: string): Row {
  const signature = `${id.replaceAll('-', '').repeat(4)}==`
  return { text: '', thinking: { text, signature }, thinkingDurationMs: seconds * 1000, capabilityType: 30 }
}

function userFields(text: string, attached: readonly Attached[], { build, model, project }: MessagePlan): Row {
  const files = attached.filter((each) => each.text === null)
  const selected = attached.filter((each) => each.text !== null)
  return {
    text,
    richText: lexical(text),
    context: {
      fileSelections: files.map(({ path }) => ({ uri: uriOf(path, project), isCurrentFile: false })),
      selections: selected.map(({ path, text: code }) => ({ uri: uriOf(path, project), text: code })),
    },
    ...(build === 'new' && model !== null ? { modelInfo: { modelName: model } } : {}),
    ...(project === null ? {} : { workspaceUris: [project.uri] }),
  }
}

function uriOf(path: string, project: SampleProject | null): Row {
  const root = project === null ? '' : project.path.replace(/\/[^/]+\.code-workspace$/, '')
  const full = `${root}/${path}`
  return { $mid: 1, fsPath: full, external: `file://${full}`, path: full, scheme: 'file' }
}

/** The state of the input box's editor: one paragraph per line. */
function lexical(text: string): string {
  const children = text.split('\n').map((line) => ({
    children: [{ detail: 0, format: 0, mode: 'normal', style: '', text: line, type: 'text', version: 1 }],
    format: '',
    indent: 0,
    type: 'paragraph',
    version: 1,
  }))
  return JSON.stringify({ root: { children, format: '', indent: 0, type: 'root', version: 1 } })
}

/** Code blocks of the text, stored a second time, as Cursor does. */
function fencedBlocks(text: string): Row[] {
  return [...text.matchAll(/```(\w*)\n([^]*?)\n```/g)].map(([, languageId = '', content = ''], codeBlockIdx) => ({
    content,
    languageId: languageId === '' ? 'plaintext' : languageId,
    codeBlockIdx,
    isGenerating: false,
  }))
}

/** Old builds wrote each item as JSON within the JSON. */
function todoFields(items: readonly Todo[], build: Build, callId: string): Row {
  const rows = items.map((item, index) => ({ id: String(index + 1), ...item }))
  const todos = build === 'old' ? rows.map((row) => JSON.stringify(row)) : rows
  return { text: '', capabilityType: 15, toolFormerData: todoData(rows, callId), todos }
}
