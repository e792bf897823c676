import type { Mirror } from '../../../mirror/open.ts'
import { ONLY_MODEL } from '../../../mirror/usage/match-usage.ts'
import { isOfMachines } from '../machines.ts'
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

const SUMS = `
  count(*) as messages, count(m.estimated_input) as estimated,
  sum(m.estimated_input) as input, sum(m.estimated_output) as output
`
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

/** Uses one covering index in the order of the groups: nothing is sorted, and no message row is read. */
export const sumByGroup = (group: Grouped, scope: TokenScope): string =>
  group === 'chat' ? sumByChat(scope) : sumByTrait(group, scope)

const sumByChat = (scope: TokenScope): string => `
  select m.chat as key, ${SUMS}
  from messages m indexed by token_counts
  where m.is_orphan = 0 ${narrow(scope)} ${within(scope, 'm.created_at')}
  group by m.chat
`

const sumByTrait = (group: keyof typeof keys, scope: TokenScope): string => `
  with s as materialized (
    select m.chat, m.model, ${SUMS}
    from messages m indexed by token_counts
    where m.is_orphan = 0 ${narrow(scope)} ${within(scope, 'm.created_at')}
    group by m.chat, m.model
  )
  select ${keys[group]} as key, sum(s.messages) as messages, sum(s.estimated) as estimated,
    sum(s.input) as input, sum(s.output) as output
  from s join chats c on c.num = s.chat
  group by 1
`

export type GroupSum = MessageSum & { readonly key: number | string | null }

/** @returns sums by the number of the project or chat, or by the name of the model */
export const readGroupSums = (db: Mirror, group: Grouped, scope: TokenScope): GroupSum[] =>
  db.prepare<[Bound], GroupSum>(sumByGroup(group, scope)).all(bind(scope))

/** Keys grow with time, so a period is a range of keys. A key may be slightly later than the time of its message. */
const KEY_SLACK = 64 * 1024 * 1024
export const sumOfPeriod = (scope: TokenScope): string => `
  select ${SUMS}
  from messages m not indexed
  where m.key >= @fromKey and m.key < @toKey and m.created_at >= @fromMs and m.created_at < @toMs
    and m.is_orphan = 0 ${narrow(scope)}
`
const sumOfUndated = (scope: TokenScope): string => `
  select ${SUMS} from messages m not indexed
  where m.key < @toKey and m.created_at is null and m.is_orphan = 0 ${narrow(scope)}
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
  readonly #db: Mirror
  readonly #scope: TokenScope
  readonly #sum
  readonly #next

  constructor(db: Mirror, scope: TokenScope) {
    this.#db = db
    this.#scope = scope
    this.#sum = db.prepare<[Bound], MessageSum>(sumOfPeriod(scope))
    this.#next = db.prepare<[bigint, number], number>(NEXT_TIME).pluck()
  }

  /** @param toMs exclusive */
  of(fromMs: number, toMs: number): MessageSum {
    const bounds = { fromKey: BigInt(sortKeyFloor(fromMs)), toKey: BigInt(sortKeyFloor(toMs) + KEY_SLACK) }
    const sum = this.#sum.get({ ...bind(this.#scope), ...bounds, fromMs, toMs })
    if (sum === undefined) throw new Error('an aggregate returned no row')
    return sum
  }

  ofUndated(): MessageSum {
    const toKey = BigInt(sortKeyFloor(Date.UTC(2000, 0)))
    const sum = this.#db.prepare<[Bound], MessageSum>(sumOfUndated(this.#scope)).get({ ...bind(this.#scope), toKey })
    if (sum === undefined) throw new Error('an aggregate returned no row')
    return sum
  }

  /** The time of the first message at or after a moment; null if there is none. */
  nextTime(ms: number): number | null {
    return this.#next.get(BigInt(sortKeyFloor(ms)), ms) ?? null
  }
}

export interface RecordedMessage {
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
  select m.chat, c.project, coalesce(m.model, ${ONLY_MODEL}) as model, m.created_at as atMs,
    iif(m.input_tokens > 0, m.input_tokens, null) as input, iif(m.output_tokens > 0, m.output_tokens, null) as output,
    m.estimated_input as estimatedInput, m.estimated_output as estimatedOutput
  from messages m indexed by recorded_tokens cross join chats c on c.num = m.chat
  where m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
    ${narrow(scope)} ${within(scope, 'm.created_at')}
`

/** Messages with recorded tokens. There are few. */
export const readRecorded = (db: Mirror, scope: TokenScope): RecordedMessage[] =>
  db.prepare<[Bound], RecordedMessage>(listRecorded(scope)).all(bind(scope))
