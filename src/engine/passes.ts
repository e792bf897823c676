import { discoverSources, type Places } from '../indexer/discover.ts'
import type { PassOrder } from '../model/pass.ts'
import type { Progress } from '../api/http/schemas/archives.ts'
import type { RestoreOrder, RestoreResult } from './restore.ts'
import { sourceReasons } from './source-reasons.ts'
import type { RunOutcome } from './writer/messages.ts'
import type { Writer } from './writer/writer.ts'
import type { SyncOutcome } from '../api/http/schemas/status.ts'

/** Decides when the writer reads Cursor. The daemon schedules passes. A command without a daemon runs them at once. */
export interface Passes {
  /** Reads Cursor now. Resolves when all of it is searchable. */
  sync(options: { full: boolean }): Promise<SyncOutcome>
  /** Restores an archive. Resolves when all of it is searchable. */
  restore(order: RestoreOrder, onProgress: (progress: Progress) => void): Promise<RestoreResult>
  /** Makes searchable what was written apart from a pass. */
  index(backlog: number): Promise<void>
}

const nothingRead = { changed: 0, added: 0, gone: 0 }

/** Passes of a command that works without a daemon. */
export class DirectPasses implements Passes {
  readonly #places: Places
  readonly #writer: Writer
  #latest: Pick<RunOutcome, 'ends'> = { ends: [] }
  /** What was read and not reported yet. */
  #unreported: Pick<RunOutcome, 'changed' | 'added' | 'gone'> = nothingRead

  constructor(places: Places, writer: Writer) {
    this.#places = places
    this.#writer = writer
  }

  /** Why some sources could not be read at the last attempt, as sentences. */
  get reasons(): readonly string[] {
    return sourceReasons(this.#latest.ends)
  }

  /** Reads what is new. The next `sync` reports it. */
  async catchUp(): Promise<void> {
    this.#unreported = await this.#run({ depth: 'tail' })
  }

  async sync({ full }: { full: boolean }): Promise<SyncOutcome> {
    const startedAt = performance.now()
    const before = this.#unreported
    const { changed, added, gone } = await this.#run(full ? { depth: 'values', isAsked: true } : { depth: 'keys' })
    this.#unreported = nothingRead
    return {
      changed: before.changed + changed,
      added: before.added + added,
      gone: before.gone + gone,
      tookMs: Math.round(performance.now() - startedAt),
      reasons: this.reasons,
    }
  }

  async restore(order: RestoreOrder, onProgress: (progress: Progress) => void): Promise<RestoreResult> {
    const result = await this.#writer.restore(order, ({ progress }) => onProgress(progress))
    await this.index()
    return result
  }

  async index(): Promise<void> {
    await this.#writer.run({ kind: 'run', sources: [], backlogMs: Infinity })
  }

  async #run(order: Omit<PassOrder, 'id'>): Promise<RunOutcome> {
    const sources = discoverSources(this.#places).map(({ id }) => ({ id, ...order }))
    const outcome = await this.#writer.run({ kind: 'run', sources, backlogMs: Infinity })
    this.#latest = outcome
    return outcome
  }
}
