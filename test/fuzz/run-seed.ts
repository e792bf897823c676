import { join } from 'node:path'
import { CursorHome } from '../helpers/cursor.ts'
import { FakeClock } from '../daemon/fake-clock.ts'
import { Writer } from '../helpers/shapes/writer.ts'
import { Chance } from './chance.ts'
import { differences } from './compare-at-rest.ts'
import { RandomWriter } from './random-writer.ts'
import { SimulatedDaemon } from './simulated-daemon.ts'

/**
 * Long enough for every scheduled pass: in such a small store, a comparison of all values pauses for at most ten
 * minutes.
 */
const REST_MS = 1_500_000

export interface SeedOutcome {
  /** The differences at rest. */
  readonly wrong: readonly string[]
  /** Messages that the mirror once had and no longer has. */
  readonly lost: readonly string[]
  readonly passes: number
}

/** Writes at random while the daemon follows, lets both come to rest, and compares. */
export async function runSeed(seed: number, steps: number): Promise<SeedOutcome> {
  const home = new CursorHome()
  const chance = new Chance(seed)
  const clock = new FakeClock()
  const writer = new Writer(home.global())
  const random = new RandomWriter(writer, chance)
  const daemon = new SimulatedDaemon(join(home.root, 'mirror.db'), home.userDir, clock)
  try {
    daemon.start()
    const seen = new Set<string>()
    for (let step = 0; step < steps; step += 1) {
      random.step()
      if (chance.next() < 0.5) await clock.advance(chance.below(2000))
      for (const id of messageIds(daemon)) seen.add(id)
    }
    await clock.advance(REST_MS)
    const held = new Set(messageIds(daemon))
    return {
      wrong: differences(home.globalPath, daemon.mirror),
      lost: [...seen].filter((id) => !held.has(id)),
      passes: daemon.passes,
    }
  } finally {
    daemon.mirror.close()
    writer.close()
    home.remove()
  }
}

export const messageIds = ({ mirror }: SimulatedDaemon): string[] =>
  mirror
    .prepare<[], string>(`select chats.id || ':' || messages.id from messages join chats on chats.num = chat`)
    .pluck()
    .all()
