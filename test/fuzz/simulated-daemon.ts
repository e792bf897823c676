import { runPasses } from '../../src/engine/writer/run-passes.ts'
import { SourceMonitor } from '../../src/daemon/follow/source-monitor.ts'
import { PassScheduler } from '../../src/daemon/follow/pass-scheduler.ts'
import type { RunOutcome } from '../../src/engine/writer/messages.ts'
import { beginEpoch } from '../../src/mirror/index/changes.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { attachIndex, indexOf } from '../helpers/index-of.ts'
import type { FakeClock } from '../daemon/fake-clock.ts'

/** Longer than any slice, so that nothing is left to do at the end. */
const BACKLOG_MS = Infinity

/**
 * The indexing half of the daemon, on a manual clock. The watcher, the scheduler and the passes are the product’s own,
 * and nothing else requests a pass.
 */
export class SimulatedDaemon {
  readonly mirror: Mirror
  readonly #mirrorPath: string
  readonly #clock: FakeClock
  readonly #follow: SourceMonitor
  readonly #userDirs: readonly string[]
  passes = 0

  constructor(mirrorPath: string, userDir: string, clock: FakeClock) {
    this.mirror = openWriter(mirrorPath)
    beginEpoch(this.mirror)
    attachIndex(this.mirror)
    this.#mirrorPath = mirrorPath
    this.#clock = clock
    this.#userDirs = [userDir]
    const pacer = new PassScheduler<RunOutcome>({
      now: clock.now,
      later: clock.later,
      source: (id) => this.#follow.paced(id),
      run: (sources) => this.#run(sources),
      hasMore: () => false,
    })
    this.#follow = new SourceMonitor(this.#places, {
      now: clock.now,
      later: clock.later,
      nudge: (id, depth) => pacer.nudge(id, depth),
      watch: () => undefined,
    })
  }

  get #places() {
    return { userDirs: this.#userDirs, homes: [], disabledKinds: ['global-items', 'agent-blobs', 'pasted-text'] }
  }

  /** Follows the files from now on, by polling as the daemon does. */
  start(): void {
    this.#follow.discover()
    this.#every(1000, () => this.#follow.poll(false))
    this.#every(60_000, () => this.#follow.poll(true))
  }

  #every(ms: number, act: () => void): void {
    this.#clock.later(() => {
      act()
      this.#every(ms, act)
    }, ms)
  }

  async #run(sources: Parameters<SourceMonitor['begin']>[0]): Promise<RunOutcome> {
    const settle = this.#follow.begin(sources)
    this.passes += 1
    const order = { kind: 'run' as const, sources, backlogMs: BACKLOG_MS }
    const outcome = await runPasses(this.mirror, this.#places, order, {
      now: this.#clock.now,
      turn: async () => undefined,
    })
    indexOf(this.#mirrorPath, (index) => index.catchUp())
    settle(outcome)
    return outcome
  }
}
