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
type Trait = 'time' | 'project' | 'model' | 'chat'
const COLUMNS: Readonly<Record<Trait, string>> = {
  time: 'm.quarter',
  project: 'm.chat',
  model: 'm.chat, m.model',
  chat: 'm.chat',
}

const AT = `iif(s.quarter = ${UNDATED_QUARTER}, null, s.quarter * ${QUARTER_MS}) as atMs`

/** The many sums of messages are added up before chats are joined, of which there are few. */
const sumsBy = (trait: Trait, scope: MessageScope): string => `
  with s as materialized (
    select ${COLUMNS[trait]}, sum(m.messages) as messages, sum(m.estimated) as estimated, sum(m.input) as input,
      sum(m.output) as output
    from (${COUNTED}) m where true ${narrow(scope)} group by ${COLUMNS[trait]}
  )
  select ${trait === 'time' ? `${AT}, null as chat, null as project` : 'null as atMs, s.chat, c.project'},
    ${trait === 'model' ? `coalesce(s.model, ${ONLY_MODEL})` : 'null'} as model, s.messages, s.estimated, s.input, s.output
  from s ${trait === 'time' ? '' : 'left join chats c on c.num = s.chat'}
`

export const readSums = (db: Mirror, trait: Trait, scope: MessageScope): MessageSum[] =>
  db.prepare<[Bound], MessageSum>(sumsBy(trait, scope)).all({ ...bind(scope), ...bindPeriod(scope.fromMs, scope.toMs) })

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
  /** Null if only the other one is recorded. */
  readonly input: number | null
  readonly output: number | null
  /** An estimate that was made before there was a record. */
  readonly estimatedInput: number | null
  readonly estimatedOutput: number | null
}

/** The recorded tokens of a message `m`. Cursor writes 0 if it did not count. */
export const RECORDED_TOKENS = `
  iif(m.input_tokens > 0, m.input_tokens, null) as input, iif(m.output_tokens > 0, m.output_tokens, null) as output
`

const listRecorded = (scope: MessageScope): string => `
  select m.chat, c.project, coalesce(m.model, ${ONLY_MODEL}) as model, m.created_at as atMs,
    ${RECORDED_TOKENS},
    m.estimated_input as estimatedInput, m.estimated_output as estimatedOutput
  from messages m indexed by recorded_tokens cross join chats c on c.num = m.chat
  where m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
    ${narrow(scope)} ${within(scope, 'm.created_at')}
`

/** Messages with recorded tokens. There are few. */
export const readRecorded = (db: Mirror, scope: MessageScope): RecordedMessage[] =>
  db.prepare<[Bound], RecordedMessage>(listRecorded(scope)).all(bind(scope))

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
