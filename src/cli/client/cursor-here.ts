import type { SyncOutcome } from '../../api/http/api-context.ts'
import type { RunOutcome } from '../../engine/writer-messages.ts'
import { runPasses } from '../../engine/run-passes.ts'
import { sourceReasons } from '../../engine/source-reasons.ts'
import { discoverSources } from '../../indexer/discover.ts'
import type { PassDepth } from '../../indexer/source.ts'
import { disabledKindsOf, type Settings } from '../../settings.ts'
import { withWriterLock } from './as-writer.ts'

const nothingRead = { changed: 0, added: 0, gone: 0 }

/** Cursor's stores, read by a command itself for want of a daemon. */
export class CursorHere {
  readonly #settings: Settings
  readonly #note: (text: string) => void
  #latest: RunOutcome
  /** What was read and not told of yet. */
  #untold: Pick<RunOutcome, 'changed' | 'added' | 'gone'>

  private constructor(settings: Settings, note: (text: string) => void, first: RunOutcome) {
    this.#settings = settings
    this.#note = note
    this.#latest = first
    this.#untold = first
  }

  /** Reads what is new. @param note hears of it where that takes long */
  static async read(settings: Settings, note: (text: string) => void): Promise<CursorHere> {
    return new CursorHere(settings, note, await runOnce(settings, 'nudge', note))
  }

  /** What could not be read when it was last tried, or is not believed yet, in words for a person. */
  get reasons(): readonly string[] {
    return sourceReasons(this.#latest.ends)
  }

  /** Reads again. @returns what came of it, with what the first look found */
  async sync(depth: PassDepth): Promise<SyncOutcome> {
    const startedAt = performance.now()
    const before = this.#untold
    this.#latest = await runOnce(this.#settings, depth, this.#note)
    this.#untold = nothingRead
    const { changed, added, gone } = this.#latest
    return {
      changed: before.changed + changed,
      added: before.added + added,
      gone: before.gone + gone,
      tookMs: Math.round(performance.now() - startedAt),
      reasons: this.reasons,
    }
  }
}

function runOnce(settings: Settings, depth: PassDepth, note: (text: string) => void): Promise<RunOutcome> {
  const disabledKinds = disabledKindsOf(settings)
  const { userDirs, homes } = settings.cursor
  const places = { userDirs, homes, disabledKinds }
  return withWriterLock(settings, note, (kept) => {
    const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
    const passes = runPasses(kept.db, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
    const startedAtMs = Date.now()
    let hasNoted = false
    for (let next = passes.next(); ; next = passes.next()) {
      if (next.done === true) return next.value
      if (hasNoted || Date.now() - startedAtMs < 1000) continue
      hasNoted = true
      note('Reading Cursor first; run "cursordex serve" to have this done in the background.')
    }
  })
}
