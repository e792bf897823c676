import type { Mirror } from '../../mirror/open.ts'
import { modelLabel } from '../../model/model-name.ts'
import type { BucketUnit } from '../buckets.ts'
import { bucketAt } from '../periods.ts'
import { type MessageScope, readDrafts } from '../queries/message-sums.ts'
import { resolveMachines } from '../queries/machines.ts'
import { resolveProjects } from '../queries/projects/list-projects.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { readChatRecords, readEvents, readNames } from '../queries/tokens/token-sources.ts'
import { readGroupSums, readRecorded, PeriodSums } from '../queries/tokens/token-sums.ts'
import { PriceBook, priceList } from './prices.ts'
import type { TokenGrouping, TokensRequest } from './request.ts'
import { Tally } from './tally.ts'
import type { TokensAnswer, TokensRow, TokenSources } from '../answers/tokens.ts'

/** The number of a project or chat, a date, or a model; null if there is none. */
type Key = number | string | null
/** Events without a chat are one row of their own in the groups by chat and project. */
const UNMATCHED = 'unmatched'

interface LedgerItem {
  readonly chat: number | null
  readonly project: number | null
  readonly model: string | null
  readonly atMs: number | null
}

/** Token counts by source, in rows by time, project, model or chat. */
export const readLedger = (db: Mirror, request: TokensRequest): TokensAnswer =>
  inSnapshot(db, () => new Ledger(db, request).read())

class Ledger {
  readonly #db: Mirror
  readonly #request: TokensRequest
  readonly #scope: MessageScope
  readonly #tallies = new Map<Key, Tally>()
  readonly #totals = new Tally()
  /** Recorded messages that are copies in forked chats. */
  #copied = 0
  /** The last bucket. Rows are in order of time, so the next one is usually in it. */
  #bucket: ReturnType<typeof bucketAt> | null = null

  constructor(db: Mirror, request: TokensRequest) {
    this.#db = db
    this.#request = request
    const projectNums = request.projects === null ? null : resolveProjects(db, request.projects)
    this.#scope = {
      projectNums,
      machineNums: request.machines === null ? null : resolveMachines(db, request.machines),
      draftNums: readDrafts(db),
      models: request.models,
      fromMs: request.fromMs,
      toMs: request.toMs,
    }
  }

  read(): TokensAnswer {
    const { groupBy } = this.#request
    if (isOfTime(groupBy)) this.#addPeriods(groupBy)
    else this.#addGroups(groupBy)
    const hasPrices = this.#addRecorded()
    for (const record of readChatRecords(this.#db, this.#scope)) {
      if ((record.contextTokens ?? 0) > 0) this.#addTo(record, (tally) => tally.addContext(record))
      // Cursor records cents by model, but that need not be the chat's current model.
      if (record.cents !== null) this.#addTo({ ...record, model: null }, (tally) => tally.addCents(record))
    }
    const imports = this.#addEvents()
    const { shown, omitted } = this.#cut(this.#sorted())
    const totals = this.#totals.toSources()
    const undated = { messages: new PeriodSums(this.#db, this.#scope).ofUndated().messages }
    return {
      rows: this.#label(shown),
      rowsTotal: this.#tallies.size,
      omitted,
      totals,
      undated,
      coverage: totals.coverage,
      imports,
      prices: hasPrices ? priceList : null,
      notes: tokenNotes(this.#request, totals, {
        hasUndated: this.#tallies.has(null),
        undated: undated.messages,
        copied: this.#copied,
      }),
    }
  }

  #addGroups(groupBy: 'project' | 'model' | 'chat'): void {
    for (const sum of readGroupSums(this.#db, groupBy, this.#scope)) {
      this.#tallyOf(sum.key).addMessages(sum)
      this.#totals.addMessages(sum)
    }
  }

  #addPeriods(unit: BucketUnit): void {
    const { fromMs, toMs, timeZone } = this.#request
    const periods = new PeriodSums(this.#db, this.#scope)
    const add = (key: Key, sum: ReturnType<PeriodSums['of']>): void => {
      if (sum.messages === 0) return
      this.#tallyOf(key).addMessages(sum)
      this.#totals.addMessages(sum)
    }
    if (fromMs === null && toMs === null) add(null, periods.ofUndated())
    for (let ms = periods.nextTime(fromMs ?? 1); ms !== null && ms < (toMs ?? Infinity);) {
      const { start, startMs, endMs } = bucketAt(ms, unit, timeZone)
      add(start, periods.of(Math.max(startMs, fromMs ?? -Infinity), Math.min(endMs, toMs ?? Infinity)))
      // Always moves on, whatever the clocks of the zone do.
      ms = periods.nextTime(Math.max(endMs, ms + 1))
    }
  }

  /** @returns whether prices were looked up */
  #addRecorded(): boolean {
    const recorded = readRecorded(this.#db, this.#scope)
    this.#copied = recorded.filter(({ isCopy }) => isCopy === 1).length
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
    add(this.#tallyOf(this.#keyOf(item)))
    add(this.#totals)
  }

  #keyOf({ chat, project, model, atMs }: LedgerItem): Key {
    const { groupBy } = this.#request
    if (groupBy === 'model') return model
    if (groupBy === 'chat') return chat ?? UNMATCHED
    if (groupBy === 'project') return chat === null ? UNMATCHED : project
    return atMs === null ? null : this.#dateOf(atMs, groupBy)
  }

  #dateOf(atMs: number, unit: BucketUnit): string {
    const isInside = this.#bucket !== null && atMs >= this.#bucket.startMs && atMs < this.#bucket.endMs
    if (!isInside) this.#bucket = bucketAt(atMs, unit, this.#request.timeZone)
    return this.#bucket?.start ?? ''
  }

  #tallyOf(key: Key): Tally {
    let tally = this.#tallies.get(key)
    if (tally === undefined) this.#tallies.set(key, (tally = new Tally()))
    return tally
  }

  /** By time, undated first. Other groups by number of messages, with the row without project, model or chat last. */
  #sorted(): [Key, Tally][] {
    const rows = [...this.#tallies]
    if (isOfTime(this.#request.groupBy)) return rows.sort(([a], [b]) => compareTexts(String(a ?? ''), String(b ?? '')))
    const isNone = (key: Key): number => Number(key === null || key === UNMATCHED)
    return rows.sort(
      ([a, one], [b, other]) =>
        isNone(a) - isNone(b) || other.messages - one.messages || compareTexts(String(a), String(b)),
    )
  }

  /** Keeps the newest rows by time, and the rows with the most messages of other groups. */
  #cut(rows: readonly [Key, Tally][]): { readonly shown: [Key, Tally][]; readonly omitted: TokensAnswer['omitted'] } {
    const { groupBy, limit } = this.#request
    const left = rows.length - limit
    if (left <= 0) return { shown: [...rows], omitted: null }
    const numberOf = `${limit.toLocaleString('en-US')} of ${rows.length.toLocaleString('en-US')} rows`
    if (!isOfTime(groupBy)) {
      const note = `Only ${numberOf} are shown, those with the most messages. The totals include all.`
      return { shown: rows.slice(0, limit), omitted: { rows: left, from: null, to: null, note } }
    }
    const dates = rows.slice(0, left).flatMap(([key]) => (typeof key === 'string' ? [key] : []))
    const [from = null, to = null] = [dates[0], dates.at(-1)]
    const note = `Only the newest ${numberOf} are shown, those after ${to ?? 'the undated one'}. The totals include all.`
    return { shown: rows.slice(left), omitted: { rows: left, from, to, note } }
  }

  #label(rows: readonly [Key, Tally][]): TokensRow[] {
    const { groupBy } = this.#request
    const nums = rows.map(([key]) => key).filter((key) => typeof key === 'number')
    const names = groupBy === 'project' || groupBy === 'chat' ? readNames(this.#db, groupBy, nums) : null
    return rows.map(([key, tally]) => {
      const named = typeof key === 'number' ? names?.get(key) : undefined
      const id = named?.id ?? (typeof key === 'string' ? key : null)
      return { key: id, label: named?.name ?? labelOf(groupBy, key), ...tally.toSources() }
    })
  }
}

const isOfTime = (groupBy: TokenGrouping): groupBy is BucketUnit =>
  groupBy === 'day' || groupBy === 'week' || groupBy === 'month'

const compareTexts = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

function labelOf(groupBy: TokenGrouping, key: Key): string {
  const text = typeof key === 'string' ? key : null
  if (groupBy === 'model') return modelLabel(text)
  if (text === UNMATCHED) return 'imported, no chat found'
  if (groupBy === 'project') return 'no project'
  if (text === null) return 'undated'
  if (groupBy === 'month') return text.slice(0, 7)
  return groupBy === 'week' ? `week of ${text}` : text
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
export function tokenNotes(
  request: TokensRequest,
  { recorded, imported, estimated, contextSnapshot, priced }: TokenSources,
  { hasUndated, undated, copied }: { readonly hasUndated: boolean; readonly undated: number; readonly copied: number },
): string[] {
  const hasDates = isOfTime(request.groupBy)
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
    isBounded ? leftOut(undated) : hasDates && hasUndated ? UNDATED : null,
  ].filter((note) => note !== null)
}
