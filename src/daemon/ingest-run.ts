import { closedBy } from '../indexer/cursor-file.ts'
import { discoverSources, type Places } from '../indexer/discover.ts'
import { readingStep, type PassEnd, type PassRequest, type PassStep, type Source } from '../indexer/source.ts'
import type { ChatId } from '../model/ids.ts'
import { placeByPaths } from '../mirror/chat-paths.ts'
import { inBulk } from '../mirror/bulk.ts'
import { countBacklog, indexBacklog } from '../mirror/backlog.ts'
import type { Mirror } from '../mirror/open.ts'
import { saveSourceState, sourceNum } from '../mirror/source-state.ts'
import type { RunOrder, RunOutcome, SourceEnd } from './ingest-messages.ts'

/**
 * Runs the ordered passes one after the other, a bounded step at a time, so that whoever drives it can do other things
 * between the steps, or end it. A source that cannot be read does not keep the others waiting. What can be read and is
 * not yet found is indexed last.
 */
export function* runPasses(
  mirror: Mirror,
  places: Places,
  order: RunOrder,
  now: () => number,
): Generator<PassStep, RunOutcome> {
  const sources = new Map(discoverSources(places).map((source) => [source.id, source]))
  const sum = { changed: 0, added: 0, gone: 0 }
  const ends: SourceEnd[] = []
  const touched = new Set<ChatId>()
  for (const { id, depth } of order.sources) {
    const source = sources.get(id)
    if (source === undefined) continue
    const pass = passOver(source, mirror, { depth, now })
    for (let next = pass.next(); ; next = pass.next()) {
      if (next.done === true) {
        ends.push(describe(source, next.value))
        break
      }
      sum.changed += next.value.outcome?.changed ?? 0
      sum.added += next.value.outcome?.added ?? 0
      sum.gone += next.value.outcome?.gone ?? 0
      for (const chatId of next.value.outcome?.chatIds ?? []) touched.add(chatId)
      yield next.value
    }
  }
  if (sum.added + sum.changed > 0) sum.changed += placeByPaths(mirror, touched).length
  return { ...sum, ends, backlog: yield* inBulk(mirror, () => workOff(mirror, order.backlogMs, now)), isWhole: true }
}

function* workOff(mirror: Mirror, backlogMs: number, now: () => number): Generator<PassStep, number> {
  const endsAtMs = now() + backlogMs
  let backlog = countBacklog(mirror)
  while (backlog > 0 && now() < endsAtMs) {
    backlog -= indexBacklog(mirror)
    yield { ...readingStep, backlog }
  }
  return backlog
}

/** A pass that ends even where the path may not be looked at. What is wrong with the mirror is thrown on. */
function* passOver(source: Source, mirror: Mirror, request: PassRequest): Generator<PassStep, PassEnd> {
  try {
    return yield* source.pass(mirror, request)
  } catch (error) {
    const isOfFiles = error instanceof Error && 'code' in error && /^E[A-Z]+$/.test(String(error.code))
    if (!isOfFiles) throw error
    const { state, detail } = closedBy(error)
    saveSourceState(mirror, sourceNum(mirror, source), state, detail, null)
    return { state, detail, isCountDue: false }
  }
}

function describe(source: Source, end: Omit<SourceEnd, 'id' | 'kind' | 'path'>): SourceEnd {
  return { id: source.id, kind: source.kind, path: source.path, ...end }
}
