import type { Mirror } from '../../mirror/open.ts'
import { modelLabel } from '../../model/model-name.ts'
import { bucketUnits, dateOfDay, dayOf, firstDayOf, type BucketUnit, ZoneClock } from '../periods.ts'
import { type MessageScope, readDrafts } from '../queries/message-sums.ts'
import { readNamedChats } from '../queries/chats/list-chats.ts'
import { readNamedProjects } from '../queries/projects/list-projects.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import {
  readChatRecords,
  readEvents,
  countUndated,
  readRecorded,
  readSums,
  type LedgerItem,
  type RecordedMessage,
} from '../queries/tokens.ts'
import { PriceBook, priceList } from './prices.ts'
import type { TokensAnswer, TokensRow, TokenSources } from '../answers/tokens.ts'

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

/** The number of a project or chat, a date, or a model; null if there is none. */
type Key = number | string | null
/** Events without a chat are one row of their own in the groups by chat and project. */
const UNMATCHED = 'unmatched'

interface Group {
  /** One for each grouping. */
  readonly keys: readonly Key[]
  readonly tally: Tally
}

const isNone = (key: Key): boolean => key === null || key === UNMATCHED

/** Token counts by source, in rows by time, project, model or chat. */
export const readLedger = (db: Mirror, request: TokensRequest): TokensAnswer =>
  inSnapshot(db, () => new Ledger(db, request).read())

class Ledger {
  readonly #db: Mirror
  readonly #request: TokensRequest
  readonly #scope: MessageScope
  readonly #clock: ZoneClock
  readonly #groups = new Map<string, Group>()

  constructor(db: Mirror, request: TokensRequest) {
    this.#db = db
    this.#request = request
    this.#scope = { ...request, draftNums: readDrafts(db) }
    this.#clock = new ZoneClock(request.timeZone)
  }

  read(): TokensAnswer {
    const { groupBy } = this.#request
    const traits = groupBy.map((grouping) => (isOfTime(grouping) ? 'time' : grouping))
    for (const sum of readSums(this.#db, traits, this.#scope)) {
      const { messages, estimated, input: estimatedInput, output: estimatedOutput } = sum
      this.#add(sum, { messages, estimated, estimatedInput, estimatedOutput })
    }
    const recorded = readRecorded(this.#db, this.#scope)
    const prices = recorded.length === 0 ? null : new PriceBook()
    for (const message of recorded) this.#addRecorded(message, prices)
    for (const { contextTokens, cents, ...record } of readChatRecords(this.#db, this.#scope)) {
      if (contextTokens !== null && contextTokens > 0) this.#add(record, { contextTokens, contextChats: 1 })
      // Cursor records cents by model, but that need not be the chat's current model.
      if (cents !== null) this.#add({ ...record, model: null }, { recordedCents: cents })
    }
    const imports = this.#addEvents()
    const sorted = this.#sorted()
    const totals = new Tally()
    for (const { tally } of sorted) totals.add(tally.sums)
    const sources = totals.toSources()
    const undated = countUndated(this.#db, this.#scope)
    const { limit } = this.#request
    return {
      rows: this.#label(isOfTime(groupBy[0]) ? sorted.slice(-limit) : sorted.slice(0, limit)),
      rowsTotal: sorted.length,
      omitted: omittedNote(sorted.length, this.#request),
      totals: sources,
      undated: { messages: undated },
      coverage: sources.coverage,
      imports,
      prices: prices === null ? null : priceList,
      notes: tokenNotes(this.#request, sources, {
        hasUndated: isOfTime(groupBy[0]) && sorted[0]?.keys[0] === null,
        undated,
        copied: recorded.filter(({ isCopy }) => isCopy === 1).length,
      }),
    }
  }

  #addRecorded(message: RecordedMessage, prices: PriceBook | null): void {
    const { model, input, output, atMs, estimatedInput, estimatedOutput } = message
    this.#add(message, { recorded: 1, recordedInput: input, recordedOutput: output })
    // A record replaces the estimate that was made before it.
    if (estimatedInput !== null) {
      this.#add(message, {
        estimated: -1,
        estimatedInput: -estimatedInput,
        estimatedOutput: -(estimatedOutput ?? 0),
      })
    }
    const pricedCents = prices?.centsOf(model, input, output, atMs) ?? null
    this.#add(message, pricedCents === null ? { unpriced: 1 } : { priced: 1, pricedCents })
  }

  #addEvents(): TokensAnswer['imports'] {
    const events = readEvents(this.#db, this.#scope)
    for (const event of events) {
      const { input, output, cacheRead, cacheWrite, total, cents: importedCents } = event
      const parts = [input, output, cacheRead, cacheWrite].filter((count) => count !== null)
      const sum = parts.length === 0 ? null : parts.reduce((all, count) => all + count, 0)
      const imported = { importedInput: input, importedOutput: output, cacheRead, cacheWrite, importedCents }
      this.#add(event, { ...imported, importedTotal: total ?? sum, events: 1 })
    }
    const matched = events.filter(({ chat }) => chat !== null).length
    return events.length === 0 ? null : { events: events.length, matched, unmatched: events.length - matched }
  }

  #add(item: LedgerItem, sums: Sums): void {
    const keys = this.#request.groupBy.map((grouping) => this.#keyOf(item, grouping))
    const name = keys.join('\n')
    const group = this.#groups.get(name) ?? { keys, tally: new Tally() }
    this.#groups.set(name, group)
    group.tally.add(sums)
  }

  #keyOf({ chat, project, model, atMs }: LedgerItem, grouping: TokenGrouping): Key {
    if (grouping === 'model') return model
    if (grouping === 'chat') return chat ?? UNMATCHED
    if (grouping === 'project') return chat === null ? UNMATCHED : project
    return atMs === null ? null : dateOfDay(firstDayOf(dayOf(this.#clock.toLocalMs(atMs)), grouping))
  }

  /** By time, undated first. Then by number of messages, with rows without project, model or chat last. */
  #sorted(): readonly Group[] {
    const dateOf = ({ keys: [first] }: Group): string => (isOfTime(this.#request.groupBy[0]) ? String(first ?? '') : '')
    const unknown = ({ keys }: Group): number => keys.filter(isNone).length
    return [...this.#groups.values()].sort(
      (one, other) =>
        compareTexts(dateOf(one), dateOf(other)) ||
        unknown(one) - unknown(other) ||
        other.tally.of('messages') - one.tally.of('messages') ||
        compareTexts(String(one.keys), String(other.keys)),
    )
  }

  #label(rows: readonly Group[]): TokensRow[] {
    const { groupBy } = this.#request
    const names = groupBy.map((grouping, at): ReadonlyMap<Key, { readonly id: string; readonly name: string }> => {
      if (grouping === 'project') return readNamedProjects(this.#db)
      const nums = grouping === 'chat' ? rows.flatMap(({ keys }) => (typeof keys[at] === 'number' ? keys[at] : [])) : []
      return new Map([...readNamedChats(this.#db, nums)].map(([num, { id, title }]) => [num, { id, name: title }]))
    })
    return rows.map(({ keys: given, tally }) => {
      const named = given.map((key, at) => names[at]?.get(key))
      const keys = given.map((key, at) => named[at]?.id ?? (typeof key === 'string' ? key : null))
      const labels = given.map((key, at) => named[at]?.name ?? labelOf(groupBy[at], key))
      const several = keys.length > 1 ? { keys } : {}
      return { key: keys[0] ?? null, label: labels.join(' · '), ...several, ...tally.toSources() }
    })
  }
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
  const [shown, all] = [limit, rows].map((count) => count.toLocaleString('en-US'))
  return `Only ${shown} of ${all} rows are shown, ${which}. The totals include all.`
}

const ESTIMATED =
  'Estimated: the visible text of each message, once, from its signs: within about 15% of the encoding o200k_base. This is what was written and read, not what was billed: for every answer a model reads the whole chat again, and much that no chat shows.'
const RECORDED =
  'Recorded: what Cursor recorded, only for the last answer of a turn and not since early 2026. Input is everything that this request read.'
const SNAPSHOT =
  'Context snapshot: how full the context of each chat was at its last activity, counted on that day. It is a state, not a sum of used tokens.'
const IMPORTED = 'Imported: rows of the usage files that you imported, by their own time and model.'
const PRICED = 'Priced: recorded tokens at list prices, as if nothing had been cached. Estimates are not priced.'
const UNDATED = 'The row without a key has the messages without a known time.'
const leftOut = (messages: number): string =>
  `Messages without a known time are left out if dates are given: ${messages.toLocaleString('en-US')} here.`

const unpricedNote = ({ messages, unpriced }: NonNullable<TokenSources['priced']>): string =>
  `${unpriced} of ${messages + unpriced} recorded messages ${unpriced === 1 ? 'is' : 'are'} not priced: the price list lacks the model, or input or output is unknown.`

const copiedNote = (copied: number): string =>
  `${copied} recorded ${copied === 1 ? 'message is a copy' : 'messages are copies'} in a forked chat. Their tokens count once, in the chat that began first.`

/** Explains the numbers in the answer, one sentence each. */
function tokenNotes(
  request: TokensRequest,
  { recorded, imported, estimated, contextSnapshot, priced }: TokenSources,
  { hasUndated, undated, copied }: { readonly hasUndated: boolean; readonly undated: number; readonly copied: number },
): string[] {
  const isBounded = request.fromMs !== null || request.toMs !== null
  const sources = [recorded, imported, estimated, contextSnapshot].filter((source) => source !== null)
  return [
    sources.length > 1 ? 'The sources are listed separately and are never added to each other.' : null,
    recorded === null ? null : RECORDED,
    copied === 0 ? null : copiedNote(copied),
    imported === null ? null : IMPORTED,
    estimated === null ? null : ESTIMATED,
    contextSnapshot === null ? null : SNAPSHOT,
    priced === null ? null : PRICED,
    priced === null || priced.unpriced === 0 ? null : unpricedNote(priced),
    isBounded ? leftOut(undated) : hasUndated ? UNDATED : null,
  ].filter((note) => note !== null)
}

/** What is added up. A name alone counts messages, chats or events. */
type Sum = 'messages' | 'events' | 'contextChats' | 'contextTokens' | 'cacheRead' | 'cacheWrite' | Named | Priced
type Named = `${'recorded' | 'estimated' | 'imported'}${'' | 'Input' | 'Output' | 'Total' | 'Cents'}`
type Priced = 'priced' | 'unpriced' | 'pricedCents'
type Sums = Readonly<Partial<Record<Sum, number | null>>>

/** One row of the ledger, with separate sums for each source. */
class Tally {
  readonly sums: Partial<Record<Sum, number>> = {}

  /** An unknown number adds nothing, so an unknown sum does not become 0. */
  add(more: Sums): void {
    for (const name of Object.keys(more) as Sum[]) {
      const value = more[name] ?? null
      if (value !== null) this.sums[name] = this.of(name) + value
    }
  }

  of(name: Sum): number {
    return this.sums[name] ?? 0
  }

  toSources(): TokenSources {
    const known = (name: Sum): number | null => this.sums[name] ?? null
    const messages = this.of('messages')
    const [recorded, estimated, priced] = [this.of('recorded'), this.of('estimated'), this.of('priced')]
    const [unpriced, chats, events] = [this.of('unpriced'), this.of('contextChats'), this.of('events')]
    const [input, output] = [this.of('estimatedInput'), this.of('estimatedOutput')]
    const imported = {
      input: known('importedInput'),
      output: known('importedOutput'),
      cacheRead: known('cacheRead'),
      cacheWrite: known('cacheWrite'),
      cents: rounded(known('importedCents')),
      total: known('importedTotal'),
      events,
    }
    return {
      recorded:
        recorded === 0 ? null : { input: known('recordedInput'), output: known('recordedOutput'), messages: recorded },
      imported: events === 0 ? null : imported,
      estimated: estimated === 0 ? null : { input, output, messages: estimated },
      contextSnapshot: chats === 0 ? null : { tokens: this.of('contextTokens'), chats },
      recordedCents: rounded(known('recordedCents')),
      priced: priced + unpriced === 0 ? null : { cents: rounded(known('pricedCents')), messages: priced, unpriced },
      coverage: { messages, recorded, estimated, unknown: messages - recorded - estimated },
    }
  }
}

/** Removes the rounding errors of adding fractions of a cent. */
const rounded = (cents: number | null): number | null => (cents === null ? null : Math.round(cents * 1e6) / 1e6)
