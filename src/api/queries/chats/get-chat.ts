import type { ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { answerRow, type Row } from '../answer-row.ts'
import { listChatActs, chatFiles, chatTools } from './chat-acts.ts'
import { readChats } from './chat-rows.ts'
import { inSnapshot } from '../snapshot.ts'
import { countedTokens, listForkCopies } from '../tokens/fork-copies.ts'
import type { ChatDetail, ChatRef, ChatTokens } from '../../answers/chats.ts'

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
    return {
      ...chat,
      files: chatFiles(acts),
      toolCounts: chatTools(acts),
      tokens: sumTokens(db, num),
      children: readRefs(db, chat.childChatIds),
      alternatives: readRefs(db, db.prepare<[number], ChatId>(ALTERNATIVES).pluck().all(num)),
    }
  })
}

/** The chat of the first answer, and all that name it and are no subagents. */
const ALTERNATIVES = `
  with first as (select id as own, iif(is_subagent = 0, ifnull(parent_chat_id, id), id) as id from chats where num = ?)
  select c.id from first join chats c on c.id = first.id or c.parent_chat_id = first.id and c.is_subagent = 0
  where c.id <> first.own order by c.created_at, c.id
`

const RECORDED = `
  select
    count(*) as messages, sum(${countedTokens('input_tokens')}) as input, sum(${countedTokens('output_tokens')}) as output,
    count(m.estimated_input) as estimated, ifnull(sum(m.estimated_input), 0) as estimatedInput,
    ifnull(sum(m.estimated_output), 0) as estimatedOutput
  from messages m indexed by recorded_tokens
  where m.chat = @num and m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
`
const ESTIMATED = `
  select
    count(m.estimated_input) as messages, ifnull(sum(m.estimated_input), 0) as input,
    ifnull(sum(m.estimated_output), 0) as output
  from messages m indexed by token_counts
  where m.chat = ? and m.is_orphan = 0
`

interface RecordedSums {
  readonly messages: number
  readonly input: number | null
  readonly output: number | null
  readonly estimated: number
  readonly estimatedInput: number
  readonly estimatedOutput: number
}

function sumTokens(db: Mirror, num: number): ChatTokens {
  const records = db.prepare<[object], RecordedSums>(RECORDED).get({ num, copies: listForkCopies(db, num) })
  const estimates = db.prepare<[number], NonNullable<ChatTokens['estimated']>>(ESTIMATED).get(num)
  if (records === undefined || estimates === undefined) throw new Error('an aggregate returned no row')
  const { messages, input, output } = records
  // A record replaces the estimate that was made before it.
  const estimated = {
    input: estimates.input - records.estimatedInput,
    output: estimates.output - records.estimatedOutput,
    messages: estimates.messages - records.estimated,
  }
  return {
    recorded: messages === 0 ? null : { input, output, messages },
    estimated: estimated.messages === 0 ? null : estimated,
  }
}

const CHAT_REFS = `
  select
    c.id, c.title, c.mode, c.created_at as createdAt, c.last_activity_at as lastActivityAt,
    c.message_count as messageCount, c.is_subagent as isSubagent, 1 - c.is_live as deletedInCursor
  from json_each(?) wanted
  join chats c on c.id = wanted.value
  order by wanted.key
`

const readRefs = (db: Mirror, ids: readonly ChatId[]): ChatRef[] =>
  db
    .prepare<[string], Row>(CHAT_REFS)
    .all(JSON.stringify(ids))
    .map((row) => answerRow<ChatRef>(row))
