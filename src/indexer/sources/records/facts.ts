import type { ChatFacts, ChatMetadata } from '../../../mirror/write/batch.ts'
import { CALL_CHAT_PREFIX, type ChatFormat } from '../../../model/chat.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import { decodeTodos, readModelName } from './fields.ts'
import {
  asRecord,
  countIn,
  filledStringIn,
  firstFilledIn,
  listIn,
  numberIn,
  recordIn,
  wellFormed,
  type JsonRecord,
} from './json.ts'
import { readTime } from './read-time.ts'

/**
 * Facts about a chat from its own row. Its `text`, `richText` and `context` are the unsent draft in the input box and
 * are never read; neither is its encryption key.
 */
export function decodeFacts(chat: JsonRecord, chatId: ChatId, format: ChatFormat): ChatFacts {
  return {
    ...readCommon(chat),
    format,
    summary: readSummary(chat),
    todos: decodeTodos(listIn(chat, 'todos')),
    mode: firstFilledIn(chat, ['unifiedMode', 'forceMode']) ?? (chat['isAgentic'] === true ? 'agent' : null),
    model: readModelName(recordIn(chat, 'modelConfig'), 'modelName'),
    status: readStatus(chat),
    isArchived: chat['isArchived'] === true,
    isDraft: chat['isDraft'] === true || chatId === 'empty-state-draft',
    isSubagent: recordIn(chat, 'subagentInfo') !== null || chatId.startsWith(CALL_CHAT_PREFIX),
    childChatIds: readChildren(chat),
    contextTokens: readContextTokens(chat),
    recordedCostCents: readCost(chat),
  }
}

/** What a chat's own row and an entry in a list of chats say alike. */
function readCommon(record: JsonRecord) {
  const parentChatId = filledStringIn(recordIn(record, 'subagentInfo'), 'parentComposerId')
  return {
    name: filledStringIn(record, 'name'),
    createdAtMs: readTime(record['createdAt']),
    updatedAtMs: readTime(record['lastUpdatedAt']),
    parentChatId: parentChatId === null ? null : asChatId(parentChatId),
    linesAdded: countIn(record, 'totalLinesAdded'),
    linesRemoved: countIn(record, 'totalLinesRemoved'),
    filesChanged: countIn(record, 'filesChangedCount'),
    branch: filledStringIn(recordIn(record, 'createdOnBranch'), 'name') ?? filledStringIn(record, 'createdOnBranch'),
  }
}

function readSummary(chat: JsonRecord): string | null {
  const latest = recordIn(chat, 'latestConversationSummary')
  return filledStringIn(latest, 'summary') ?? filledStringIn(recordIn(latest, 'summary'), 'summary')
}

/** During a run Cursor writes the status `aborted`; only the run's own field is right. */
function readStatus(chat: JsonRecord): string | null {
  if ((chat['unfinishedRunAt'] ?? null) !== null) return 'generating'
  const status = filledStringIn(chat, 'status')
  return status === 'none' ? null : status
}

/** Not `subComposerIds`: those are alternative answers to one prompt, not chats started by this one. */
function readChildren(chat: JsonRecord): readonly ChatId[] {
  const ids = [...listIn(chat, 'subagentComposerIds'), ...listIn(chat, 'supersededSubagentComposerIds')]
  const named = ids.filter((id) => typeof id === 'string').filter((id) => id !== '')
  return [...new Set(named.map((id) => asChatId(wellFormed(id))))]
}

function readContextTokens(chat: JsonRecord): ChatFacts['contextTokens'] {
  const used =
    positiveIn(chat, 'contextTokensUsed') ?? positiveIn(recordIn(chat, 'promptTokenBreakdown') ?? {}, 'totalUsedTokens')
  const limit = positiveIn(chat, 'contextTokenLimit')
  return used === null && limit === null ? null : { used, limit }
}

function positiveIn(record: JsonRecord, name: string): number | null {
  const value = numberIn(record, name)
  return value !== null && value > 0 ? value : null
}

/** Cents as recorded by Cursor, over all models. Builds since mid 2025 record none. */
function readCost(chat: JsonRecord): number | null {
  const usage = Object.values(recordIn(chat, 'usageData') ?? {})
  const cents = usage.reduce<number>((sum, entry) => sum + (numberIn(asRecord(entry), 'costInCents') ?? 0), 0)
  return Number.isFinite(cents) && cents > 0 ? cents : null
}

/**
 * Facts about a chat from a list of chats. `isBestOfNSubcomposer` marks an alternative answer to one prompt, which is a
 * chat like any other.
 */
export const decodeHead = (head: JsonRecord, chatId: ChatId, list: string): ChatMetadata => ({
  ...readCommon(head),
  chatId,
  list,
  mode: firstFilledIn(head, ['unifiedMode', 'forceMode']),
  isArchived: readFlag(head['isArchived']),
  isDraft: readFlag(head['isDraft']),
  isSubagent: recordIn(head, 'subagentInfo') === null ? null : true,
})

/** Columns have 0 and 1 for a flag of JSON. */
export function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : null
}
