import { discoverSources, type Places } from '../indexer/discover.ts'
import type { PassStep, Source } from '../indexer/source.ts'
import type { Mirror } from '../mirror/open.ts'
import type { RunOrder, RunOutcome, SourceEnd } from './ingest-messages.ts'

/**
 * Runs the ordered passes one after the other, a bounded step at a time, so that whoever drives it can do other things
 * between the steps, or end it. A source that cannot be read does not keep the others waiting.
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
  for (const { id, depth } of order.sources) {
    const source = sources.get(id)
    if (source === undefined) continue
    const pass = source.pass(mirror, { depth, now })
    for (let next = pass.next(); ; next = pass.next()) {
      if (next.done === true) {
        ends.push(describe(source, next.value))
        break
      }
      sum.changed += next.value.outcome?.changed ?? 0
      sum.added += next.value.outcome?.added ?? 0
      sum.gone += next.value.outcome?.gone ?? 0
      yield next.value
    }
  }
  return { ...sum, ends, isWhole: true }
}

function describe(source: Source, end: Omit<SourceEnd, 'id' | 'kind' | 'path'>): SourceEnd {
  return { id: source.id, kind: source.kind, path: source.path, ...end }
}
