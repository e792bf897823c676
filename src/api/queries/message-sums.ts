import { quarterOf, UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { ONLY_MODEL } from '../../mirror/usage/usage-events.ts'
import { sortKeyFloor } from '../../mirror/write/messages.ts'
import type { Stats } from '../answers/stats.ts'
import { bind, theRow } from './rows.ts'
import { chatInScope, type Scope } from './scope.ts'

/** Which messages, chats and events count. */
export interface MessageScope extends Scope {
  /** Exact names; null: any. */
  readonly models: readonly string[] | null
  /** Chats that were never sent. Their messages do not count. */
  readonly draftNums: readonly number[]
}

const DRAFTS = `select num from chats where is_draft = 1 and message_count > 0`

/** Drafts with messages are few. They are read once and not by each statement. */
export const withoutDrafts = (db: Mirror, scope: Omit<MessageScope, 'draftNums'>): MessageScope => ({
  ...scope,
  draftNums: prepared<number>(db, DRAFTS).pluck().all(),
})

const OF_MODELS = `(
  m.model in (select value from json_each(@models)) or m.model is null and m.chat in (
    select c.num from chats c where ${ONLY_MODEL} in (select value from json_each(@models))
  )
)`

/** Tests of a row `m` with a chat and a model. */
export function narrow(scope: MessageScope): string {
  const { draftNums, models } = scope
  const tests = [
    chatInScope(scope, 'm.chat'),
    draftNums.length === 0 ? '' : `and m.chat not in (select value from json_each(@draftNums))`,
    models === null ? '' : `and ${OF_MODELS}`,
  ]
  return tests.join(' ')
}

/**
 * Kept sums of whole quarters of an hour, and the messages between them and the bounds of the period. Keys grow with time,
 * so a period is a range of keys.
 */
export const COUNTED = `
  select quarter, chat, nullif(model, '') as model, messages, users, calls, estimated, input, output
  from message_sums where quarter >= @fromQuarter and quarter < @toQuarter
  union all
  select ${quarterOf('m.created_at')}, m.chat, m.model, 1, m.role = 'user', m.tool_calls,
    m.estimated_input is not null, m.estimated_input, m.estimated_output
  from json_each(@edges) edge cross join messages m not indexed
  where m.key >= edge.value ->> 2 and m.key < edge.value ->> 3
    and m.created_at >= edge.value ->> 0 and m.created_at < edge.value ->> 1 and m.is_orphan = 0
`

export const QUARTER_MS = 900_000
/** A key may be slightly later than the time of its message. */
const KEY_SLACK = 64 * 1024 * 1024

/** Values for all parameters of a scope. Without any bound, undated messages count. */
export function bindSums(scope: MessageScope) {
  const { fromMs, toMs } = scope
  const isEndless = fromMs === null && toMs === null
  const fromQuarter = fromMs === null ? UNDATED_QUARTER + Number(!isEndless) : Math.ceil(fromMs / QUARTER_MS)
  const toQuarter = toMs === null ? Number.MAX_SAFE_INTEGER : Math.floor(toMs / QUARTER_MS)
  const [start, end] = [fromQuarter * QUARTER_MS, toQuarter * QUARTER_MS]
  // The whole period can be inside one quarter.
  const edges =
    fromQuarter > toQuarter
      ? [[fromMs, toMs]]
      : [
          [fromMs, start],
          [end, toMs],
        ]
  const keyed = edges.flatMap(([from = null, to = null]) =>
    from === null || to === null ? [] : [[from, to, sortKeyFloor(from), sortKeyFloor(to) + KEY_SLACK]],
  )
  return bind({ ...scope, fromQuarter, toQuarter, edges: keyed })
}

const undatedIn = (scope: MessageScope): string => `
  select ifnull(sum(m.messages), 0) as messages,
    count(*) filter (where c.is_subagent = 0 and c.message_count = m.messages) as chats
  from (
    select m.chat, sum(m.messages) as messages
    from (
      select chat, nullif(model, '') as model, messages from message_sums where quarter = ${UNDATED_QUARTER}
    ) m where true ${narrow(scope)} group by 1
  ) m left join chats c on c.num = m.chat
`

/** How many messages have no time, and how many chats have only such messages. */
export const countUndated = (db: Mirror, scope: MessageScope): Stats['undated'] =>
  theRow(prepared<Stats['undated']>(db, undatedIn(scope)), bind(scope))
