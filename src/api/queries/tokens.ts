import type { UsageEvent } from '../../mirror/usage/usage-events.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import { ONLY_MODEL } from '../../mirror/usage/usage-events.ts'
import {
  type Bound,
  bind,
  bindPeriod,
  COUNTED,
  type MessageScope,
  narrow,
  ofUndated,
  QUARTER_MS,
  within,
} from './message-sums.ts'
import { isOfMachines } from './machines.ts'
import { prepared } from '../../mirror/sql.ts'

/** What a number of the ledger belongs to, by row numbers. Null if unknown, or if it was not asked for. */
export interface LedgerItem {
  readonly chat: number | null
  readonly project: number | null
  readonly model: string | null
  /** Epoch milliseconds. */
  readonly atMs: number | null
}

/** A sum over messages of threads, including those with recorded tokens. */
export interface MessageSum extends LedgerItem {
  readonly messages: number
  /** Messages with an estimate, and the sums of the estimates; null if there are none. */
  readonly estimated: number
  readonly input: number | null
  readonly output: number | null
}

/** What the sums are told apart by. A time is the start of its quarter of an hour. */
export type Trait = 'time' | 'project' | 'model' | 'chat'

const SUMS = `
  sum(m.messages) as messages, sum(m.estimated) as estimated, sum(m.input) as input, sum(m.output) as output
`
const AT = `iif(s.quarter = ${UNDATED_QUARTER}, null, s.quarter * ${QUARTER_MS}) as atMs`

/** The many sums of messages are added up before chats are joined, of which there are few. */
export function sumsBy(traits: readonly Trait[], scope: MessageScope): string {
  const has = (trait: Trait): boolean => traits.includes(trait)
  const isOfChat = has('chat') || has('project') || has('model')
  const kept = [has('time') && 'quarter', isOfChat && 'chat', has('model') && 'model'].filter(Boolean)
  return `
    with s as materialized (
      select ${kept.map((name) => `m.${name}, `).join('')} ${SUMS}
      from (${COUNTED}) m where true ${narrow(scope)} group by ${kept.map((name) => `m.${name}`).join(', ')}
    )
    select ${has('time') ? AT : 'null as atMs'}, ${isOfChat ? 's.chat, c.project' : 'null as chat, null as project'},
      ${has('model') ? `coalesce(s.model, ${ONLY_MODEL})` : 'null'} as model, s.messages, s.estimated, s.input, s.output
    from s ${isOfChat ? 'left join chats c on c.num = s.chat' : ''}
  `
}

export const readSums = (db: Mirror, traits: readonly Trait[], scope: MessageScope): MessageSum[] =>
  db
    .prepare<[Bound], MessageSum>(sumsBy(traits, scope))
    .all({ ...bind(scope), ...bindPeriod(scope.fromMs, scope.toMs) })

const countOf = (scope: MessageScope): string => `
  select coalesce(sum(m.messages), 0) from (${COUNTED}) m where true ${narrow(scope)}
`

/** How many messages have no time. */
export const countUndated = (db: Mirror, scope: MessageScope): number =>
  db
    .prepare<[Bound], number>(countOf(scope))
    .pluck()
    .get({ ...bind(scope), ...ofUndated }) ?? 0

export interface RecordedMessage extends LedgerItem {
  /** 1 if a forked chat copied it. Its counts are 0, because they count in the other chat. */
  readonly isCopy: number
  /** Null if only the other one is recorded. */
  readonly input: number | null
  readonly output: number | null
  /** An estimate that was made before there was a record. */
  readonly estimatedInput: number | null
  readonly estimatedOutput: number | null
}

const listRecorded = (scope: MessageScope): string => `
  select m.chat, c.project, coalesce(m.model, ${ONLY_MODEL}) as model, m.created_at as atMs, ${IS_FORK_COPY} as isCopy,
    ${countedTokens('input_tokens')} as input, ${countedTokens('output_tokens')} as output,
    m.estimated_input as estimatedInput, m.estimated_output as estimatedOutput
  from messages m indexed by recorded_tokens cross join chats c on c.num = m.chat
  where m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
    ${narrow(scope)} ${within(scope, 'm.created_at')}
`

/** Messages with recorded tokens. There are few. */
export const readRecorded = (db: Mirror, scope: MessageScope): RecordedMessage[] =>
  db.prepare<[Bound], RecordedMessage>(listRecorded(scope)).all({ ...bind(scope), copies: listForkCopies(db, null) })

/** Its time is that of its last activity, its model the only one that its messages name. */
export interface ChatRecord extends LedgerItem {
  readonly contextTokens: number | null
  /** For all models of the chat, because the mirror does not know the share of each. Null if models are filtered. */
  readonly cents: number | null
}

/** Of chats `c`, which may be missing. */
const ofChats = ({ projectNums, machineNums }: MessageScope): string => `
  ${projectNums === null ? '' : 'and c.project in (select value from json_each(@projects))'}
  ${machineNums === null ? '' : `and c.num is not null and ${isOfMachines('c', '@machines')}`}
`
const ofModels = ({ models }: MessageScope, model: string): string =>
  models === null ? '' : `and ${model} in (select value from json_each(@models))`

const listChatRecords = (scope: MessageScope): string => `
  select c.num as chat, c.project, c.last_activity_at as atMs, ${ONLY_MODEL} as model,
    c.context_used as contextTokens, ${scope.models === null ? 'c.recorded_cost_cents' : 'null'} as cents
  from chats c
  where c.is_draft = 0 and (c.context_used > 0 or c.recorded_cost_cents is not null)
    ${within(scope, 'c.last_activity_at')} ${ofChats(scope)} ${ofModels(scope, ONLY_MODEL)}
  order by c.last_activity_at
`

/** Values of chats rather than messages: cents and context size, by the time of the chat's last activity. */
export const readChatRecords = (db: Mirror, scope: MessageScope): ChatRecord[] =>
  db.prepare<[Bound], ChatRecord>(listChatRecords(scope)).all(bind(scope))

/** Its chat is null if none was found. */
export type ImportedEvent = LedgerItem &
  Pick<UsageEvent, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'total' | 'cents'>

const listEvents = (scope: MessageScope): string => `
  select e.at as atMs, e.model, e.chat, c.project, e.input, e.output, e.cache_read as cacheRead,
    e.cache_write as cacheWrite, e.total, e.cents
  from usage_events e left join chats c on c.num = e.chat
  where true ${within(scope, 'e.at')} ${ofChats(scope)} ${ofModels(scope, 'e.model')}
  order by e.at
`

/** Rows of imported usage files, by time. */
export const readEvents = (db: Mirror, scope: MessageScope): ImportedEvent[] =>
  db.prepare<[Bound], ImportedEvent>(listEvents(scope)).all(bind(scope))

const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`

/** In one chat: where another chat has the same id, or the same request. */
const OF_CHAT = `
  select key from messages indexed by recorded_ids where ${RECORDED} and id in (
    select id from messages indexed by recorded_tokens where chat = @chat and ${RECORDED}
  )
  union
  select key from messages indexed by recorded_requests where ${RECORDED} and request_id in (
    select request_id from messages indexed by recorded_tokens where chat = @chat and ${RECORDED}
  )
`
const OF_ALL = `
  select key from messages indexed by recorded_ids where ${RECORDED} and id in (
    select id from messages indexed by recorded_ids where ${RECORDED} group by id having min(chat) < max(chat)
  )
  union
  select key from messages indexed by recorded_requests where ${RECORDED} and request_id in (
    select request_id from messages indexed by recorded_requests where ${RECORDED} and request_id is not null
    group by request_id having min(chat) < max(chat)
  )
`

/** Recorded messages that may be copies, those of the oldest chats first. */
const mayBeCopies = (repeated: string): string => `
  with repeated as (${repeated})
  select m.key, m.chat, m.id, m.request_id as request, m.input_tokens as input, m.output_tokens as output,
    m.content_hash as content, iif(m.created_at_source in ('message', 'header', 'timing'), m.created_at, null) as ownMs
  from repeated join messages m on m.key = repeated.key join chats c on c.num = m.chat
  where c.is_draft = 0
  order by c.created_at is null, c.created_at, c.id, m.key
`

interface Row {
  readonly key: number
  readonly chat: number
  readonly id: string
  readonly request: string | null
  /** The message's own time, in epoch milliseconds. */
  readonly ownMs: number | null
  readonly input: number | null
  readonly output: number | null
  readonly content: string
}

/**
 * Keys of recorded messages that a forked chat copied, as JSON. Cursor copies a message under its id, or under a new one
 * with the same request and time. An id alone does not tell, because not every writer of a store makes ids that are used
 * once. The tokens count in the chat that began first, whichever of them was read first; when it is purged, in the next
 * one.
 * @param chat the number of the chat whose copies are wanted; null for those of all chats
 */
export function listForkCopies(db: Mirror, chat: number | null): string {
  const copies = new Set<number>()
  const firstChats = new Map<string, number>()
  const found = prepared<Row>(db, mayBeCopies(chat === null ? OF_ALL : OF_CHAT)).iterate({ chat })
  for (const { key, chat: of, id, request, ownMs, input, output, content } of found) {
    const ofRequest = request === null ? [] : [JSON.stringify([request, ownMs, input, output])]
    for (const name of [JSON.stringify([id, input, output, content]), ...ofRequest]) {
      const first = firstChats.get(name)
      if (first === undefined) firstChats.set(name, of)
      else if (first !== of) copies.add(key)
    }
  }
  return JSON.stringify([...copies])
}

/** SQL expression over a message `m`. `@copies` is the result of `listForkCopies`. */
export const IS_FORK_COPY = `m.key in (select value from json_each(@copies))`

/** SQL expression: the recorded tokens that count in the message's chat; null if none are recorded. */
export const countedTokens = (column: 'input_tokens' | 'output_tokens'): string =>
  `iif(m.${column} > 0, iif(${IS_FORK_COPY}, 0, m.${column}), null)`
