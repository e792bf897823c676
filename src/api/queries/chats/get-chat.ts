import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { toIso } from '../../iso.ts'
import { listChatActs, chatFiles, chatTools } from './chat-acts.ts'
import { readChats } from './chat-rows.ts'
import { inSnapshot } from '../snapshot.ts'
import type { ChatRef } from '../../http/schemas/chats.ts'
import type { ChatDetail } from '../../http/schemas/chats.ts'

const CHAT_NUM = `select num from chats where id = ?`

/** The row number of a chat, for other queries; null if no chat has this id. */
export function findChatNum(db: Mirror, id: ChatId): number | null {
  return db.prepare<[string], number>(CHAT_NUM).pluck().get(id) ?? null
}

/** One chat with its files, tools and subagents; null if no chat has this id. */
export function getChat(db: Mirror, id: ChatId): ChatDetail | null {
  return inSnapshot(db, () => {
    const num = findChatNum(db, id)
    const chat = num === null ? undefined : readChats(db, [num])[0]
    if (num === null || chat === undefined) return null
    const acts = listChatActs(db, num)
    return { ...chat, files: chatFiles(acts), toolCounts: chatTools(acts), children: readRefs(db, chat.childChatIds) }
  })
}

interface ChatRefRow {
  readonly id: string
  readonly title: string
  readonly mode: string | null
  readonly createdAtMs: number | null
  readonly lastActivityAtMs: number | null
  readonly messageCount: number
  readonly isSubagent: number
  readonly isLive: number
}

const CHAT_REFS = `
  select
    c.id, c.title, c.mode, c.created_at as createdAtMs, c.last_activity_at as lastActivityAtMs,
    c.message_count as messageCount, c.is_subagent as isSubagent, c.is_live as isLive
  from json_each(?) wanted
  join chats c on c.id = wanted.value
  order by wanted.key
`

function readRefs(db: Mirror, ids: readonly ChatId[]): ChatRef[] {
  const rows = db.prepare<[string], ChatRefRow>(CHAT_REFS).all(JSON.stringify(ids))
  return rows.map((row) => ({
    id: asChatId(row.id),
    title: row.title,
    mode: row.mode,
    createdAt: toIso(row.createdAtMs),
    lastActivityAt: toIso(row.lastActivityAtMs),
    messageCount: row.messageCount,
    isSubagent: row.isSubagent === 1,
    deletedInCursor: row.isLive === 0,
  }))
}
