import { statSync } from 'node:fs'
import { closedBy, findFile } from '../../indexer/open-safely/cursor-file.ts'
import { discoverSources, type Places } from '../../indexer/discover.ts'
import { readPendingLoss } from '../../indexer/mass-loss.ts'
import {
  passSource,
  readingStep,
  type MassRule,
  type PassDepth,
  type PassEnd,
  type PassRequest,
  type PassStep,
  type Source,
} from '../../indexer/source.ts'
import type { ChatId, SourceId } from '../../model/ids.ts'
import { placeAllNext, placeByPaths } from '../../mirror/write/chats/chat-paths.ts'
import { inBulk } from '../../mirror/fulltext/bulk.ts'
import { forgetUnread, missVanished } from '../../mirror/sources/forget-sources.ts'
import { needsMerge, mergeLater, mergeSome } from '../../mirror/fulltext/merge-terms.ts'
import type { Mirror } from '../../mirror/open.ts'
import { renameMoved, type Found } from '../../mirror/sources/rename-sources.ts'
import { saveSourceState, sourceNum } from '../../mirror/sources/source-state.ts'
import type { Aside } from '../../mirror/aside.ts'
import type { CutAhead } from '../../mirror/fulltext/cut-ahead.ts'
import { countWaiting, workOffSome } from '../../mirror/fulltext/backlog.ts'
import { redateNext } from '../../mirror/threads/redate.ts'
import type { RunOrder, RunOutcome, SourceEnd } from './messages.ts'

export interface RunOptions {
  readonly mass?: MassRule
  /** Another thread for large passes, and its terms. */
  readonly aside?: { readonly thread: Aside; readonly cut: CutAhead } | null
}

/**
 * Runs the ordered passes one after the other, in bounded steps. The caller can do other work between two steps, or stop.
 * A source that cannot be read does not block the others. Messages that are not searchable yet are indexed last.
 */
export function* runPasses(
  mirror: Mirror,
  places: Places,
  order: RunOrder,
  now: () => number,
  { mass, aside }: RunOptions = {},
): Generator<PassStep, RunOutcome> {
  const sources = new Map(discoverSources(places).map((source) => [source.id, source]))
  if (order.sources.length > 0) {
    renameMoved(mirror, sources, findAt)
    const discovered = new Set(sources.keys())
    forgetUnread(mirror, discovered)
    missVanished(mirror, discovered, isGone)
  }
  const excludes = (places.excludedProjects ?? []).length > 0
  const read = excludes && order.sources.length > 0 ? { ...order, sources: listsFirst(order, sources) } : order
  const news = yield* readSources(mirror, sources, read, {
    now,
    ...(mass === undefined ? {} : { mass }),
    ...(aside ? { aside: aside.thread } : {}),
  })
  const backlog = yield* inBulk(mirror, () => workOff(mirror, order.backlogMs, now, aside?.cut ?? null))
  const ordered = new Set(order.sources.map(({ id }) => id))
  const ends = news.ends.filter(({ id }) => ordered.has(id))
  return { ...news, ends, backlog, needsMerge: needsMerge(mirror), isWhole: true }
}

/** Stores that name the projects of chats in other stores. */
const LISTS = new Set(['workspace-items', 'global-items'])

/** The lists are read before any other store, so that the project of a chat is known before its text is read. */
function listsFirst({ sources }: RunOrder, known: ReadonlyMap<SourceId, Source>): RunOrder['sources'] {
  const ordered = new Map(sources.map((each) => [each.id, each]))
  const lists = [...known.values()].filter(({ kind }) => LISTS.has(kind))
  const ids = new Set(lists.map(({ id }) => id))
  const first = lists.map(({ id }) => ordered.get(id) ?? ({ id, depth: 'nudge' } as const))
  return [...first, ...sources.filter(({ id }) => !ids.has(id))]
}

type News = Pick<RunOutcome, 'changed' | 'added' | 'gone' | 'ends'>

/** Runs one pass after the other. Then chats that changed get their project from the paths of their files. */
function* readSources(
  mirror: Mirror,
  sources: ReadonlyMap<SourceId, Source>,
  order: RunOrder,
  { now, ...options }: Omit<PassRequest, 'depth'>,
): Generator<PassStep, News> {
  const sum = { changed: 0, added: 0, gone: 0 }
  const ends: SourceEnd[] = []
  const touched = new Set<ChatId>()
  let arePlaced = false
  try {
    for (const { id, depth } of order.sources) {
      const source = sources.get(id)
      if (source === undefined) continue
      const num = sourceNum(mirror, source)
      const pass = passOver(source, mirror, { depth: depthFor(mirror, num, depth, now()), now, ...options })
      try {
        for (let next = pass.next(); ; next = pass.next()) {
          if (next.done === true) {
            const pendingLoss = readPendingLoss(mirror, num, now())
            ends.push({ ...describe(source, next.value), pendingLoss })
            break
          }
          sum.changed += next.value.outcome?.changed ?? 0
          sum.added += next.value.outcome?.added ?? 0
          sum.gone += next.value.outcome?.gone ?? 0
          for (const chatId of next.value.outcome?.chatIds ?? []) touched.add(chatId)
          yield next.value
        }
      } finally {
        // If it is stopped here, this closes its file.
        pass.return(undefined as never)
      }
    }
    sum.changed += placeByPaths(mirror, touched).length
    arePlaced = true
  } finally {
    // It failed or was stopped. The next run does not read these rows again, so it must place all chats.
    if (!arePlaced) placeAllNext(mirror)
  }
  return { ...sum, ends }
}

/** With a backlog of this many messages and chats, full-text rows are merged only at its end. */
const MERGED_LATER_MIN = 4000

/** Indexes messages first, then counts messages, gives new times, and finally merges segments of the full-text tables. */
function* workOff(
  mirror: Mirror,
  backlogMs: number,
  now: () => number,
  ahead: CutAhead | null,
): Generator<PassStep, number> {
  const endsAtMs = now() + backlogMs
  let backlog = countWaiting(mirror)
  if (backlog >= MERGED_LATER_MIN) mergeLater(mirror)
  while (backlog > 0 && now() < endsAtMs) {
    const done = workOffSome(mirror, ahead)
    if (done > 0) backlog -= done
    // A message that moves is no longer in the backlog.
    else if (redateNext(mirror, now())) backlog = countWaiting(mirror)
    yield { ...readingStep, backlog }
  }
  if (backlog === 0) yield* mergeTerms(mirror, endsAtMs, now)
  return backlog
}

function* mergeTerms(mirror: Mirror, endsAtMs: number, now: () => number): Generator<PassStep, void> {
  while (needsMerge(mirror) && now() < endsAtMs) {
    mergeSome(mirror)
    yield { ...readingStep, backlog: 0 }
  }
}

/** A pass that also ends if the path must not be read. Errors of the mirror are thrown. */
function* passOver(source: Source, mirror: Mirror, request: PassRequest): Generator<PassStep, PassEnd> {
  try {
    return yield* passSource(source, mirror, request)
  } catch (error) {
    const isOfFiles = error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
    if (!isOfFiles) throw error
    const { state, detail } = closedBy(error)
    saveSourceState(mirror, sourceNum(mirror, source), state, detail, null)
    return { state, detail, again: [] }
  }
}

/** If a pending loss can be confirmed now, a cheap pass becomes a reconcile, which confirms it. */
function depthFor(mirror: Mirror, source: number, depth: PassDepth, nowMs: number): PassDepth {
  if (depth === 'reconcile' || depth === 'full') return depth
  const pending = readPendingLoss(mirror, source, nowMs)
  return pending !== null && pending.confirmableAtMs <= nowMs ? 'reconcile' : depth
}

function describe(source: Source, end: PassEnd): Omit<SourceEnd, 'pendingLoss'> {
  return { id: source.id, kind: source.kind, path: source.path, ...end }
}

/** False if the path must not be read: then nobody knows. */
const isGone = (path: string): boolean =>
  orIfUnreadable(() => statSync(path, { throwIfNoEntry: false }) === undefined, false)

const findAt = (path: string): Found | null => orIfUnreadable(() => findFile(path), null)

function orIfUnreadable<Value>(look: () => Value, orElse: Value): Value {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return orElse
    throw error
  }
}
