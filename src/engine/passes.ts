import { discoverSources, type Places } from '../indexer/discover.ts'
import type { PassOrder } from '../model/pass.ts'
import { sourceReasons } from './source-reasons.ts'
import type { RunOutcome } from './writer/messages.ts'
import { UserError } from '../model/user-error.ts'
import type { IndexWriter } from './writer/thread-index.ts'
import type { Writer } from './writer/writer.ts'
import type { SyncOutcome } from '../api/answers/status.ts'

/** Decides when the writer reads Cursor. The daemon schedules passes. A command without a daemon runs them at once. */
export interface Passes {
  /** Reads Cursor now. Resolves when all of it is searchable. */
  sync(options: { full: boolean }): Promise<SyncOutcome>
}

const nothingRead = { changed: 0, added: 0, gone: 0 }

/** Passes of a command that works without a daemon. */
export class DirectPasses implements Passes {
  readonly #places: Places
  readonly #writer: Writer
  readonly #index: IndexWriter
  #latest: Pick<RunOutcome, 'ends'> = { ends: [] }
  /** Why Cursor may not be read. */
  #lostBars: string | null = null
  /** What was read and not reported yet. */
  #unreported: Pick<RunOutcome, 'changed' | 'added' | 'gone'> = nothingRead

  constructor(places: Places, writer: Writer, index: IndexWriter) {
    this.#places = places
    this.#writer = writer
    this.#index = index
  }

  /** Why some sources could not be read at the last attempt, as sentences. */
  get reasons(): readonly string[] {
    return [...(this.#lostBars === null ? [] : [this.#lostBars]), ...sourceReasons(this.#latest.ends)]
  }

  /** Reads what is new. The next `sync` reports it. What is mirrored can be read also if Cursor may not be. */
  async catchUp(): Promise<void> {
    try {
      this.#unreported = await this.#run({ depth: 'tail' })
    } catch (error) {
      if (this.#lostBars === null) throw error
    }
  }

  async sync({ full }: { full: boolean }): Promise<SyncOutcome> {
    const startedAt = performance.now()
    const before = this.#unreported
    const { changed, added, gone } = await this.#run(full ? { depth: 'values', isAsked: true } : { depth: 'keys' })
    if (full) await this.#index.check(true)
    this.#unreported = nothingRead
    return {
      changed: before.changed + changed,
      added: before.added + added,
      gone: before.gone + gone,
      tookMs: Math.round(performance.now() - startedAt),
      reasons: this.reasons,
    }
  }

  #noteLostBars(error: unknown): never {
    if (error instanceof UserError && error.code === 'bars-lost') this.#lostBars = `${error.message} ${error.hint}`
    throw error
  }

  async #run(order: Omit<PassOrder, 'id'>): Promise<RunOutcome> {
    const sources = discoverSources(this.#places).map(({ id }) => ({ id, ...order }))
    this.#lostBars = null
    const outcome = await this.#writer
      .run({ kind: 'run', sources, backlogMs: Infinity })
      .catch((error: unknown) => this.#noteLostBars(error))
    this.#latest = outcome
    await this.#index.follow()
    return outcome
  }
}
