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
  type ChatRecord,
  type ImportedEvent,
  type MessageSum,
  type RecordedMessage,
} from '../queries/tokens.ts'
import { PriceBook, priceList } from './prices.ts'
import type { TokensAnswer, TokensRow, TokenSources, ImportedTokens } from '../answers/tokens.ts'
import { csvText, type Cell } from '../../shared/csv.ts'

export const tokenGroupings = [...bucketUnits, 'project', 'model', 'chat'] as const
export type TokenGrouping = (typeof tokenGroupings)[number]

export interface TokensRequest extends Omit<MessageScope, 'draftNums'> {
  /** What a row is for; at least one. A unit of time can only be the first. */
  readonly groupBy: readonly TokenGrouping[]
  /** IANA name of the zone for the bounds of days. */
  readonly timeZone: string
  /** How many rows are returned at most: the newest by time, else the largest. The totals include all. */
  readonly limit: number
  /** Whether recorded tokens are priced. */
  readonly hasPrices: boolean
}

/** The number of a project or chat, a date, or a model; null if there is none. */
type Key = number | string | null
/** Events without a chat are one row of their own in the groups by chat and project. */
const UNMATCHED = 'unmatched'

/** A key for each grouping, and the sums. */
interface Group {
  readonly keys: readonly Key[]
  readonly tally: Tally
}

/** Token counts by source, in rows by time, project, model or chat. */
export const readLedger = (db: Mirror, request: TokensRequest): TokensAnswer =>
  inSnapshot(db, () => new Ledger(db, request).read())

class Ledger {
  readonly #db: Mirror
  readonly #request: TokensRequest
  readonly #scope: MessageScope
  readonly #clock: ZoneClock
  readonly #groups = new Map<string, Group>()
  readonly #totals = new Tally()

  constructor(db: Mirror, request: TokensRequest) {
    this.#db = db
    this.#request = request
    this.#scope = { ...request, draftNums: readDrafts(db) }
    this.#clock = new ZoneClock(request.timeZone)
  }

  read(): TokensAnswer {
    const traits = this.#request.groupBy.map((each) => (isOfTime(each) ? 'time' : each))
    for (const sum of readSums(this.#db, traits, this.#scope)) this.#addTo(sum, (tally) => tally.addMessages(sum))
    const hasPrices = this.#addRecorded()
    for (const record of readChatRecords(this.#db, this.#scope)) {
      if ((record.contextTokens ?? 0) > 0) this.#addTo(record, (tally) => tally.addContext(record))
      // Cursor records cents by model, but that need not be the chat's current model.
      if (record.cents !== null) this.#addTo({ ...record, model: null }, (tally) => tally.addCents(record))
    }
    const imports = this.#addEvents()
    const { shown, omitted } = this.#cut(this.#sorted())
    const totals = this.#totals.toSources()
    const undated = { messages: countUndated(this.#db, this.#scope) }
    return {
      rows: this.#label(shown),
      rowsTotal: this.#groups.size,
      omitted,
      totals,
      undated,
      coverage: totals.coverage,
      imports,
      prices: hasPrices ? priceList : null,
      notes: tokenNotes(this.#request, totals, {
        hasUndated: [...this.#groups.values()].some(({ keys: [first] }) => first === null),
        undated: undated.messages,
      }),
    }
  }

  /** @returns whether prices were looked up */
  #addRecorded(): boolean {
    const recorded = readRecorded(this.#db, this.#scope)
    const prices = this.#request.hasPrices && recorded.length > 0 ? new PriceBook() : null
    for (const message of recorded) {
      const { model, input, output, atMs } = message
      const cents = prices?.centsOf(model, input, output, atMs)
      this.#addTo(message, (tally) => {
        tally.addRecorded(message)
        if (cents !== undefined) tally.addPrice(cents)
      })
    }
    return prices !== null
  }

  #addEvents(): TokensAnswer['imports'] {
    const events = readEvents(this.#db, this.#scope)
    for (const event of events) this.#addTo(event, (tally) => tally.addEvent(event))
    const matched = events.filter(({ chat }) => chat !== null).length
    return events.length === 0 ? null : { events: events.length, matched, unmatched: events.length - matched }
  }

  #addTo(item: LedgerItem, add: (tally: Tally) => void): void {
    const keys = this.#request.groupBy.map((grouping) => this.#keyOf(item, grouping))
    const name = keys.join('\n')
    let group = this.#groups.get(name)
    if (group === undefined) this.#groups.set(name, (group = { keys, tally: new Tally() }))
    add(group.tally)
    add(this.#totals)
  }

  #keyOf({ chat, project, model, atMs }: LedgerItem, grouping: TokenGrouping): Key {
    if (grouping === 'model') return model
    if (grouping === 'chat') return chat ?? UNMATCHED
    if (grouping === 'project') return chat === null ? UNMATCHED : project
    return atMs === null ? null : dateOfDay(firstDayOf(dayOf(this.#clock.toLocalMs(atMs)), grouping))
  }

  /** By time, undated first. Then by number of messages, with rows without project, model or chat last. */
  #sorted(): Group[] {
    const dateOf = ({ keys }: Group): string => (isOfTime(this.#request.groupBy[0]) ? String(keys[0] ?? '') : '')
    const noneOf = ({ keys }: Group): number => keys.filter((key) => key === null || key === UNMATCHED).length
    return [...this.#groups.values()].sort(
      (one, other) =>
        compareTexts(dateOf(one), dateOf(other)) ||
        noneOf(one) - noneOf(other) ||
        other.tally.messages - one.tally.messages ||
        compareTexts(String(one.keys), String(other.keys)),
    )
  }

  /** Keeps the newest rows by time, and the rows with the most messages of other groups. */
  #cut(rows: readonly Group[]): { readonly shown: readonly Group[]; readonly omitted: TokensAnswer['omitted'] } {
    const { groupBy, limit } = this.#request
    const left = rows.length - limit
    if (left <= 0) return { shown: rows, omitted: null }
    const numberOf = `${limit.toLocaleString('en-US')} of ${rows.length.toLocaleString('en-US')} rows`
    if (!isOfTime(groupBy[0])) {
      const note = `Only ${numberOf} are shown, those with the most messages. The totals include all.`
      return { shown: rows.slice(0, limit), omitted: { rows: left, from: null, to: null, note } }
    }
    const dates = rows.slice(0, left).flatMap(({ keys: [key] }) => (typeof key === 'string' ? [key] : []))
    const [from = null, to = null] = [dates[0], dates.at(-1)]
    const note = `Only the newest ${numberOf} are shown, those after ${to ?? 'the undated one'}. The totals include all.`
    return { shown: rows.slice(left), omitted: { rows: left, from, to, note } }
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

/** Explains the numbers in the answer, one sentence each. */
export function tokenNotes(
  request: TokensRequest,
  { recorded, imported, estimated, contextSnapshot, priced }: TokenSources,
  { hasUndated, undated }: { readonly hasUndated: boolean; readonly undated: number },
): string[] {
  const hasDates = isOfTime(request.groupBy[0])
  const isBounded = request.fromMs !== null || request.toMs !== null
  const sources = [recorded, imported, estimated, contextSnapshot].filter((source) => source !== null)
  return [
    sources.length > 1 ? 'The sources are listed separately and are never added to each other.' : null,
    recorded === null ? null : RECORDED,
    imported === null ? null : IMPORTED,
    estimated === null ? null : ESTIMATED,
    contextSnapshot === null ? null : SNAPSHOT,
    priced === null ? null : PRICED,
    priced === null || priced.unpriced === 0 ? null : unpricedNote(priced),
    isBounded ? leftOut(undated) : hasDates && hasUndated ? UNDATED : null,
  ].filter((note) => note !== null)
}

const importedFields = ['input', 'output', 'cacheRead', 'cacheWrite', 'cents'] as const
type ImportedField = (typeof importedFields)[number] | 'total'

/** One row of the ledger, with separate sums for each source. */
export class Tally {
  #messages = 0
  /** Messages with an estimate and no record. Plain numbers, because there may be as many tallies as chats. */
  #estimated = 0
  #estimatedInput = 0
  #estimatedOutput = 0
  #recorded: { messages: number; input: number | null; output: number | null } | null = null
  #snapshot: { tokens: number; chats: number } | null = null
  #cents: number | null = null
  #events = 0
  #imported: Map<ImportedField, number> | null = null
  #priced: { cents: number | null; messages: number; unpriced: number } | null = null

  addMessages({ messages, estimated, input, output }: MessageSum): void {
    this.#messages += messages
    this.#estimated += estimated
    this.#estimatedInput += input ?? 0
    this.#estimatedOutput += output ?? 0
  }

  addRecorded({ input, output, estimatedInput, estimatedOutput }: RecordedMessage): void {
    this.#recorded ??= { messages: 0, input: null, output: null }
    this.#recorded.messages += 1
    this.#recorded.input = sumOf(this.#recorded.input, input)
    this.#recorded.output = sumOf(this.#recorded.output, output)
    if (estimatedInput === null) return
    // A record replaces the estimate that was made before it.
    this.#estimated -= 1
    this.#estimatedInput -= estimatedInput
    this.#estimatedOutput -= estimatedOutput ?? 0
  }

  /** @param cents the list price of a recorded message; null if unknown */
  addPrice(cents: number | null): void {
    this.#priced ??= { cents: null, messages: 0, unpriced: 0 }
    if (cents === null) this.#priced.unpriced += 1
    else {
      this.#priced.cents = sumOf(this.#priced.cents, cents)
      this.#priced.messages += 1
    }
  }

  addContext({ contextTokens }: ChatRecord): void {
    if (contextTokens === null) return
    this.#snapshot ??= { tokens: 0, chats: 0 }
    this.#snapshot.tokens += contextTokens
    this.#snapshot.chats += 1
  }

  addCents({ cents }: ChatRecord): void {
    this.#cents = sumOf(this.#cents, cents)
  }

  addEvent(event: ImportedEvent): void {
    this.#events += 1
    for (const field of importedFields) this.#addImported(field, event[field])
    const parts = [event.input, event.output, event.cacheRead, event.cacheWrite].filter((count) => count !== null)
    this.#addImported(
      'total',
      event.total ?? (parts.length === 0 ? null : parts.reduce((sum, count) => sum + count, 0)),
    )
  }

  #addImported(field: ImportedField, value: number | null): void {
    if (value === null) return
    this.#imported ??= new Map()
    this.#imported.set(field, (this.#imported.get(field) ?? 0) + value)
  }

  get messages(): number {
    return this.#messages
  }

  toSources(): TokenSources {
    const recorded = this.#recorded?.messages ?? 0
    const estimated = { input: this.#estimatedInput, output: this.#estimatedOutput, messages: this.#estimated }
    return {
      recorded: this.#recorded,
      imported: this.#toImported(),
      estimated: estimated.messages === 0 ? null : estimated,
      contextSnapshot: this.#snapshot,
      recordedCents: rounded(this.#cents),
      priced: this.#priced === null ? null : { ...this.#priced, cents: rounded(this.#priced.cents) },
      coverage: {
        messages: this.#messages,
        recorded,
        estimated: estimated.messages,
        unknown: this.#messages - recorded - estimated.messages,
      },
    }
  }

  #toImported(): ImportedTokens | null {
    if (this.#events === 0) return null
    const valueOf = (field: ImportedField): number | null => this.#imported?.get(field) ?? null
    return {
      input: valueOf('input'),
      output: valueOf('output'),
      cacheRead: valueOf('cacheRead'),
      cacheWrite: valueOf('cacheWrite'),
      cents: rounded(valueOf('cents')),
      total: valueOf('total'),
      events: this.#events,
    }
  }
}

/** An unknown number adds nothing, and an unknown sum does not become 0. */
const sumOf = (sum: number | null, more: number | null): number | null => (more === null ? sum : (sum ?? 0) + more)

/** Removes the rounding errors of adding fractions of a cent. */
const rounded = (cents: number | null): number | null => (cents === null ? null : Math.round(cents * 1e6) / 1e6)

/** One column per number and source. An empty cell is unknown. */
const columns: readonly (readonly [name: string, read: (row: TokenSources) => Cell])[] = [
  ['messages', (row) => row.coverage.messages],
  ['messages recorded', (row) => row.coverage.recorded],
  ['messages estimated', (row) => row.coverage.estimated],
  ['messages unknown', (row) => row.coverage.unknown],
  ['recorded input', (row) => row.recorded?.input],
  ['recorded output', (row) => row.recorded?.output],
  ['recorded cents', (row) => row.recordedCents],
  ['recorded at list price, cents', (row) => row.priced?.cents],
  ['recorded messages priced', (row) => row.priced?.messages],
  ['recorded messages unpriced', (row) => row.priced?.unpriced],
  ['imported input', (row) => row.imported?.input],
  ['imported cache write', (row) => row.imported?.cacheWrite],
  ['imported cache read', (row) => row.imported?.cacheRead],
  ['imported output', (row) => row.imported?.output],
  ['imported total', (row) => row.imported?.total],
  ['imported cents', (row) => row.imported?.cents],
  ['imported rows', (row) => row.imported?.events],
  ['estimated input', (row) => row.estimated?.input],
  ['estimated output', (row) => row.estimated?.output],
  ['context snapshot', (row) => row.contextSnapshot?.tokens],
  ['context snapshot chats', (row) => row.contextSnapshot?.chats],
]

/**
 * The rows as CSV with a header; for several groupings with a column for the key of each. There is no row of totals: a
 * spreadsheet would add it to the others.
 */
export const ledgerCsv = ({ rows }: Pick<TokensAnswer, 'rows'>, groupBy: readonly string[]): string =>
  csvText([
    [...(groupBy.length > 1 ? groupBy : ['key']), 'label', ...columns.map(([name]) => name)],
    ...rows.map((row) => [...(row.keys ?? [row.key]), row.label, ...columns.map(([, read]) => read(row))]),
  ])
