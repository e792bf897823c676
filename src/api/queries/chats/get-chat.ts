import type { ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { answerRow, type Row } from '../answer-row.ts'
import { readChats } from './list-chats.ts'
import { inSnapshot } from '../snapshot.ts'
import { sumTokens } from '../tokens.ts'
import type { ChatDetail, ChatRef, ChatFile, ToolCount } from '../../answers/chats.ts'
import { useOfTool } from '../../../shared/tools.ts'
import type { ToolPart } from '../../../model/part.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'

const CHAT_NUM = `select num from chats where id = ?`

/** The row number of a chat, for other queries; null if no chat has this id. */
export function findChatNum(db: Mirror, id: ChatId): number | null {
  return prepared<number>(db, CHAT_NUM).pluck().get(id) ?? null
}

/** One chat with its files, tools and subagents; null if no chat has this id. */
export function getChat(db: Mirror, id: ChatId): ChatDetail | null {
  return inSnapshot(db, () => {
    const num = findChatNum(db, id)
    const chat = num === null ? undefined : readChats(db, [num])[0]
    if (num === null || chat === undefined) return null
    return {
      ...chat,
      ...countActs(db, num),
      tokens: sumTokens(db, num),
      children: readRefs(db, chat.childChatIds),
      alternatives: readRefs(db, prepared<ChatId>(db, ALTERNATIVES).pluck().all(num)),
    }
  })
}

/** The chat of the first answer, and all that name it and are no subagents. */
const ALTERNATIVES = `
  with first as (select id as own, iif(is_subagent = 0, ifnull(parent_chat_id, id), id) as id from chats where num = ?)
  select c.id from first join chats c on c.id = first.id or c.parent_chat_id = first.id and c.is_subagent = 0
  where c.id <> first.own order by c.created_at, c.id
`

const CHAT_REFS = `
  select
    c.id, c.title, c.mode, c.created_at as createdAt, c.last_activity_at as lastActivityAt,
    c.message_count as messageCount, c.is_subagent as isSubagent, 1 - c.is_live as deletedInCursor
  from json_each(?) wanted
  join chats c on c.id = wanted.value
  order by wanted.key
`

const readRefs = (db: Mirror, ids: readonly ChatId[]): ChatRef[] =>
  prepared<Row>(db, CHAT_REFS)
    .all(JSON.stringify(ids))
    .map((row) => answerRow<ChatRef>(row))

const THREAD_PARTS = `
  select b.parts
  from messages m join bodies b on b.num = m.body
  where m.chat = ? and m.is_orphan = 0
  order by m.position, m.key
`

const uses = ({ reads, edits, attached }: ChatFile): number => reads + edits + attached

type Counted<Item> = { -readonly [Key in keyof Item]: Item[Key] }

/**
 * How often a chat called each tool, and the files that it read, edited or was given, those used most first. Orphans do
 * not count. Failed and rejected calls used no file.
 */
function countActs(db: Mirror, chatNum: number): Pick<ChatDetail, 'files' | 'toolCounts'> {
  const files = new Map<string, Counted<ChatFile>>()
  const tools = new Map<string, Counted<ToolCount>>()
  const use = (path: string, how: 'reads' | 'edits' | 'attached'): void => {
    const file = files.get(path) ?? { path, reads: 0, edits: 0, attached: 0 }
    file[how] += 1
    files.set(path, file)
  }
  const call = ({ name, status, paths }: ToolPart): void => {
    const tool = tools.get(name) ?? { name, calls: 0, errors: 0, rejected: 0 }
    tool.calls += 1
    if (status === 'error') tool.errors += 1
    if (status === 'rejected') tool.rejected += 1
    tools.set(name, tool)
    const how = status === 'cancelled' || status === 'error' || status === 'rejected' ? null : useOfTool(name)
    if (how !== null) for (const path of new Set(paths)) use(path, how)
  }
  // One body at a time: a long chat has tens of megabytes of tool output, which are not needed here.
  for (const parts of prepared<string>(db, THREAD_PARTS).pluck().iterate(chatNum)) {
    for (const part of parseParts(parts)) {
      if (part.kind === 'attachment') use(part.path, 'attached')
      if (part.kind === 'tool') call(part)
    }
  }
  return {
    files: [...files.values()].sort((one, other) => uses(other) - uses(one) || (one.path < other.path ? -1 : 1)),
    toolCounts: [...tools.values()].sort((one, other) => other.calls - one.calls || (one.name < other.name ? -1 : 1)),
  }
}
