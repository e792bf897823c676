import type { Attached, Step, Thread, Todo } from '../helpers/cursor/steps.ts'
import { countLines, taskData, todoData, toolData, type Build } from '../helpers/cursor/tool-data.ts'

export interface DemoProject {
  /** The folder that Cursor has for the project's window. */
  readonly workspaceId: string
  readonly uri: string
  readonly path: string
}

export interface MessagePlan {
  readonly id: string
  readonly step: Step
  readonly atMs: number
  /** Recorded by old builds, on the last answer of a turn. */
  readonly tokens: { readonly input: number; readonly output: number } | null
}

export interface ChatPlan {
  readonly id: string
  readonly thread: Thread
  readonly project: DemoProject | null
  readonly build: Build
  readonly model: string | null
  readonly createdAtMs: number
  readonly messages: readonly MessagePlan[]
  readonly parentId: string | null
  /** Whether its window lists it, as in old builds, and for windows with several roots. */
  readonly isListed: boolean
  readonly isArchived: boolean
  readonly isRunning: boolean
}

type Row = Record<string, unknown>

/** The row of a chat, whose messages have rows of their own. */
export function chatRow(plan: ChatPlan): Row {
  const { thread, messages, createdAtMs, isRunning } = plan
  const lastMs = messages.at(-1)?.atMs ?? createdAtMs
  return {
    _v: plan.build === 'old' ? 9 : 18,
    composerId: plan.id,
    // Cursor names a chat after the first answer.
    ...(isRunning && messages.length < 3 ? {} : { name: thread.title }),
    createdAt: createdAtMs,
    lastUpdatedAt: lastMs,
    status: isRunning ? 'aborted' : 'completed',
    ...(isRunning ? { unfinishedRunAt: lastMs } : {}),
    unifiedMode: thread.mode,
    forceMode: thread.mode,
    isAgentic: thread.mode === 'agent',
    isArchived: plan.isArchived,
    context: { fileSelections: [], folderSelections: [], selections: [] },
    modelConfig: { modelName: plan.model ?? 'default', maxMode: false },
    fullConversationHeadersOnly: messages.map(({ id, step }) => ({ bubbleId: id, type: typeOf(step) })),
    ...changesOf(messages),
    ...kinOf(plan),
    ...identityOf(plan),
  }
}

const typeOf = ({ kind }: Step): number => (kind === 'user' ? 1 : 2)

function changesOf(messages: readonly MessagePlan[]): Row {
  const edits = messages.flatMap(({ step }) => (step.kind === 'tool' && step.act.name === 'edit' ? [step.act] : []))
  const counts = edits.map(({ lines }) => countLines(lines))
  return {
    totalLinesAdded: counts.reduce((sum, { added }) => sum + added, 0),
    totalLinesRemoved: counts.reduce((sum, { removed }) => sum + removed, 0),
    filesChangedCount: new Set(edits.map(({ path }) => path)).size,
  }
}

function kinOf({ messages, parentId }: ChatPlan): Row {
  const childIds = messages.flatMap(({ step }) => (step.kind === 'task' ? [step.childId] : []))
  const todos = messages.findLast(({ step }) => step.kind === 'todos')?.step
  return {
    ...(childIds.length === 0 ? {} : { subagentComposerIds: childIds }),
    ...(parentId === null ? {} : { subagentInfo: { parentComposerId: parentId } }),
    todos: todos?.kind === 'todos' ? todoRows(todos.items) : [],
  }
}

const todoRows = (items: readonly Todo[]): Row[] => items.map((item, index) => ({ id: String(index + 1), ...item }))

/** Of other chats only their window is known. */
function identityOf({ project, isListed }: ChatPlan): Row {
  if (project === null || isListed) return {}
  const [, scheme = '', authority = ''] = /^([\w-]+):\/\/([^/]*)/.exec(project.uri) ?? []
  const { path } = project
  const uri = { $mid: 1, fsPath: path, external: project.uri, path, scheme, authority: decodeURIComponent(authority) }
  return { workspaceIdentifier: { id: project.workspaceId, uri } }
}

/** @param toolFormerData of a call that is still running */
export function messageRow(plan: MessagePlan, chat: ChatPlan, toolFormerData?: Row): Row {
  const { id, step, tokens, atMs } = plan
  return {
    _v: chat.build === 'old' ? 2 : 3,
    bubbleId: id,
    type: typeOf(step),
    ...contentOf(plan, chat),
    ...(toolFormerData === undefined ? {} : { toolFormerData }),
    createdAt: new Date(atMs).toISOString(),
    ...(tokens === null || chat.model === null ? {} : { modelInfo: { modelName: chat.model } }),
    tokenCount: { inputTokens: tokens?.input ?? 0, outputTokens: tokens?.output ?? 0 },
  }
}

export const callIdOf = (messageId: string): string => `toolu_${messageId.replaceAll('-', '').slice(0, 24)}`

function contentOf({ step, id }: MessagePlan, chat: ChatPlan): Row {
  const callId = callIdOf(id)
  const call = { text: '', capabilityType: 15 }
  if (step.kind === 'user') return userFields(step.text, step.attached, chat)
  if (step.kind === 'say') return { text: step.text, codeBlocks: fencedBlocks(step.text) }
  if (step.kind === 'error') return { text: '', errorDetails: { error: 'ERROR_PROVIDER', message: step.text } }
  if (step.kind === 'think') {
    return { text: '', thinking: { text: step.text }, thinkingDurationMs: step.seconds * 1000, capabilityType: 30 }
  }
  if (step.kind === 'task') return { ...call, toolFormerData: taskData(step, callId) }
  if (step.kind === 'tool') return { ...call, toolFormerData: toolData(step, chat.build, callId) }
  const todos = todoRows(step.items)
  return { ...call, toolFormerData: todoData(todos, callId), todos }
}

function userFields(text: string, attached: readonly Attached[], { model, build, project }: ChatPlan): Row {
  const root = project === null ? '' : project.path.replace(/\/[^/]+\.code-workspace$/, '')
  const uriOf = (path: string): Row => ({ $mid: 1, fsPath: `${root}/${path}`, path: `${root}/${path}`, scheme: 'file' })
  return {
    text,
    context: {
      fileSelections: attached.flatMap((each) => (each.text === null ? [{ uri: uriOf(each.path) }] : [])),
      selections: attached.flatMap((each) => (each.text === null ? [] : [{ uri: uriOf(each.path), text: each.text }])),
    },
    // Old builds named the model only beside recorded tokens.
    ...(build === 'new' && model !== null ? { modelInfo: { modelName: model } } : {}),
    ...(project === null ? {} : { workspaceUris: [project.uri] }),
  }
}

/** Code blocks of the text, stored a second time, as Cursor does. */
const fencedBlocks = (text: string): Row[] =>
  [...text.matchAll(/```(\w*)\n([^]*?)\n```/g)].map(([, languageId = '', content = ''], codeBlockIdx) => ({
    content,
    languageId: languageId === '' ? 'plaintext' : languageId,
    codeBlockIdx,
    isGenerating: false,
  }))
