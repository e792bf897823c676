import { runPasses } from '../../src/engine/writer/run-passes.ts'
import { Follow } from '../../src/daemon/follow/follow.ts'
import type { PassOrder } from '../../src/model/pass.ts'
import type { RunOutcome } from '../../src/engine/writer/writer.ts'
import { beginEpoch } from '../../src/mirror/index/index-file.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { attachIndex, indexOf } from '../helpers/index-of.ts'
import type { FakeClock } from '../daemon/fake-clock.ts'

/** Longer than any slice, so that nothing is left to do at the end. */
const BACKLOG_MS = Infinity

/**
 * The indexing half of the daemon, on a manual clock. What follows the files and the passes are the product’s own,
 * and nothing else requests a pass.
 */
export class SimulatedDaemon {
  readonly mirror: Mirror
  readonly #mirrorPath: string
  readonly #clock: FakeClock
  readonly #follow: Follow
  readonly #userDirs: readonly string[]
  passes = 0

  constructor(mirrorPath: string, userDir: string, clock: FakeClock) {
    this.mirror = openWriter(mirrorPath)
    beginEpoch(this.mirror)
    attachIndex(this.mirror)
    this.#mirrorPath = mirrorPath
    this.#clock = clock
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

  async #run(sources: readonly PassOrder[]): Promise<RunOutcome> {
    this.passes += 1
    const order = { sources, backlogMs: BACKLOG_MS }
    const outcome = await runPasses(this.mirror, this.#places, order, {
      now: this.#clock.now,
      turn: async () => undefined,
    })
    indexOf(this.#mirrorPath, (index) => index.catchUp())
    return outcome
  }
}
