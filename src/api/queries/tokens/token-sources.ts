import type { Mirror } from '../../../mirror/open.ts'
import { ONLY_MODEL } from '../../../mirror/usage/usage-events.ts'
import { isOfMachines } from '../machines.ts'
import type { MessageScope } from '../message-sums.ts'
import type { LedgerItem } from './token-sums.ts'

/** Its time is that of its last activity, its model the only one that its messages name. */
export interface ChatRecord extends LedgerItem {
  readonly contextTokens: number | null
  /** For all models of the chat, because the mirror does not know the share of each. Null if models are filtered. */
  readonly cents: number | null
}

type Bound = Readonly<Record<string, string | number | null>>

const CHAT_RECORDS = `
  select c.num as chat, c.project, c.last_activity_at as atMs, ${ONLY_MODEL} as model,
    c.context_used as contextTokens, iif(@models is null, c.recorded_cost_cents, null) as cents
  from chats c
  where c.is_draft = 0 and (c.context_used > 0 or c.recorded_cost_cents is not null)
    and (@fromMs is null or c.last_activity_at >= @fromMs) and (@toMs is null or c.last_activity_at < @toMs)
    and (@projects is null or c.project in (select value from json_each(@projects)))
    and (@machines is null or ${isOfMachines('c', '@machines')})
    and (@models is null or ${ONLY_MODEL} in (select value from json_each(@models)))
  order by c.last_activity_at
`

/** Values of chats rather than messages: cents and context size, by the time of the chat's last activity. */
export const readChatRecords = (db: Mirror, scope: MessageScope): ChatRecord[] =>
  db.prepare<[Bound], ChatRecord>(CHAT_RECORDS).all(bind(scope))

/** Its chat is null if none was found. */
export interface ImportedEvent extends LedgerItem {
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly total: number | null
  readonly cents: number | null
}

const EVENTS = `
  select e.at as atMs, e.model, e.chat, c.project, e.input, e.output, e.cache_read as cacheRead,
    e.cache_write as cacheWrite, e.total, e.cents
  from usage_events e left join chats c on c.num = e.chat
  where (@fromMs is null or e.at >= @fromMs) and (@toMs is null or e.at < @toMs)
    and (@projects is null or c.project in (select value from json_each(@projects)))
    and (@machines is null or (c.num is not null and ${isOfMachines('c', '@machines')}))
    and (@models is null or e.model in (select value from json_each(@models)))
  order by e.at
`

/** Rows of imported usage files, by time. */
export const readEvents = (db: Mirror, scope: MessageScope): ImportedEvent[] =>
  db.prepare<[Bound], ImportedEvent>(EVENTS).all(bind(scope))

const bind = ({ projectNums, machineNums, models, fromMs, toMs }: MessageScope): Bound => ({
  projects: projectNums === null ? null : JSON.stringify(projectNums),
  machines: machineNums === null ? null : JSON.stringify(machineNums),
  models: models === null ? null : JSON.stringify(models),
  fromMs,
  toMs,
})

export interface NamedRow {
  readonly num: number
  readonly id: string
  readonly name: string
}

const PROJECTS = `select num, id, name from projects where num in (select value from json_each(?))`
const CHATS = `select num, id, title as name from chats where num in (select value from json_each(?))`

/** Ids and names of projects or chats, by number. */
export function readNames(db: Mirror, of: 'project' | 'chat', nums: readonly number[]): Map<number, NamedRow> {
  const rows = db.prepare<[string], NamedRow>(of === 'project' ? PROJECTS : CHATS).all(JSON.stringify(nums))
  return new Map(rows.map((row) => [row.num, row]))
}
