import type { Mirror } from '../../../mirror/open.ts'
import { ONLY_MODEL } from '../../../mirror/usage/match-usage.ts'
import { isOfMachines } from '../machines.ts'
import { countedTokens, IS_FORK_COPY, listForkCopies } from './fork-copies.ts'
import { sortKeyFloor } from '../../../mirror/write/messages/key-allocator.ts'

/** Which messages, chats and events count. */
export interface TokenScope {
  /** From `resolveProjects`. An empty list matches nothing; null matches everything. */
  readonly projectNums: readonly number[] | null
  /** From `resolveMachines`, in the same way. */
  readonly machineNums: readonly number[] | null
  /** Chats that were never sent, from `readDrafts`. Their messages do not count. */
  readonly draftNums: readonly number[]
  /** Exact names; null: any. */
  readonly models: readonly string[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
}

/** A sum over messages of threads, including those with recorded tokens. */
export interface MessageSum {
  readonly messages: number
  /** Messages with an estimate, and the sums of the estimates; null if there are none. */
  readonly estimated: number
  readonly input: number | null
  readonly output: number | null
}

const OF_PROJECTS = `(select num from chats where project in (select value from json_each(@projects)))`
const OF_MACHINES = `(select c.num from chats c where ${isOfMachines('c', '@machines')})`
const OF_MODELS = `(
  m.model in (select value from json_each(@models)) or m.model is null and m.chat in (
    select c.num from chats c where ${ONLY_MODEL} in (select value from json_each(@models))
  )
)`

type Bound = Readonly<Record<string, string | number | bigint | null>>

/** Values for all parameters of a scope. SQLite ignores those that a statement does not use. */
function bind({ projectNums, machineNums, draftNums, models, fromMs, toMs }: TokenScope): Bound {
  return {
    projects: JSON.stringify(projectNums),
    machines: JSON.stringify(machineNums),
    drafts: JSON.stringify(draftNums),
    models: JSON.stringify(models),
    fromMs,
    toMs,
  }
}

function narrow({ projectNums, machineNums, draftNums, models }: TokenScope): string {
  const tests = [
    projectNums === null ? '' : `and m.chat in ${OF_PROJECTS}`,
    machineNums === null ? '' : `and m.chat in ${OF_MACHINES}`,
    draftNums.length === 0 ? '' : `and m.chat not in (select value from json_each(@drafts))`,
    models === null ? '' : `and ${OF_MODELS}`,
  ]
  return tests.join(' ')
}

function within({ fromMs, toMs }: TokenScope, column: string): string {
  return [fromMs === null ? '' : `and ${column} >= @fromMs`, toMs === null ? '' : `and ${column} < @toMs`].join(' ')
}

export type Grouped = 'project' | 'model' | 'chat'
const keys = {
  project: 'c.project',
  model: `coalesce(s.model, ${ONLY_MODEL})`,
} as const

const SUMS = `
  sum(m.messages) as messages, sum(m.estimated) as estimated, sum(m.input) as input, sum(m.output) as output
`

/**
 * Kept sums of whole quarters of an hour, and the messages between them and the bounds of the period. Keys grow with time,
 * so a period is a range of keys.
 */
const COUNTED = `
  select chat, nullif(model, '') as model, messages, estimated, input, output
  from token_sums where quarter >= @fromQuarter and quarter < @toQuarter
  union all
  select chat, model, 1, estimated_input is not null, estimated_input, estimated_output
  from messages not indexed
  where key >= @startKey and key < @startKeyEnd and created_at >= @startMs and created_at < @startEndMs and is_orphan = 0
  union all
  select chat, model, 1, estimated_input is not null, estimated_input, estimated_output
  from messages not indexed
  where key >= @endKey and key < @endKeyEnd and created_at >= @endMs and created_at < @endEndMs and is_orphan = 0
`

const QUARTER_MS = 900_000
/** The quarter of messages without a known time. */
const UNDATED = -1_000_000_000_000_000
/** A key may be slightly later than the time of its message. */
const KEY_SLACK = 64 * 1024 * 1024

/** Values for all parameters of a sum over a period, in epoch milliseconds. Without any bound, undated messages count. */
function bindPeriod(fromMs: number | null, toMs: number | null): Bound {
  const isEndless = fromMs === null && toMs === null
  const fromQuarter = fromMs === null ? UNDATED + Number(!isEndless) : Math.ceil(fromMs / QUARTER_MS)
  const toQuarter = toMs === null ? Number.MAX_SAFE_INTEGER : Math.floor(toMs / QUARTER_MS)
  // The whole period can be inside one quarter.
  const isInside = fromMs !== null && toMs !== null && fromQuarter > toQuarter
  const start = fromMs === null ? NOTHING : ([fromMs, isInside ? toMs : fromQuarter * QUARTER_MS] as const)
  const end = toMs === null || isInside ? NOTHING : ([toQuarter * QUARTER_MS, toMs] as const)
  return { fromQuarter, toQuarter, ...bindEdge('start', start), ...bindEdge('end', end) }
}

const NOTHING = [0, 0] as const

function bindEdge(name: 'start' | 'end', [fromMs, toMs]: readonly [number, number]): Bound {
  const isEmpty = fromMs >= toMs
  return {
    [`${name}Key`]: isEmpty ? 0 : BigInt(sortKeyFloor(fromMs)),
    [`${name}KeyEnd`]: isEmpty ? 0 : BigInt(sortKeyFloor(toMs) + KEY_SLACK),
    [`${name}Ms`]: fromMs,
    [`${name}EndMs`]: toMs,
  }
}

export const sumByGroup = (group: Grouped, scope: TokenScope): string =>
  group === 'chat' ? sumByChat(scope) : sumByTrait(group, scope)

const sumByChat = (scope: TokenScope): string => `
  select m.chat as key, ${SUMS} from (${COUNTED}) m where true ${narrow(scope)} group by m.chat
`

const sumByTrait = (group: keyof typeof keys, scope: TokenScope): string => `
  with s as materialized (
    select m.chat, m.model, ${SUMS} from (${COUNTED}) m where true ${narrow(scope)} group by m.chat, m.model
  )
  select ${keys[group]} as key, sum(s.messages) as messages, sum(s.estimated) as estimated,
    sum(s.input) as input, sum(s.output) as output
  from s join chats c on c.num = s.chat
  group by 1
`

export type GroupSum = MessageSum & { readonly key: number | string | null }

/** @returns sums by the number of the project or chat, or by the name of the model */
export const readGroupSums = (db: Mirror, group: Grouped, scope: TokenScope): GroupSum[] =>
  db.prepare<[Bound], GroupSum>(sumByGroup(group, scope)).all({
    ...bind(scope),
    ...bindPeriod(scope.fromMs, scope.toMs),
  })

/** An aggregate without groups: always one row. */
export const sumOfPeriod = (scope: TokenScope): string => `
  select coalesce(sum(m.messages), 0) as messages, coalesce(sum(m.estimated), 0) as estimated,
    sum(m.input) as input, sum(m.output) as output
  from (${COUNTED}) m where true ${narrow(scope)}
`
const NEXT_TIME = `
  select created_at from messages not indexed
  where key >= ? and created_at >= ? and is_orphan = 0 order by key limit 1
`

const DRAFTS = `select num from chats where is_draft = 1 and message_count > 0`

/** Drafts with messages. There are few. */
export const readDrafts = (db: Mirror): number[] => db.prepare<[], number>(DRAFTS).pluck().all()

/** Sums over messages, one period after the other. */
export class PeriodSums {
  readonly #scope: TokenScope
  readonly #sum
  readonly #next

  constructor(db: Mirror, scope: TokenScope) {
    this.#scope = scope
    this.#sum = db.prepare<[Bound], MessageSum>(sumOfPeriod(scope))
    this.#next = db.prepare<[bigint, number], number>(NEXT_TIME).pluck()
  }

  /** @param toMs exclusive */
  of(fromMs: number, toMs: number): MessageSum {
    return this.#read(bindPeriod(fromMs, toMs))
  }

  ofUndated(): MessageSum {
    return this.#read({ ...bindPeriod(0, 0), fromQuarter: UNDATED, toQuarter: UNDATED + 1 })
  }

  #read(period: Bound): MessageSum {
    const sum = this.#sum.get({ ...bind(this.#scope), ...period })
    if (sum === undefined) throw new Error('an aggregate returned no row')
    return sum
  }

  /** The time of the first message at or after a moment; null if there is none. */
  nextTime(ms: number): number | null {
    return this.#next.get(BigInt(sortKeyFloor(ms)), ms) ?? null
  }
}

export interface RecordedMessage {
  /** 1 if a forked chat copied it. Its counts are 0, because they count in the other chat. */
  readonly isCopy: number
  readonly chat: number
  readonly project: number | null
  readonly model: string | null
  readonly atMs: number | null
  /** Null if only the other one is recorded. */
  readonly input: number | null
  readonly output: number | null
  /** An estimate that was made before there was a record. */
  readonly estimatedInput: number | null
  readonly estimatedOutput: number | null
}

const listRecorded = (scope: TokenScope): string => `
  select m.chat, c.project, coalesce(m.model, ${ONLY_MODEL}) as model, m.created_at as atMs, ${IS_FORK_COPY} as isCopy,
    ${countedTokens('input_tokens')} as input, ${countedTokens('output_tokens')} as output,
    m.estimated_input as estimatedInput, m.estimated_output as estimatedOutput
  from messages m indexed by recorded_tokens cross join chats c on c.num = m.chat
  where m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
    ${narrow(scope)} ${within(scope, 'm.created_at')}
`

/** Messages with recorded tokens. There are few. */
export const readRecorded = (db: Mirror, scope: TokenScope): RecordedMessage[] =>
  db.prepare<[Bound], RecordedMessage>(listRecorded(scope)).all({ ...bind(scope), copies: listForkCopies(db, null) })
