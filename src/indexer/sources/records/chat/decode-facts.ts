import type { ChatFacts } from '../../../../mirror/write/batch.ts'
import { CALL_CHAT_PREFIX, type ChatFormat } from '../../../../model/chat.ts'
import { asChatId } from '../../../../model/ids.ts'
import type { ChatId } from '../../../../model/ids.ts'
import { decodeTodos } from '../message/decode-todos.ts'
import {
  asRecord,
  countIn,
  filledStringIn,
  firstFilledIn,
  listIn,
  numberIn,
  recordIn,
  wellFormed,
} from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'
import { readModelName } from './read-model.ts'
import { readTime } from '../json/read-time.ts'

/**
 * What a chat's row says of the chat. Its `text`, `richText` and `context` are the unsent draft in the input box and
 * are never read; neither is its encryption key.
 */
export function decodeFacts(chat: JsonRecord, chatId: ChatId, format: ChatFormat): ChatFacts {
  const subagent = recordIn(chat, 'subagentInfo')
  const parentChatId = filledStringIn(subagent, 'parentComposerId')
  return {
    format,
    name: filledStringIn(chat, 'name'),
    summary: readSummary(chat),
    todos: decodeTodos(listIn(chat, 'todos')),
    createdAtMs: readTime(chat['createdAt']),
    updatedAtMs: readTime(chat['lastUpdatedAt']),
    mode: firstFilledIn(chat, ['unifiedMode', 'forceMode']) ?? (chat['isAgentic'] === true ? 'agent' : null),
    model: readModelName(recordIn(chat, 'modelConfig'), 'modelName'),
    status: readStatus(chat),
    isArchived: chat['isArchived'] === true,
    isDraft: chat['isDraft'] === true || chatId === 'empty-state-draft',
    isSubagent: subagent !== null || chatId.startsWith(CALL_CHAT_PREFIX),
    parentChatId: parentChatId === null ? null : asChatId(parentChatId),
    childChatIds: readChildren(chat),
    linesAdded: countIn(chat, 'totalLinesAdded'),
    linesRemoved: countIn(chat, 'totalLinesRemoved'),
    filesChanged: countIn(chat, 'filesChangedCount'),
    contextTokens: readContextTokens(chat),
    recordedCostCents: readCost(chat),
    branch: filledStringIn(recordIn(chat, 'createdOnBranch'), 'name') ?? filledStringIn(chat, 'createdOnBranch'),
  }
}

function readSummary(chat: JsonRecord): string | null {
  const latest = recordIn(chat, 'latestConversationSummary')
  return filledStringIn(latest, 'summary') ?? filledStringIn(recordIn(latest, 'summary'), 'summary')
}

/** While a run is in flight Cursor writes `aborted`; the run's own field tells the truth. */
function readStatus(chat: JsonRecord): string | null {
  if ((chat['unfinishedRunAt'] ?? null) !== null) return 'generating'
  const status = filledStringIn(chat, 'status')
  return status === 'none' ? null : status
}

/** Not `subComposerIds`: those are rival answers to one prompt, not chats started by this one. */
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

/** Cents that Cursor itself wrote down, over all models; builds since mid 2025 write none. */
function readCost(chat: JsonRecord): number | null {
  const usage = Object.values(recordIn(chat, 'usageData') ?? {})
  const cents = usage.reduce<number>((sum, entry) => sum + (numberIn(asRecord(entry), 'costInCents') ?? 0), 0)
  return Number.isFinite(cents) && cents > 0 ? cents : null
}
