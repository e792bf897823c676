import type { ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { answerRow, type Row } from '../answer-row.ts'
import { readChats } from './list-chats.ts'
import { inSnapshot } from '../snapshot.ts'
import { countedTokens, listForkCopies } from '../tokens.ts'
import type { ChatDetail, ChatRef, ChatTokens, ChatFile, ToolCount } from '../../answers/chats.ts'
import { useOfTool } from '../../../shared/tools.ts'
import { toolStatuses, type Part, type ToolStatus } from '../../../model/part.ts'
import { parseParts } from '../../../mirror/write/pack-message.ts'

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

/** Made when it is asked: few commands need it. */
const recordedSums = (): string => `
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
  const records = db.prepare<[object], RecordedSums>(recordedSums()).get({ num, copies: listForkCopies(db, num) })
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

/** What a chat did, without texts: a tool call, or a file attached for the model. */
export type ChatAct =
  | { readonly kind: 'tool'; readonly name: string; readonly status: ToolStatus; readonly paths: readonly string[] }
  | { readonly kind: 'attachment'; readonly path: string }

const THREAD_PARTS = `
  select b.parts
  from messages m join bodies b on b.num = m.body
  where m.chat = ? and m.is_orphan = 0
  order by m.position, m.key
`

/** The acts of a chat's thread, in order, without those of orphans. */
export function listChatActs(db: Mirror, chatNum: number): ChatAct[] {
  const acts: ChatAct[] = []
  // One body at a time: a long chat has tens of megabytes of tool output, which are not needed here.
  for (const parts of db.prepare<[number], string>(THREAD_PARTS).pluck().iterate(chatNum)) {
    for (const part of parseParts(parts)) {
      if (part.kind === 'attachment') acts.push({ kind: 'attachment', path: part.path })
      if (part.kind === 'tool') acts.push(toolAct(part))
    }
  }
  return acts
}

function toolAct(part: Extract<Part, { kind: 'tool' }>): ChatAct {
  const status = toolStatuses.includes(part.status) ? part.status : 'completed'
  return { kind: 'tool', name: part.name, status, paths: part.paths }
}

/** Files that a chat read, edited or was given, the most used first. Failed and rejected calls do not count. */
export function chatFiles(acts: readonly ChatAct[]): ChatFile[] {
  const files = new Map<string, { path: string; reads: number; edits: number; attached: number }>()
  for (const act of acts) {
    const use = act.kind === 'attachment' ? 'attached' : useOf(act)
    if (use === null) continue
    for (const path of act.kind === 'attachment' ? [act.path] : new Set(act.paths)) {
      const file = files.get(path) ?? { path, reads: 0, edits: 0, attached: 0 }
      file[use] += 1
      files.set(path, file)
    }
  }
  return [...files.values()].sort((left, right) => total(right) - total(left) || (left.path < right.path ? -1 : 1))
}

function useOf(act: Extract<ChatAct, { kind: 'tool' }>): 'reads' | 'edits' | null {
  return act.status === 'completed' || act.status === 'running' ? useOfTool(act.name) : null
}

function total(file: ChatFile): number {
  return file.reads + file.edits + file.attached
}

/** How often a chat called each tool, the most called first. */
export function chatTools(acts: readonly ChatAct[]): ToolCount[] {
  const tools = new Map<string, { name: string; calls: number; errors: number; rejected: number }>()
  for (const act of acts) {
    if (act.kind !== 'tool') continue
    const tool = tools.get(act.name) ?? { name: act.name, calls: 0, errors: 0, rejected: 0 }
    tool.calls += 1
    if (act.status === 'error') tool.errors += 1
    if (act.status === 'rejected') tool.rejected += 1
    tools.set(act.name, tool)
  }
  return [...tools.values()].sort((left, right) => right.calls - left.calls || (left.name < right.name ? -1 : 1))
}
