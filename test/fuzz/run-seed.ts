import { join } from 'node:path'
import { Chance, CursorHome } from '../helpers/cursor.ts'
import { Writer } from '../helpers/shapes/writer.ts'
import { differences } from './compare-at-rest.ts'
import { RandomWriter } from './random-writer.ts'
import { SimulatedDaemon } from './simulated-daemon.ts'

interface SeedOutcome {
  /** The differences at rest. */
  readonly wrong: readonly string[]
  /** Messages that a mirror once had and the last one does not have. */
  readonly lost: readonly string[]
}

/** A store that is written at random, and the daemons that follow it. */
export class FollowedStore {
  readonly chance: Chance
  readonly #home = new CursorHome()
  readonly #writer = new Writer(this.#home.global())
  readonly #random: RandomWriter
  readonly #daemons: SimulatedDaemon[] = []
  readonly #seen = new Set<string>()

  constructor(seed: number) {
    this.chance = new Chance(`seed ${seed}`)
    this.#random = new RandomWriter(this.#writer, this.chance)
  }

  /** A daemon with an empty mirror. */
  openDaemon(name: string): SimulatedDaemon {
    const daemon = new SimulatedDaemon(join(this.#home.root, `${name}.db`), this.#home.userDir)
    this.#daemons.push(daemon)
    return daemon
  }

  /** Writes at random while the daemon follows. */
  async write(steps: number, daemon: SimulatedDaemon, each = async (): Promise<unknown> => undefined): Promise<void> {
    for (let step = 0; step < steps; step += 1) {
      this.#random.step()
      if (this.chance.next() < 0.5) await daemon.clock.advance(this.chance.between(0, 1999))
      for (const id of daemon.messageIds()) this.#seen.add(id)
      await each()
    }
  }

  compare(daemon: SimulatedDaemon): SeedOutcome {
    const held = new Set(daemon.messageIds())
    const lost = [...this.#seen].filter((id) => !held.has(id))
    return { wrong: differences(this.#home.globalPath, daemon.mirror), lost }
  }

  remove(): void {
    for (const { mirror } of this.#daemons) mirror.close()
    this.#writer.close()
    this.#home.remove()
  }
}

/** Writes at random while the daemon follows, lets both come to rest, and compares. */
export async function runSeed(seed: number, steps: number): Promise<SeedOutcome> {
  const store = new FollowedStore(seed)
  try {
    const daemon = store.openDaemon('mirror')
    daemon.start()
    await store.write(steps, daemon)
    await daemon.rest()
    return store.compare(daemon)
  } finally {
    store.remove()
  }
}
