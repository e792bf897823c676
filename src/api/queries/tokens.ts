import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { UNDATED_QUARTER } from '../../mirror/sum-tables.ts'
import { ONLY_MODEL } from '../../mirror/usage/usage-events.ts'
import { modelLabel } from '../../model/model-name.ts'
import type { ChatDetail } from '../answers/chats.ts'
import type { TokensAnswer, TokensRow, TokenSources } from '../answers/tokens.ts'
import { bucketUnits, dateOfDay, dayOf, firstDayOf, type BucketUnit, ZoneClock } from '../periods.ts'
import {
  bindSums,
  countUndated,
  COUNTED,
  type MessageScope,
  narrow,
  QUARTER_MS,
  withoutDrafts,
} from './message-sums.ts'
import { PriceBook, priceList } from '../prices.ts'
import { cached, inSnapshot, theRow } from './rows.ts'
import { IN_SCOPE, within } from './scope.ts'

export const tokenGroupings = [...bucketUnits, 'project', 'model', 'chat'] as const
export type TokenGrouping = (typeof tokenGroupings)[number]

export interface TokensRequest extends Omit<MessageScope, 'draftNums'> {
  /** What a row is for; at least one. A unit of time can only be the first. */
  readonly groupBy: readonly TokenGrouping[]
  /** IANA name of the zone for the bounds of days. */
  readonly timeZone: string
  /** How many rows are returned at most: the newest by time, else the largest. The totals include all. */
  readonly limit: number
}

/** How many messages, chats or events. */
type Count =
  | 'messages'
  | 'recorded'
  | 'estimated'
  | 'copied'
  | 'priced'
  | 'unpriced'
  | 'contextChats'
  | 'events'
  | 'matched'
type Amount = `${'recorded' | 'estimated' | 'imported'}${'Input' | 'Output' | 'Total' | 'Cents'}`
/** What is added up. */
type Sum = Count | Amount | 'contextTokens' | 'cacheRead' | 'cacheWrite' | 'pricedCents'
/** Null if unknown. */
type Sums = Readonly<Partial<Record<Sum, number | null>>>
type Totals = Partial<Record<Sum, number>>

/** The number of a project or chat, a date, or a model; null if there is none. */
type Key = number | string | null
/** Events without a chat are one row of their own in the groups by chat and project. */
const UNMATCHED = 'unmatched'
const isNone = (key: Key): boolean => key === null || key === UNMATCHED

/** Numbers, and what they belong to by row numbers. What was not asked for is missing. */
interface Item extends Sums {
  readonly chat?: Key
  readonly project?: Key
  readonly model?: string | null
  /** Epoch milliseconds. */
  readonly atMs?: number | null
}

type Trait = 'atMs' | 'project' | 'model' | 'chat'

/** What the sums of messages are told apart by. A time is the start of its quarter of an hour. */
const TRAITS: Readonly<Record<Trait, { readonly kept: readonly string[]; readonly read: string }>> = {
  atMs: { kept: ['quarter'], read: `iif(quarter = ${UNDATED_QUARTER}, null, quarter * ${QUARTER_MS})` },
  project: { kept: ['chat'], read: 'c.project' },
  model: { kept: ['chat', 'model'], read: `coalesce(s.model, ${ONLY_MODEL})` },
  chat: { kept: ['chat'], read: 'chat' },
}
const added = (input: string, output: string): string =>
  `sum(messages) as messages, sum(estimated) as estimated, sum(${input}) as estimatedInput, sum(${output}) as estimatedOutput`

/** Sums over messages of threads, including those with recorded tokens. They are many, and added up before chats are joined. */
function sumsBy(traits: readonly Trait[], scope: MessageScope): string {
  const kept = [...new Set(traits.flatMap((trait) => TRAITS[trait].kept))].join(', ')
  const read = traits.map((trait) => `${TRAITS[trait].read} as ${trait}`).join(', ')
  const sums = `${added('input', 'output')} from (${COUNTED}) m where true ${narrow(scope)} group by ${kept}`
  if (!traits.includes('project') && !traits.includes('model')) return `select ${read}, ${sums}`
  return `
    with s as materialized (select ${kept}, ${sums})
    select ${read}, ${added('estimatedInput', 'estimatedOutput')}
    from s left join chats c on c.num = s.chat group by ${traits.map((_, at) => at + 1).join(', ')}
  `
}

const RECORDED = `is_orphan = 0 and (input_tokens > 0 or output_tokens > 0)`
const OWN_TIME = `iif(m.created_at_source in ('message', 'header', 'timing'), m.created_at, null)`
const FIRST = `order by c.created_at is null, c.created_at, c.id, m.key`
const IS_COPY = 'm.key in (select value from json_each(@copies))'

/**
 * The keys of recorded messages that a forked chat copied. Cursor copies a message under its id, or under a new one with the
 * same request and time. An id alone does not tell, because not every writer of a store makes ids that are used once. The
 * tokens count in the chat that began first, whichever of them was read first; when it is purged, in the next one.
 */
const COPIES = `
  with repeated as (
    select key from messages indexed by recorded_ids where ${RECORDED} and id in (
      select id from messages indexed by recorded_ids where ${RECORDED} group by id having min(chat) < max(chat)
    )
    union
    select key from messages indexed by recorded_requests where ${RECORDED} and request_id in (
      select request_id from messages indexed by recorded_requests where ${RECORDED} and request_id is not null
      group by request_id having min(chat) < max(chat)
    )
  )
  select key from (
    select m.key, m.chat, m.request_id is not null as hasRequest,
      first_value(m.chat) over (partition by m.id, m.input_tokens, m.output_tokens, m.content_hash ${FIRST}) as ofId,
      first_value(m.chat) over (
        partition by m.request_id, ${OWN_TIME}, m.input_tokens, m.output_tokens ${FIRST}
      ) as ofRequest
    from repeated r join messages m on m.key = r.key join chats c on c.num = m.chat where c.is_draft = 0
  ) where chat <> ofId or hasRequest and chat <> ofRequest
`
const copiesIn = cached((db) => JSON.stringify(prepared<number>(db, COPIES).pluck().all()))

/** The recorded tokens of a message `m` that count in its chat. Cursor writes 0 if it did not count. */
const COUNTED_TOKENS = ['Input', 'Output']
  .map((side) => [`m.${side.toLowerCase()}_tokens`, `recorded${side}`])
  .map(([tokens, name]) => `iif(${tokens} > 0, iif(${IS_COPY}, 0, ${tokens}), null) as ${name}`)
  .join(', ')

/** Messages with recorded tokens. There are few. A record replaces the estimate that was made before it. */
const recordedIn = (scope: MessageScope): string => `
  select m.chat, c.project, coalesce(m.model, ${ONLY_MODEL}) as model, m.created_at as atMs, ${IS_COPY} as copied,
    1 as recorded, ${COUNTED_TOKENS},
    -(m.estimated_input is not null) as estimated, -m.estimated_input as estimatedInput,
    -m.estimated_output as estimatedOutput
  from messages m indexed by recorded_tokens cross join chats c on c.num = m.chat
  where m.is_orphan = 0 and (m.input_tokens > 0 or m.output_tokens > 0)
    ${narrow(scope)} ${within(scope, 'm.created_at')}
  order by m.created_at
`

const ofModels = ({ models }: MessageScope, model: string): string =>
  models === null ? '' : `and ${model} in (select value from json_each(@models))`

/**
 * Values of chats rather than messages, by the time of the last activity and the only model that the messages name. Cents
 * are for all models, because the mirror does not know the share of each.
 */
const chatsIn = (scope: MessageScope): string => `
  select c.num as chat, c.project, c.last_activity_at as atMs, ${ONLY_MODEL} as model,
    c.context_used as contextTokens, ${scope.models === null ? 'c.recorded_cost_cents' : 'null'} as recordedCents
  from chats c
  where c.is_draft = 0 and (c.context_used > 0 or c.recorded_cost_cents is not null)
    ${within(scope, 'c.last_activity_at')} and ${IN_SCOPE} ${ofModels(scope, ONLY_MODEL)}
  order by c.last_activity_at
`

/** Rows of imported usage files. Without a total, the known parts are added up. */
const eventsIn = (scope: MessageScope): string => `
  select e.at as atMs, e.model, ifnull(e.chat, '${UNMATCHED}') as chat,
    iif(e.chat is null, '${UNMATCHED}', c.project) as project, 1 as events, e.chat is not null as matched,
    e.input as importedInput, e.output as importedOutput, e.cache_read as cacheRead, e.cache_write as cacheWrite,
    coalesce(e.total, iif(coalesce(e.input, e.output, e.cache_read, e.cache_write) is null, null,
      ifnull(e.input, 0) + ifnull(e.output, 0) + ifnull(e.cache_read, 0) + ifnull(e.cache_write, 0)
    )) as importedTotal, e.cents as importedCents
  from usage_events e left join chats c on c.num = e.chat
  where true ${within(scope, 'e.at')} and ${IN_SCOPE} ${ofModels(scope, 'e.model')}
  order by e.at
`

function* readItems(db: Mirror, groupBy: readonly TokenGrouping[], scope: MessageScope): Generator<Item> {
  const bound = { ...bindSums(scope), copies: copiesIn(db) }
  const traits = groupBy.map((grouping) => (isOfTime(grouping) ? 'atMs' : grouping))
  yield* prepared<Item>(db, sumsBy(traits, scope)).all(bound)
  const prices = new PriceBook()
  for (const message of prepared<Item>(db, recordedIn(scope)).all(bound)) {
    const { model = null, recordedInput = null, recordedOutput = null, atMs = null } = message
    const pricedCents = prices.centsOf(model, recordedInput, recordedOutput, atMs)
    yield Object.assign(message, pricedCents === null ? { unpriced: 1 } : { priced: 1, pricedCents })
  }
  for (const { contextTokens = null, recordedCents = null, ...chat } of prepared<Item>(db, chatsIn(scope)).all(bound)) {
    if (contextTokens !== null && contextTokens > 0) yield { ...chat, contextTokens, contextChats: 1 }
    // Cursor records cents by model, but that need not be the chat's current model.
    if (recordedCents !== null) yield { ...chat, model: null, recordedCents }
  }
  yield* prepared<Item>(db, eventsIn(scope)).all(bound)
}

interface Group {
  /** One for each grouping. */
  readonly keys: readonly Key[]
  readonly sums: Totals
}

/** Token counts by source, in rows by time, project, model or chat. */
export const readLedger = (db: Mirror, request: TokensRequest): TokensAnswer => inSnapshot(db, () => addUp(db, request))

function addUp(db: Mirror, request: TokensRequest): TokensAnswer {
  const { groupBy, timeZone, limit } = request
  const scope = withoutDrafts(db, request)
  const clock = new ZoneClock(timeZone)
  const keyOf = ({ atMs = null, ...item }: Item, grouping: TokenGrouping): Key => {
    if (!isOfTime(grouping)) return item[grouping] ?? null
    return atMs === null ? null : dateOfDay(firstDayOf(dayOf(clock.toLocalMs(atMs)), grouping))
  }
  const groups = new Map<string, Group>()
  for (const item of readItems(db, groupBy, scope)) {
    const keys = groupBy.map((grouping) => keyOf(item, grouping))
    const name = keys.join('\n')
    const group = groups.get(name) ?? { keys, sums: {} }
    groups.set(name, group)
    add(group.sums, item)
  }
  const isByTime = isOfTime(groupBy[0])
  const sorted = inOrder([...groups.values()], isByTime)
  const totals: Totals = {}
  for (const { sums } of sorted) add(totals, sums)
  const sources = sourcesOf(totals)
  const undated = countUndated(db, scope).messages
  const { events = 0, matched = 0, copied = 0 } = totals
  return {
    rows: labelled(db, groupBy, isByTime ? sorted.slice(-limit) : sorted.slice(0, limit)),
    rowsTotal: sorted.length,
    omitted: omittedNote(sorted.length, request),
    totals: sources,
    undated: { messages: undated },
    coverage: sources.coverage,
    imports: events === 0 ? null : { events, matched, unmatched: events - matched },
    prices: sources.priced === null ? null : priceList,
    notes: tokenNotes(request, sources, { hasUndated: isByTime && sorted[0]?.keys[0] === null, undated, copied }),
  }
}

/** An unknown number adds nothing, so an unknown sum does not become 0. */
function add(sums: Totals, more: Item): void {
  for (const name of Object.keys(more) as (keyof Item)[]) {
    const value = more[name]
    if (typeof value === 'number' && !isTrait(name)) sums[name] = (sums[name] ?? 0) + value
  }
}

const isTrait = (name: keyof Item): name is Trait => name in TRAITS

/** By time, undated first. Then by number of messages, with rows without project, model or chat last. */
function inOrder(groups: readonly Group[], isByTime: boolean): readonly Group[] {
  const dateOf = ({ keys: [first] }: Group): string => (isByTime ? String(first ?? '') : '')
  const unknown = ({ keys }: Group): number => keys.filter(isNone).length
  return groups.toSorted(
    (one, other) =>
      compareTexts(dateOf(one), dateOf(other)) ||
      unknown(one) - unknown(other) ||
      (other.sums.messages ?? 0) - (one.sums.messages ?? 0) ||
      compareTexts(String(one.keys), String(other.keys)),
  )
}

const NAMES = {
  chat: `select num, id, title as name from chats where num in (select value from json_each(?))`,
  project: `select num, id, name from projects where num in (select value from json_each(?))`,
}
type NameRow = { readonly num: number; readonly id: string; readonly name: string }

function labelled(db: Mirror, groupBy: readonly TokenGrouping[], rows: readonly Group[]): TokensRow[] {
  const names = groupBy.map((grouping, at) => {
    if (grouping !== 'chat' && grouping !== 'project') return null
    const nums = JSON.stringify(rows.map(({ keys }) => keys[at]))
    return new Map<Key, NameRow>(
      prepared<NameRow>(db, NAMES[grouping])
        .all(nums)
        .map((row) => [row.num, row]),
    )
  })
  return rows.map(({ keys: given, sums }) => {
    const named = given.map((key, at) => names[at]?.get(key))
    const keys = given.map((key, at) => named[at]?.id ?? (typeof key === 'string' ? key : null))
    const labels = given.map((key, at) => named[at]?.name ?? labelOf(groupBy[at], key))
    const several = keys.length > 1 ? { keys } : {}
    return { key: keys[0] ?? null, label: labels.join(' · '), ...several, ...sourcesOf(sums) }
  })
}

export const isOfTime = (grouping: TokenGrouping | undefined): grouping is BucketUnit =>
  bucketUnits.some((unit) => unit === grouping)

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

function labelOf(grouping: TokenGrouping | undefined, key: Key): string {
  const text = typeof key === 'string' ? key : null
  if (grouping === 'model') return modelLabel(text)
  if (text === UNMATCHED) return 'imported, no chat found'
  if (grouping === 'project') return 'no project'
  if (text === null) return 'undated'
  if (grouping === 'month') return text.slice(0, 7)
  return grouping === 'week' ? `week of ${text}` : text
}

/** What the limit leaves out, as a sentence; null if nothing. */
function omittedNote(rows: number, { groupBy, limit }: TokensRequest): string | null {
  if (rows <= limit) return null
  const which = isOfTime(groupBy[0]) ? 'the newest' : 'those with the most messages'
  return `Only ${many(limit)} of ${many(rows)} rows are shown, ${which}. The totals include all.`
}

const many = (count: number): string => count.toLocaleString('en-US')

/** Explains the numbers in the answer, one sentence each. */
function tokenNotes(
  { fromMs, toMs }: TokensRequest,
  { recorded, imported, estimated, contextSnapshot, priced }: TokenSources,
  { hasUndated, undated, copied }: { readonly hasUndated: boolean; readonly undated: number; readonly copied: number },
): string[] {
  const isBounded = fromMs !== null || toMs !== null
  const sources = [recorded, imported, estimated, contextSnapshot].filter((source) => source !== null)
  const records = priced === null ? 0 : priced.messages + priced.unpriced
  return [
    sources.length > 1 && 'The sources are listed separately and are never added to each other.',
    recorded !== null &&
      'Recorded: what Cursor recorded, only for the last answer of a turn and not since early 2026. Input is everything that this request read.',
    copied > 0 &&
      `${copied} recorded ${copied === 1 ? 'message is a copy' : 'messages are copies'} in a forked chat. Their tokens count once, in the chat that began first.`,
    imported !== null && 'Imported: rows of the usage files that you imported, by their own time and model.',
    estimated !== null &&
      'Estimated: the visible text of each message, once, from its signs: within about 15% of the encoding o200k_base. This is what was written and read, not what was billed: for every answer a model reads the whole chat again, and much that no chat shows.',
    contextSnapshot !== null &&
      'Context snapshot: how full the context of each chat was at its last activity, counted on that day. It is a state, not a sum of used tokens.',
    priced !== null &&
      'Priced: recorded tokens at list prices, as if nothing had been cached. Estimates are not priced.',
    priced !== null &&
      priced.unpriced > 0 &&
      `${priced.unpriced} of ${records} recorded messages ${priced.unpriced === 1 ? 'is' : 'are'} not priced: the price list lacks the model, or input or output is unknown.`,
    isBounded && `Messages without a known time are left out if dates are given: ${many(undated)} here.`,
    !isBounded && hasUndated && 'The row without a key has the messages without a known time.',
  ].filter((note) => note !== false)
}

function sourcesOf(sums: Totals): TokenSources {
  const known = (name: Sum): number | null => sums[name] ?? null
  const { messages = 0, recorded = 0, estimated = 0, priced = 0, unpriced = 0, contextChats = 0, events = 0 } = sums
  const imported = {
    input: known('importedInput'),
    output: known('importedOutput'),
    cacheRead: known('cacheRead'),
    cacheWrite: known('cacheWrite'),
    cents: rounded(known('importedCents')),
    total: known('importedTotal'),
    events,
  }
  const [input, output] = [sums.estimatedInput ?? 0, sums.estimatedOutput ?? 0]
  return {
    recorded:
      recorded === 0 ? null : { input: known('recordedInput'), output: known('recordedOutput'), messages: recorded },
    imported: events === 0 ? null : imported,
    estimated: estimated === 0 ? null : { input, output, messages: estimated },
    contextSnapshot: contextChats === 0 ? null : { tokens: sums.contextTokens ?? 0, chats: contextChats },
    recordedCents: rounded(known('recordedCents')),
    priced: priced + unpriced === 0 ? null : { cents: rounded(known('pricedCents')), messages: priced, unpriced },
    coverage: { messages, recorded, estimated, unknown: messages - recorded - estimated },
  }
}

/** Removes the rounding errors of adding fractions of a cent. */
const rounded = (cents: number | null): number | null => (cents === null ? null : Math.round(cents * 1e6) / 1e6)

/** A record replaces the estimate that was made before it. */
const OF_CHAT = `
  select count(*) filter (where isRecorded) as recorded, sum(recordedInput) as recordedInput,
    sum(recordedOutput) as recordedOutput, count(estimated_input) filter (where not isRecorded) as estimated,
    sum(estimated_input) filter (where not isRecorded) as estimatedInput,
    sum(estimated_output) filter (where not isRecorded) as estimatedOutput
  from (
    select ${COUNTED_TOKENS}, ifnull(input_tokens > 0 or output_tokens > 0, 0) as isRecorded,
      estimated_input, estimated_output
    from messages m where chat = @num and is_orphan = 0
  )
`

/** Sums over the messages of one chat. @param num its row number */
export function sumTokens(db: Mirror, num: number): ChatDetail['tokens'] {
  const sums: Totals = {}
  add(sums, theRow(prepared<Sums>(db, OF_CHAT), { num, copies: copiesIn(db) }))
  const { recorded, estimated } = sourcesOf(sums)
  return { recorded, estimated }
}
