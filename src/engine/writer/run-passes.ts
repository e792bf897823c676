import { findFile } from '../../indexer/open-safely/cursor-file.ts'
import { discoverSources, type Places } from '../../indexer/discover.ts'
import { passSource, type PassStep, readPendingLoss, type Source, type Turn } from '../../indexer/source.ts'
import type { ChatId, SourceId } from '../../model/ids.ts'
import type { MassRule, PassDepth, PassOrder } from '../../model/pass.ts'
import { placeAllNext, placeByPaths } from '../../mirror/projects/place-chats.ts'
import {
  type CutAhead,
  countWaiting,
  inBulk,
  mergeLater,
  mergeSome,
  needsMerge,
  workOffSome,
} from '../../mirror/fulltext/backlog.ts'
import type { Mirror } from '../../mirror/open.ts'
import { type Found, followSources, sourceNum } from '../../mirror/sources/sources.ts'
import type { Aside } from '../../mirror/aside.ts'
import { placeNext } from '../../mirror/write/write.ts'
import type { RunOrder, RunOutcome, SourceEnd } from './messages.ts'

export interface RunContext {
  readonly now: () => number
  /** Called after each step. If it throws, the run ends. */
  readonly turn: (step: PassStep) => Promise<void>
  readonly mass?: MassRule
  /** Another thread for large passes, and its terms. */
  readonly aside?: { readonly thread: Aside; readonly cut: CutAhead } | null
}

/** A step that reads a source and writes nothing. */
export const readingStep: PassStep = {
  done: 0,
  total: 0,
  bytesRead: 0,
  longestReadMs: 0,
  outcome: null,
  backlog: null,
}

/**
 * Runs the ordered passes one after the other, in bounded steps. A source that cannot be read does not block the others.
 * Messages that are not searchable yet are indexed last.
 */
export async function runPasses(
  mirror: Mirror,
  places: Places,
  order: RunOrder,
  context: RunContext,
): Promise<RunOutcome> {
  const { aside } = context
  const sources = order.sources.length === 0 ? new Map<SourceId, Source>() : sourcesFor(mirror, places, order)
  const excludes = (places.excludedProjects ?? []).length > 0
  const read = excludes && order.sources.length > 0 ? listsFirst(order, sources) : order.sources
  const news = await readSources(mirror, sources, read, context)
  const backlog = await inBulk(mirror, () => workOff(mirror, order.backlogMs, context, aside?.cut ?? null))
  const ordered = new Set(order.sources.map(({ id }) => id))
  const ends = news.ends.filter(({ id }) => ordered.has(id))
  return { ...news, ends, backlog, needsMerge: needsMerge(mirror), isWhole: true }
}

interface Listing {
  readonly places: Places
  readonly sources: ReadonlyMap<SourceId, Source>
}

/** What the run before found. A run that only reads what is new in known sources does not list thousands of folders again. */
const foundBefore = new WeakMap<Mirror, Listing>()

function sourcesFor(mirror: Mirror, places: Places, order: RunOrder): ReadonlyMap<SourceId, Source> {
  const before = foundBefore.get(mirror)
  const isKnown = ({ id, depth }: PassOrder): boolean => depth === 'tail' && before?.sources.has(id) === true
  if (before?.places === places && order.sources.every(isKnown)) return before.sources
  const sources = new Map(discoverSources(places).map((source) => [source.id, source]))
  followSources(mirror, sources, findAt)
  foundBefore.set(mirror, { places, sources })
  return sources
}

/** Stores that name the projects of chats in other stores. */
const LISTS = new Set(['workspace-items', 'global-items'])

/** The lists are read before any other store, so that the project of a chat is known before its text is read. */
function listsFirst({ sources }: RunOrder, known: ReadonlyMap<SourceId, Source>): RunOrder['sources'] {
  const ordered = new Map(sources.map((each) => [each.id, each]))
  const lists = [...known.values()].filter(({ kind }) => LISTS.has(kind))
  const ids = new Set(lists.map(({ id }) => id))
  const first = lists.map(({ id }) => ordered.get(id) ?? ({ id, depth: 'tail' } as const))
  return [...first, ...sources.filter(({ id }) => !ids.has(id))]
}

type News = Pick<RunOutcome, 'changed' | 'added' | 'gone' | 'ends'>

/** Runs one pass after the other. Then chats that changed get their project from the paths of their files. */
async function readSources(
  mirror: Mirror,
  sources: ReadonlyMap<SourceId, Source>,
  orders: RunOrder['sources'],
  { now, turn: report, mass, aside }: RunContext,
): Promise<News> {
  const sum = { changed: 0, added: 0, gone: 0 }
  const ends: SourceEnd[] = []
  const touched = new Set<ChatId>()
  let arePlaced = false
  const turn: Turn = async (step) => {
    const { changed, added, gone, chatIds } = step?.outcome ?? { changed: 0, added: 0, gone: 0, chatIds: [] }
    sum.changed += changed
    sum.added += added
    sum.gone += gone
    for (const chatId of chatIds) touched.add(chatId)
    await report({ ...readingStep, ...step })
  }
  const request = { now, turn, ...(mass === undefined ? {} : { mass }), ...(aside ? { aside: aside.thread } : {}) }
  try {
    for (const order of orders) {
      const source = sources.get(order.id)
      if (source === undefined) continue
      const num = sourceNum(mirror, source)
      const end = await passSource(source, mirror, { ...request, ...order, depth: depthFor(mirror, num, order, now()) })
      const { id, kind, path } = source
      ends.push({ id, kind, path, ...end, pendingLoss: readPendingLoss(mirror, num, now()) })
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
async function workOff(
  mirror: Mirror,
  backlogMs: number,
  { now, turn }: RunContext,
  ahead: CutAhead | null,
): Promise<number> {
  const endsAtMs = now() + backlogMs
  let backlog = countWaiting(mirror)
  if (backlog >= MERGED_LATER_MIN) mergeLater(mirror)
  while (backlog > 0 && now() < endsAtMs) {
    const done = workOffSome(mirror, ahead)
    if (done > 0) backlog -= done
    // A message that moves is no longer in the backlog.
    else if (placeNext(mirror, now())) backlog = countWaiting(mirror)
    await turn({ ...readingStep, backlog })
  }
  if (backlog > 0) return backlog
  while (needsMerge(mirror) && now() < endsAtMs) {
    mergeSome(mirror)
    await turn({ ...readingStep, backlog })
  }
  return 0
}

/** If a pending loss can be confirmed now, the pass compares all keys, which confirms it. */
function depthFor(mirror: Mirror, source: number, { depth, isAsked }: PassOrder, nowMs: number): PassDepth {
  if (isAsked === true) return depth
  const pending = readPendingLoss(mirror, source, nowMs)
  return pending !== null && pending.confirmableAtMs <= nowMs ? 'keys' : depth
}

/** Undefined if the path must not be read: then nobody knows. */
function findAt(path: string): Found | null | undefined {
  try {
    return findFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}
