import type { CursorHome, Store } from '../cursor.ts'
import { pathField } from './plan-thread.ts'
import type { PlannedCall, PlannedChat, PlannedMessage, YearPlan } from './plan-year.ts'

type Row = Record<string, unknown>

/** Writes a planned year into the stores of a `User` folder, in Cursor's layout. The stores stay open. */
export function writeYear(home: CursorHome, plan: YearPlan): Store {
  const store = home.global()
  store.db.transaction(() => {
    for (const chat of plan.chats) writeChat(store, chat, plan)
  })()
  for (const [n, project] of plan.projects.entries()) {
    const chatIds = plan.chats.filter((chat) => chat.project === project).map(({ id }) => id)
    home.workspace(`${n}`.repeat(32), { folder: `file:///home/ada/${encodeURIComponent(project)}` }, chatIds)
  }
  return store
}

function writeChat(store: Store, chat: PlannedChat, plan: YearPlan): void {
  for (const message of chat.messages) store.message(chat.id, message.id, messageRow(message))
  store.chat(chat.id, chat.row === 'gone' ? null : chatRow(chat, plan))
}

/** A chat's own row, as Cursor writes it. */
export function chatRow(chat: PlannedChat, plan: YearPlan): Row {
  const children = plan.chats.filter(({ parentId }) => parentId === chat.id).map(({ id }) => id)
  return {
    ...(chat.name === null ? {} : { name: chat.name }),
    ...(chat.createdAtMs === null ? {} : { createdAt: chat.createdAtMs }),
    ...(chat.mode === null ? {} : { unifiedMode: chat.mode }),
    isArchived: chat.isArchived,
    isDraft: chat.isDraft,
    modelConfig: { modelName: chat.model ?? 'default' },
    usageData: chat.costCents === null ? {} : { default: { costInCents: chat.costCents, amount: 2 } },
    ...(chat.lines === null
      ? {}
      : {
          totalLinesAdded: chat.lines.added,
          totalLinesRemoved: chat.lines.removed,
          filesChangedCount: chat.lines.files,
        }),
    ...(chat.contextTokens === null ? {} : { contextTokensUsed: chat.contextTokens, contextTokenLimit: 200_000 }),
    ...(chat.parentId === null ? {} : { subagentInfo: { parentComposerId: chat.parentId } }),
    ...(children.length === 0 ? {} : { subagentComposerIds: children }),
    fullConversationHeadersOnly: chat.messages.filter(({ place }) => place !== 'orphan').map(headerRow),
  }
}

function headerRow({ id, role, timeIn, atMs }: PlannedMessage): Row {
  const createdAt = timeIn === 'header' ? { createdAt: new Date(atMs).toISOString() } : {}
  return { bubbleId: id, type: role === 'user' ? 1 : 2, ...createdAt }
}

/** A message's row, as Cursor writes it. */
export function messageRow(message: PlannedMessage): Row {
  const { role, text, timeIn, atMs, model, tokens, call } = message
  return {
    type: role === 'user' ? 1 : 2,
    text,
    ...(timeIn === 'row' ? { createdAt: new Date(atMs).toISOString() } : {}),
    ...(timeIn === 'timing' ? { timingInfo: { clientStartTime: 4_745_281.3, clientRpcSendTime: atMs } } : {}),
    ...(model === null ? {} : { modelInfo: { modelName: model } }),
    ...tokenFields(tokens),
    ...(call === null ? {} : { capabilityType: 15, toolFormerData: callRow(call, message.id) }),
    // A third of all tool data has a status but no call.
    ...(role === 'user' ? { toolFormerData: { additionalData: { status: 'error' } } } : {}),
  }
}

function tokenFields(tokens: PlannedMessage['tokens']): Row {
  if (tokens === null) return {}
  const { input, output } = tokens === 'zero' ? { input: 0, output: 0 } : tokens
  return { tokenCount: { inputTokens: input, outputTokens: output } }
}

function callRow({ name, status, path }: PlannedCall, messageId: string): Row {
  const params = JSON.stringify(path === null ? { command: 'ls' } : { [pathField(name)]: path })
  const base = { tool: 5, name, toolCallId: `call_${messageId.slice(0, 8)}`, params, result: '{"output":"text"}' }
  // For a rejected call, Cursor writes the status "completed" and the rejection in another field.
  if (status === 'rejected') return { ...base, status: 'completed', userDecision: 'rejected' }
  return { ...base, status: status === 'running' ? 'loading' : status }
}
