import type { UsageEvent } from '../../mirror/usage/usage-events.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import { ONLY_MODEL } from '../../mirror/usage/usage-events.ts'
import { bind, bindPeriod, COUNTED, type MessageScope, narrow, ofUndated, QUARTER_MS, within } from './message-sums.ts'
import { isOfMachines } from './machines.ts'
import { prepared } from '../../mirror/sql.ts'
import { answerRow, type Row } from './answer-row.ts'
import type { ChatDetail } from '../answers/chats.ts'

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

const SUMS = 'sum(messages) as messages, sum(estimated) as estimated, sum(input) as input, sum(output) as output'
const COLUMNS: readonly (readonly [trait: Trait, kept: string, read: string, name: string])[] = [
  ['time', 'quarter', `iif(s.quarter = ${UNDATED_QUARTER}, null, s.quarter * ${QUARTER_MS})`, 'atMs'],
  ['project', 'chat', 'c.project', 'project'],
  ['model', 'chat, model', `coalesce(s.model, ${ONLY_MODEL})`, 'model'],
  ['chat', 'chat', 's.chat', 'chat'],
]

/** The many sums of messages are added up before chats are joined, of which there are few. */
function sumsBy(traits: readonly Trait[], scope: MessageScope): string {
  const kept = COLUMNS.filter(([trait]) => traits.includes(trait)).map(([, columns]) => columns)
  const read = COLUMNS.map(([trait, , sql, name]) => `${traits.includes(trait) ? sql : 'null'} as ${name}`)
  const sums = `
    select ${kept.join(', ')}, ${SUMS} from (${COUNTED}) m where true ${narrow(scope)} group by ${kept.join(', ')}
  `
  if (!traits.includes('project') && !traits.includes('model'))
    return `select ${read.join(', ')}, messages, estimated, input, output from (${sums}) s`
  // Any chat of the row tells that it belongs to one.
  const [chat, byChat] = traits.includes('chat') ? ['s.chat', ', s.chat'] : ['min(s.chat)', '']
  return `
    with s as materialized (${sums})
    select ${read.slice(0, -1).join(', ')}, ${chat} as chat, ${SUMS}
    from s left join chats c on c.num = s.chat group by 1, 2, 3 ${byChat}
  `
}

export const readSums = (db: Mirror, traits: readonly Trait[], scope: MessageScope): MessageSum[] =>
  prepared<MessageSum>(db, sumsBy(traits, scope)).all({ ...bind(scope), ...bindPeriod(scope.fromMs, scope.toMs) })

const countOf = (scope: MessageScope): string => `
  select coalesce(sum(m.messages), 0) from (${COUNTED}) m where true ${narrow(scope)}
`

/** How many messages have no time. */
export const countUndated = (db: Mirror, scope: MessageScope): number =>
  prepared<number>(db, countOf(scope))
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

const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`
const OWN_TIME = `iif(m.created_at_source in ('message', 'header', 'timing'), m.created_at, null)`
const FIRST = `order by c.created_at is null, c.created_at, c.id, m.key`

/**
 * Keys of recorded messages that a forked chat copied. Cursor copies a message under its id, or under a new one with the
 * same request and time. An id alone does not tell, because not every writer of a store makes ids that are used once. The
 * tokens count in the chat that began first, whichever of them was read first; when it is purged, in the next one.
 */
const COPIES = `
  repeated as (
    select key from messages indexed by recorded_ids where ${RECORDED} and id in (
      select id from messages indexed by recorded_ids where ${RECORDED} group by id having min(chat) < max(chat)
    )
    union
    select key from messages indexed by recorded_requests where ${RECORDED} and request_id in (
      select request_id from messages indexed by recorded_requests where ${RECORDED} and request_id is not null
      group by request_id having min(chat) < max(chat)
    )
  ), copies as materialized (
    select key from (
      select m.key, m.chat, m.request_id is not null as hasRequest,
        first_value(m.chat) over (partition by m.id, m.input_tokens, m.output_tokens, m.content_hash ${FIRST}) as ofId,
        first_value(m.chat) over (
          partition by m.request_id, ${OWN_TIME}, m.input_tokens, m.output_tokens ${FIRST}
        ) as ofRequest
      from repeated r join messages m on m.key = r.key join chats c on c.num = m.chat where c.is_draft = 0
    ) where chat <> ofId or hasRequest and chat <> ofRequest
  )
`

/** The recorded tokens of a message `m` that count in its chat. Cursor writes 0 if it did not count. */
const COUNTED_TOKENS = ['input', 'output']
  .map((side) => `iif(m.${side}_tokens > 0, iif(m.key in copies, 0, m.${side}_tokens), null) as ${side}`)
  .join(', ')

const listRecorded = (scope: MessageScope): string => `
  with ${COPIES}
  select m.chat, c.project, coalesce(m.model, ${ONLY_MODEL}) as model, m.created_at as atMs, m.key in copies as isCopy,
    ${COUNTED_TOKENS},
    m.estimated_input as estimatedInput, m.estimated_output as estimatedOutput
  from messages m indexed by recorded_tokens cross join chats c on c.num = m.chat
  where m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
    ${narrow(scope)} ${within(scope, 'm.created_at')}
`

/** Messages with recorded tokens. There are few. */
export const readRecorded = (db: Mirror, scope: MessageScope): RecordedMessage[] =>
  prepared<RecordedMessage>(db, listRecorded(scope)).all(bind(scope))

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
  prepared<ChatRecord>(db, listChatRecords(scope)).all(bind(scope))

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
  prepared<ImportedEvent>(db, listEvents(scope)).all(bind(scope))

/** A record replaces the estimate that was made before it. */
const OF_CHAT = `
  with ${COPIES}, counted as (
    select ${COUNTED_TOKENS}, estimated_input, estimated_output from messages m where chat = ? and is_orphan = 0
  ), recorded as (
    select * from counted where coalesce(input, output) is not null
  ), estimated as (
    select * from counted where coalesce(input, output) is null and estimated_input is not null
  )
  select
    (select json_object('input', sum(input), 'output', sum(output), 'messages', count(*))
      from recorded having count(*) > 0) as recorded,
    (select json_object('input', sum(estimated_input), 'output', sum(estimated_output), 'messages', count(*))
      from estimated having count(*) > 0) as estimated
`

/** Sums over the messages of one chat. @param num its row number */
export function sumTokens(db: Mirror, num: number): ChatDetail['tokens'] {
  const row = prepared<Row>(db, OF_CHAT).get(num)
  if (row === undefined) throw new Error('a select without a from clause gave no row')
  return answerRow(row, ['recorded', 'estimated'])
}
