import type { ChatMetadata } from '../../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../../model/ids.ts'
import { countIn, filledStringIn, firstFilledIn, recordIn } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'
import { readTime } from '../json/read-time.ts'

/** What a list of chats says of one. `isBestOfNSubcomposer` marks a rival answer to one prompt, which is a chat like any other. */
export function decodeHead(head: JsonRecord, chatId: ChatId, list: string): ChatMetadata {
  const subagent = recordIn(head, 'subagentInfo')
  const parentChatId = filledStringIn(subagent, 'parentComposerId')
  return {
    chatId,
    list,
    name: filledStringIn(head, 'name'),
    createdAtMs: readTime(head['createdAt']),
    updatedAtMs: readTime(head['lastUpdatedAt']),
    mode: firstFilledIn(head, ['unifiedMode', 'forceMode']),
    branch: filledStringIn(recordIn(head, 'createdOnBranch'), 'name') ?? filledStringIn(head, 'createdOnBranch'),
    isArchived: readFlag(head['isArchived']),
    isDraft: readFlag(head['isDraft']),
    isSubagent: subagent === null ? null : true,
    parentChatId: parentChatId === null ? null : asChatId(parentChatId),
    linesAdded: countIn(head, 'totalLinesAdded'),
    linesRemoved: countIn(head, 'totalLinesRemoved'),
    filesChanged: countIn(head, 'filesChangedCount'),
  }
}

/** Columns hold 0 and 1 where JSON holds a flag. */
export function readFlag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : null
}
