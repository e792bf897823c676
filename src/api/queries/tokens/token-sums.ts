import type { Mirror } from '../../../mirror/open.ts'
import { ONLY_MODEL } from '../../../mirror/usage/usage-events.ts'
import { type Bound, bind, bindPeriod, COUNTED, type MessageScope, narrow, ofUndated, within } from '../message-sums.ts'
import { countedTokens, IS_FORK_COPY, listForkCopies } from './fork-copies.ts'
import { sortKeyFloor } from '../../../mirror/write/messages.ts'

/** A sum over messages of threads, including those with recorded tokens. */
export interface MessageSum {
  readonly messages: number
  /** Messages with an estimate, and the sums of the estimates; null if there are none. */
  readonly estimated: number
  readonly input: number | null
  readonly output: number | null
}

export type Grouped = 'project' | 'model' | 'chat'
const keys = {
  project: 'c.project',
  model: `coalesce(s.model, ${ONLY_MODEL})`,
} as const

const SUMS = `
  sum(m.messages) as messages, sum(m.estimated) as estimated, sum(m.input) as input, sum(m.output) as output
`

export const sumByGroup = (group: Grouped, scope: MessageScope): string =>
  group === 'chat' ? sumByChat(scope) : sumByTrait(group, scope)

const sumByChat = (scope: MessageScope): string => `
  select m.chat as key, ${SUMS} from (${COUNTED}) m where true ${narrow(scope)} group by m.chat
`

const sumByTrait = (group: keyof typeof keys, scope: MessageScope): string => `
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
export const readGroupSums = (db: Mirror, group: Grouped, scope: MessageScope): GroupSum[] =>
  db.prepare<[Bound], GroupSum>(sumByGroup(group, scope)).all({
    ...bind(scope),
    ...bindPeriod(scope.fromMs, scope.toMs),
  })

/** An aggregate without groups: always one row. */
export const sumOfPeriod = (scope: MessageScope): string => `
  select coalesce(sum(m.messages), 0) as messages, coalesce(sum(m.estimated), 0) as estimated,
    sum(m.input) as input, sum(m.output) as output
  from (${COUNTED}) m where true ${narrow(scope)}
`
const NEXT_TIME = `
  select created_at from messages not indexed
  where key >= ? and created_at >= ? and is_orphan = 0 order by key limit 1
`

/** Sums over messages, one period after the other. */
export class PeriodSums {
  readonly #scope: MessageScope
  readonly #sum
  readonly #next

  constructor(db: Mirror, scope: MessageScope) {
    this.#scope = scope
    this.#sum = db.prepare<[Bound], MessageSum>(sumOfPeriod(scope))
    this.#next = db.prepare<[bigint, number], number>(NEXT_TIME).pluck()
  }

  /** @param toMs exclusive */
  of(fromMs: number, toMs: number): MessageSum {
    return this.#read(bindPeriod(fromMs, toMs))
  }

  ofUndated(): MessageSum {
    return this.#read(ofUndated)
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
