import type { Mirror } from '../../mirror/open.ts'
import { modelLabel } from '../../text/tokens/model-name.ts'
import type { BucketUnit } from '../buckets.ts'
import { bucketAt } from '../periods.ts'
import { resolveProjects } from '../queries/projects/list-projects.ts'
import { inSnapshot } from '../queries/snapshot.ts'
import { readChatRecords, readEvents, readNames } from '../queries/tokens/token-sources.ts'
import { readDrafts, readGroupSums, readRecorded, StretchSums, type TokenScope } from '../queries/tokens/token-sums.ts'
import { PriceBook, priceList } from './prices.ts'
import type { TokenGrouping, TokensAnswer, TokensRequest, TokensRow, TokenSources } from './request.ts'
import { Tally } from './tally.ts'

/** A project's or chat's number, a date, a model; null for what has none. */
type Key = number | string | null
/** Events of which no chat was found are a row of their own among chats and projects. */
const UNMATCHED = 'unmatched'

interface Placed {
  readonly chat: number | null
  readonly project: number | null
  readonly model: string | null
  readonly atMs: number | null
}

/** All that is known of tokens, source by source, in rows by time, project, model or chat. */
export const tellTokens = (db: Mirror, request: TokensRequest): TokensAnswer =>
  inSnapshot(db, () => new Ledger(db, request).tell())

class Ledger {
  readonly #db: Mirror
  readonly #request: TokensRequest
  readonly #scope: TokenScope
  readonly #tallies = new Map<Key, Tally>()
  readonly #totals = new Tally()
  /** The bucket that was met last: rows come by time. */
  #bucket: ReturnType<typeof bucketAt> | null = null

  constructor(db: Mirror, request: TokensRequest) {
    this.#db = db
    this.#request = request
    const projectNums = request.projects === null ? null : resolveProjects(db, request.projects)
    this.#scope = {
      projectNums,
      draftNums: readDrafts(db),
      models: request.models,
      fromMs: request.fromMs,
      toMs: request.toMs,
    }
  }

  tell(): TokensAnswer {
    const { groupBy, limit } = this.#request
    if (isOfTime(groupBy)) this.#addStretches(groupBy)
    else this.#addGroups(groupBy)
    const hasPrices = this.#addRecorded()
    for (const record of readChatRecords(this.#db, this.#scope)) {
      if ((record.contextTokens ?? 0) > 0) this.#each(record, (tally) => tally.addContext(record))
      // Cursor writes cents under a model's name, which need not be the one that the chat has now.
      if (record.cents !== null) this.#each({ ...record, model: null }, (tally) => tally.addCents(record))
    }
    const imports = this.#addEvents()
    const shown = this.#sorted().slice(0, limit)
    const totals = this.#totals.toSources()
    return {
      rows: this.#named(shown),
      rowsTotal: this.#tallies.size,
      totals,
      coverage: totals.coverage,
      imports,
      prices: hasPrices ? priceList : null,
      notes: tokenNotes(this.#request, totals, { hasUndated: this.#tallies.has(null), rows: this.#tallies.size }),
    }
  }

  #addGroups(groupBy: 'project' | 'model' | 'chat'): void {
    for (const sum of readGroupSums(this.#db, groupBy, this.#scope)) {
      this.#tallyOf(sum.key).addMessages(sum)
      this.#totals.addMessages(sum)
    }
  }

  #addStretches(unit: BucketUnit): void {
    const { fromMs, toMs, timeZone } = this.#request
    const stretches = new StretchSums(this.#db, this.#scope)
    const add = (key: Key, sum: ReturnType<StretchSums['of']>): void => {
      if (sum.messages === 0) return
      this.#tallyOf(key).addMessages(sum)
      this.#totals.addMessages(sum)
    }
    if (fromMs === null && toMs === null) add(null, stretches.ofUndated())
    for (let ms = stretches.nextTime(fromMs ?? 1); ms !== null && ms < (toMs ?? Infinity);) {
      const { start, startMs, endMs } = bucketAt(ms, unit, timeZone)
      add(start, stretches.of(Math.max(startMs, fromMs ?? -Infinity), Math.min(endMs, toMs ?? Infinity)))
      // Whatever a zone's clocks do, it goes on.
      ms = stretches.nextTime(Math.max(endMs, ms + 1))
    }
  }

  /** @returns whether any of it could be priced, or could not */
  #addRecorded(): boolean {
    const recorded = readRecorded(this.#db, this.#scope)
    const prices = this.#request.hasPrices && recorded.length > 0 ? new PriceBook() : null
    for (const message of recorded) {
      const { model, input, output, atMs } = message
      const cents = prices?.centsOf(model, input, output, atMs)
      this.#each(message, (tally) => {
        tally.addRecorded(message)
        if (cents !== undefined) tally.addPrice(cents)
      })
    }
    return prices !== null
  }

  #addEvents(): TokensAnswer['imports'] {
    const events = readEvents(this.#db, this.#scope)
    for (const event of events) this.#each(event, (tally) => tally.addEvent(event))
    const matched = events.filter(({ chat }) => chat !== null).length
    return events.length === 0 ? null : { events: events.length, matched, unmatched: events.length - matched }
  }

  #each(placed: Placed, add: (tally: Tally) => void): void {
    add(this.#tallyOf(this.#keyOf(placed)))
    add(this.#totals)
  }

  #keyOf({ chat, project, model, atMs }: Placed): Key {
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

  /** By time, what has none first; all else by the number of messages, and what is no project, model or chat last. */
  #sorted(): [Key, Tally][] {
    const rows = [...this.#tallies]
    if (isOfTime(this.#request.groupBy)) return rows.sort(([a], [b]) => compareTexts(String(a ?? ''), String(b ?? '')))
    const isNone = (key: Key): number => Number(key === null || key === UNMATCHED)
    return rows.sort(
      ([a, one], [b, other]) =>
        isNone(a) - isNone(b) || other.messages - one.messages || compareTexts(String(a), String(b)),
    )
  }

  #named(rows: readonly [Key, Tally][]): TokensRow[] {
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
  'Estimated: the visible text of each message counted once, by the encoding o200k_base. It says what was written and read, not what was billed: a model reads the whole chat again for every answer, and much that no chat shows.'
const RECORDED =
  'Recorded: what Cursor wrote down, on the last answer of a turn only and not since early 2026; input is all that this request read.'
const SNAPSHOT =
  'Context snapshot: how full each chat’s context was when it was last used, by the day of its last activity. It is a state, not a sum of what was used.'
const IMPORTED = 'Imported: rows of usage files that you handed in, by their own time and model.'
const PRICED = 'Priced: recorded tokens by list prices, as if nothing had been cached. Nothing estimated is priced.'
const UNDATED = 'A row without a key holds messages of which nothing tells the time.'
const LEFT_OUT = 'Messages of which nothing tells the time are left out of a stretch of time.'

const unpricedNote = ({ messages, unpriced }: NonNullable<TokenSources['priced']>): string =>
  `Of ${messages + unpriced} recorded messages ${unpriced} ${unpriced === 1 ? 'is' : 'are'} unpriced: the list does not know the model, or half of the count is not known.`

/** What the numbers are and are not, for whoever reads them: only of what is there. */
export function tokenNotes(
  request: TokensRequest,
  { recorded, imported, estimated, contextSnapshot, priced }: TokenSources,
  { hasUndated, rows }: { readonly hasUndated: boolean; readonly rows: number },
): string[] {
  const hasDates = isOfTime(request.groupBy)
  const isBounded = request.fromMs !== null || request.toMs !== null
  const sources = [recorded, imported, estimated, contextSnapshot].filter((source) => source !== null)
  return [
    sources.length > 1 ? 'The sources stand side by side and are never added to each other.' : null,
    recorded === null ? null : RECORDED,
    imported === null ? null : IMPORTED,
    estimated === null ? null : ESTIMATED,
    contextSnapshot === null ? null : SNAPSHOT,
    priced === null ? null : PRICED,
    priced === null || priced.unpriced === 0 ? null : unpricedNote(priced),
    isBounded ? LEFT_OUT : hasDates && hasUndated ? UNDATED : null,
    rows > request.limit ? `Only the first ${request.limit} of ${rows} rows are told; the totals are of all.` : null,
  ].filter((note) => note !== null)
}
