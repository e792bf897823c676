import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ArchiveRestored } from '../../src/api/answers/archives.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { FakeClock } from '../daemon/fake-clock.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { restoreHere } from '../helpers/restored-mirror.ts'
import { Writer } from '../helpers/shapes/writer.ts'
import { Chance } from './chance.ts'
import { differences } from './compare-at-rest.ts'
import { RandomWriter } from './random-writer.ts'
import { messageIds } from './run-seed.ts'
import { SimulatedDaemon } from './simulated-daemon.ts'

const SEEDS = 4
const STEPS = 150
const REST_MS = 1_500_000

/**
 * A mirror follows a store that is written at random, is archived, and is lost. A new one continues to follow the
 * store, and is restored at random moments, the first of them before or after its first pass.
 */
async function runSeed(seed: number): Promise<string[]> {
  const home = new CursorHome()
  const archive = new ArchiveFolder()
  const chance = new Chance(seed)
  const writer = new Writer(home.global())
  const random = new RandomWriter(writer, chance)
  const seen = new Set<string>()
  const restoreIntoMirror = (mirror: Mirror): Promise<ArchiveRestored> => restoreHere(mirror, archive.dir)
  const follow = async (daemon: SimulatedDaemon, clock: FakeClock, each: () => Promise<void>): Promise<void> => {
    for (let step = 0; step < STEPS; step += 1) {
      random.step()
      if (chance.next() < 0.5) await clock.advance(chance.below(2000))
      for (const id of messageIds(daemon)) seen.add(id)
      await each()
    }
  }
  try {
    const clock = new FakeClock()
    const first = new SimulatedDaemon(join(home.root, 'first.db'), home.userDir, clock)
    first.start()
    await follow(first, clock, async () => {
      if (chance.next() < 0.02) await archive.run(first.mirror)
    })
    await archive.run(first.mirror)
    first.mirror.close()
    return await restoreAndFollow()
  } finally {
    writer.close()
    home.remove()
    archive.remove()
  }

  async function restoreAndFollow(): Promise<string[]> {
    const clock = new FakeClock()
    const second = new SimulatedDaemon(join(home.root, 'second.db'), home.userDir, clock)
    try {
      if (chance.next() < 0.5) await restoreIntoMirror(second.mirror)
      second.start()
      await follow(second, clock, async () => {
        if (chance.next() < 0.03) await restoreIntoMirror(second.mirror)
      })
      await restoreIntoMirror(second.mirror)
      await clock.advance(REST_MS)
      const held = new Set(messageIds(second))
      const lost = [...seen].filter((id) => !held.has(id)).map((id) => `lost: ${id}`)
      const { added, addedChats } = await restoreIntoMirror(second.mirror)
      const wrong = differences(home.globalPath, second.mirror)
      return [...wrong, ...lost, ...(added + addedChats > 0 ? [`restored again: ${added} messages`] : [])]
    } finally {
      second.mirror.close()
    }
  }
}

test(`${SEEDS} seeds: a mirror that is restored while it follows its store equals the store at rest, and nothing is lost`, async () => {
  const wrong: string[] = []
  for (let seed = 1; seed <= SEEDS; seed += 1)
    wrong.push(...(await runSeed(seed)).map((line) => `seed ${seed}: ${line}`))
  expect(wrong).toEqual([])
})
