import { mayExist } from '../../indexer/open-safely/cursor-file.ts'
import { discoverSources, type Places } from '../../indexer/discover.ts'
import { passSource, type PassStep, readPendingLoss, type Source, type Turn } from '../../indexer/source.ts'
import type { ChatId, SourceId } from '../../model/ids.ts'
import type { MassRule, PassDepth, PassOrder } from '../../model/pass.ts'
import { placeAllNext } from '../../mirror/projects/owners.ts'
import { placeByPaths } from '../../mirror/projects/place-chats.ts'
import { inBulk, type Mirror } from '../../mirror/open.ts'
import { tidyChanges } from '../../mirror/index/index-file.ts'
import { followSources, sourceNum } from '../../mirror/sources/sources.ts'
import { countNext, countUncounted, countUnplaced, placeNext } from '../../mirror/write/write.ts'
import type { RunOrder, RunOutcome, SourceEnd } from './writer.ts'

export interface RunContext {
  readonly now: () => number
  /** Called after each step. If it throws, the run ends. */
  readonly turn: (step: PassStep) => Promise<void>
  readonly mass?: MassRule
  /** What the runs before found. */
  readonly listing?: Listing
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
 * Deferred work comes last.
 */
export async function runPasses(
  mirror: Mirror,
  places: Places,
  order: RunOrder,
  context: RunContext,
): Promise<RunOutcome> {
  const { listing = new Listing() } = context
  const sources = order.sources.length === 0 ? new Map() : listing.sourcesFor(mirror, places, order.sources)
  const excludes = (places.excludedProjects ?? []).length > 0
  const read = excludes && order.sources.length > 0 ? listsFirst(order, sources) : order.sources
  const news = await readSources(mirror, sources, read, context)
  const backlog = await inBulk(mirror, () => workOff(mirror, order.backlogMs, context))
  tidyChanges(mirror)
  const ordered = new Set(order.sources.map(({ id }) => id))
  const ends = news.ends.filter(({ id }) => ordered.has(id))
  return { ...news, ends, backlog }
}

/** What a run found. A run that only reads what is new in known sources does not list thousands of folders again. */
export class Listing {
  #mirror: Mirror | null = null
  #sources: ReadonlyMap<SourceId, Source> = new Map()

  /** @param places those of every run */
  sourcesFor(mirror: Mirror, places: Places, orders: RunOrder['sources']): ReadonlyMap<SourceId, Source> {
    const isKnown = ({ id, depth }: PassOrder): boolean => depth === 'tail' && this.#sources.has(id)
    if (this.#mirror === mirror && orders.every(isKnown)) return this.#sources
    this.#sources = new Map(discoverSources(places).map((source) => [source.id, source]))
    this.#mirror = mirror
    followSources(mirror, this.#sources, (path) => !mayExist(path))
    return this.#sources
  }
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
  { now, turn: report, mass }: RunContext,
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
  const request = { now, turn, ...(mass === undefined ? {} : { mass }) }
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

const countDeferred = (mirror: Mirror): number => countUncounted(mirror) + countUnplaced(mirror)

/** Counts the messages of chats that wait for it, and then places those that wait for that. @returns how many chats are left */
async function workOff(mirror: Mirror, backlogMs: number, { now, turn }: RunContext): Promise<number> {
  const endsAtMs = now() + backlogMs
  let backlog = countDeferred(mirror)
  while (backlog > 0 && now() < endsAtMs) {
    if (countNext(mirror) === 0) placeNext(mirror, now())
    backlog = countDeferred(mirror)
    await turn({ ...readingStep, backlog })
  }
  return backlog
}

/** If a pending loss can be confirmed now, the pass compares all keys, which confirms it. */
function depthFor(mirror: Mirror, source: number, { depth, isAsked }: PassOrder, nowMs: number): PassDepth {
  if (isAsked === true) return depth
  const pending = readPendingLoss(mirror, source, nowMs)
  return pending !== null && pending.confirmableAtMs <= nowMs ? 'keys' : depth
}
