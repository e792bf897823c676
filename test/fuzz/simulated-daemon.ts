import { runPasses } from '../../src/engine/writer/run-passes.ts'
import { Follow } from '../../src/daemon/follow/follow.ts'
import type { PassOrder } from '../../src/model/pass.ts'
import type { RunOutcome } from '../../src/engine/writer/writer.ts'
import { beginEpoch } from '../../src/mirror/index/index-file.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { attachIndex, indexOf } from '../helpers/index-of.ts'
import { FakeClock } from '../daemon/fake-clock.ts'

/** Longer than any slice, so that nothing is left to do at the end. */
const BACKLOG_MS = Infinity

/**
 * Long enough for every scheduled pass: in such a small store, a comparison of all values pauses for at most ten
 * minutes.
 */
const REST_MS = 1_500_000

/**
 * The indexing half of the daemon, on a manual clock. What follows the files and the passes are the product’s own,
 * and nothing else requests a pass.
 */
export class SimulatedDaemon {
  readonly mirror: Mirror
  readonly clock = new FakeClock()
  readonly #follow: Follow
  readonly #userDirs: readonly string[]

  constructor(mirrorPath: string, userDir: string) {
    const { clock } = this
    this.mirror = openWriter(mirrorPath)
    beginEpoch(this.mirror)
    attachIndex(this.mirror)
    this.#userDirs = [userDir]
    this.#follow = new Follow(this.#places, {
      now: clock.now,
      later: clock.later,
      run: (orders) => this.#run(orders),
      hasMore: () => false,
      watch: () => () => undefined,
      warn: () => undefined,
    })
  }

  get #places() {
    return { userDirs: this.#userDirs, homes: [], disabledKinds: ['global-items', 'agent-blobs', 'pasted-text'] }
  }

  /** Follows the files from now on, by polling as the daemon does. */
  start(): void {
    this.#follow.start()
  }

  /** Lets all time pass in which a pass is made. */
  async rest(): Promise<void> {
    await this.clock.advance(REST_MS)
  }

  messageIds(): string[] {
    const ids = `select chats.id || ':' || messages.id from messages join chats on chats.num = chat`
    return this.mirror.prepare<[], string>(ids).pluck().all()
  }

  async #run(sources: readonly PassOrder[]): Promise<RunOutcome> {
    const order = { sources, backlogMs: BACKLOG_MS }
    const context = { now: this.clock.now, turn: async () => undefined }
    const outcome = await runPasses(this.mirror, this.#places, order, context)
    indexOf(this.mirror.name, (index) => index.catchUp())
    return outcome
  }
}
