import { Chance } from './chance.ts'
import { messageRow } from './message-row.ts'
import type { MessagePlan, Row } from './message-row.ts'
import { sampleProjects } from './projects.ts'
import type { SampleProject } from './projects.ts'
import type { ProjectKey, Thread } from './script.ts'
import { countLines } from './tool-data.ts'

/**
 * How a chat is stored. `inline` and `map` chats have their messages in the chat's own row; `split` chats have one row per
 * message; `headerless` chats are split chats with an empty list of messages.
 */
export type Shape = 'inline' | 'map' | 'split' | 'headerless'

export interface ChatPlan {
  readonly id: string
  readonly shape: Shape
  readonly thread: Thread
  readonly version: number
  readonly model: string | null
  readonly createdAtMs: number
  readonly messages: readonly MessagePlan[]
  /** Messages that the chat no longer names, for example a regenerated answer. */
  readonly orphans: readonly MessagePlan[]
  readonly isArchived: boolean
  /** Cursor deletes a chat by setting its row's value to null; the messages often stay. */
  readonly isDeleted: boolean
  /** A message that the chat still names, although its row's value is null. */
  readonly emptiedId: string | null
  readonly parentId: string | null
  readonly recordedCents: number | null
  /** Null at first: Cursor names a chat after the first answer. */
  readonly isNamed: boolean
  readonly isRunning: boolean
}

/** The folder that Cursor has for a project's window. In a real Cursor its name is a hash. */
export const workspaceIdOf = (key: ProjectKey, number = 0): string => new Chance(`workspace ${key} ${number}`).hex(32)

export const projectOf = ({ project }: Thread): SampleProject | null =>
  project === null ? null : sampleProjects[project]

export function chatRow(plan: ChatPlan): Row {
  const { id, thread, messages, createdAtMs } = plan
  const lastMs = messages.at(-1)?.atMs ?? createdAtMs
  return {
    _v: plan.version,
    composerId: id,
    // Unsent text in the input box is not a message.
    text: '',
    richText: '',
    ...(plan.isNamed ? { name: thread.title } : {}),
    createdAt: createdAtMs,
    lastUpdatedAt: lastMs,
    status: plan.isRunning ? 'aborted' : 'completed',
    ...(plan.isRunning ? { unfinishedRunAt: lastMs } : {}),
    unifiedMode: thread.mode,
    forceMode: thread.mode,
    isAgentic: thread.mode === 'agent',
    isArchived: plan.isArchived,
    context: { fileSelections: [], folderSelections: [], selections: [] },
    usageData: plan.recordedCents === null ? {} : { default: { costInCents: plan.recordedCents, amount: 4 } },
    modelConfig: { modelName: plan.model ?? 'default', maxMode: false },
    ...bodiesOf(plan),
    ...changesOf(plan),
    ...kinOf(plan),
    ...(isNew(plan) ? newFields(plan) : {}),
  }
}

const isNew = ({ messages }: ChatPlan): boolean => messages.some(({ build }) => build === 'new')

function bodiesOf(plan: ChatPlan): Row {
  const { shape, messages } = plan
  const rows = messages.map((message) => messageRow(message))
  if (shape === 'inline') return { ...withToolsApart(rows) }
  const fullConversationHeadersOnly = shape === 'headerless' ? [] : messages.map((message) => headerOf(message))
  const conversationMap = shape === 'map' ? Object.fromEntries(rows.map((row) => [row['bubbleId'], row])) : {}
  return { fullConversationHeadersOnly, conversationMap }
}

/** The first builds stored tool calls beside the conversation, as one JSON text. */
function withToolsApart(rows: readonly Row[]): Row {
  const calls = rows.filter((row) => row['toolFormerData'] !== undefined)
  const map = Object.fromEntries(calls.map((row) => [row['bubbleId'], row['toolFormerData']]))
  const conversation = rows.map((row) => ({ ...row, toolFormerData: undefined }))
  return { conversation, capabilities: [{ type: 15, data: { bubbleDataMap: JSON.stringify(map) } }] }
}

function headerOf({ id, step, build, atMs }: MessagePlan): Row {
  const type = step.kind === 'user' ? 1 : 2
  if (build === 'old') return { bubbleId: id, type }
  const grouping = { isRenderable: true, hasText: step.kind === 'user' || step.kind === 'say' }
  return { bubbleId: id, type, createdAt: new Date(atMs).toISOString(), grouping }
}

function changesOf({ messages }: ChatPlan): Row {
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
    todos: todos?.kind === 'todos' ? todos.items.map((item, index) => ({ id: String(index + 1), ...item })) : [],
  }
}

function newFields({ thread, messages }: ChatPlan): Row {
  const characters = messages.reduce((sum, { step }) => sum + JSON.stringify(step).length, 0)
  const contextTokensUsed = 9000 + Math.round(characters / 3)
  return { contextTokensUsed, contextTokenLimit: 200_000, conversationState: '~', ...identityOf(thread) }
}

/** Not for windows with several roots: those are only known by their window. */
function identityOf(thread: Thread): Row {
  const project = projectOf(thread)
  if (thread.project === null || project === null || project.path.endsWith('.code-workspace')) return {}
  const [, scheme = '', authority = ''] = /^([\w-]+):\/\/([^/]*)/.exec(project.uri) ?? []
  const { path } = project
  const uri = { $mid: 1, fsPath: path, external: project.uri, path, scheme, authority: decodeURIComponent(authority) }
  return { workspaceIdentifier: { id: workspaceIdOf(thread.project), uri } }
}
