import { expect, test } from 'vitest'
import type { ArchiveRestored } from '../../src/api/answers/archives.ts'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { restoreHere } from '../helpers/restored-mirror.ts'
import { FollowedStore } from './run-seed.ts'

const SEEDS = 4
const STEPS = 150

/**
 * A mirror follows a store that is written at random, is archived, and is lost. A new one continues to follow the
 * store, and is restored at random moments, the first of them before or after its first pass.
 */
async function runSeed(seed: number): Promise<string[]> {
  const archive = new ArchiveFolder()
  const store = new FollowedStore(seed)
  const { chance } = store
  try {
    const first = store.openDaemon('first')
    first.start()
    await store.write(STEPS, first, async () => {
      if (chance.next() < 0.02) await archive.run(first.mirror)
    })
    await archive.run(first.mirror)
    const second = store.openDaemon('second')
    const restore = (): Promise<ArchiveRestored> => restoreHere(second.mirror, archive.dir)
    if (chance.next() < 0.5) await restore()
    second.start()
    await store.write(STEPS, second, async () => {
      if (chance.next() < 0.03) await restore()
    })
    await restore()
    await second.rest()
    const { lost } = store.compare(second)
    const { added, addedChats } = await restore()
    const again = added + addedChats > 0 ? [`restored again: ${added} messages`] : []
    return [...store.compare(second).wrong, ...lost.map((id) => `lost: ${id}`), ...again]
  } finally {
    store.remove()
    archive.remove()
  }
}

test(`${SEEDS} seeds: a mirror that is restored while it follows its store equals the store at rest, and nothing is lost`, async () => {
  const wrong: string[] = []
  for (let seed = 1; seed <= SEEDS; seed += 1)
    wrong.push(...(await runSeed(seed)).map((line) => `seed ${seed}: ${line}`))
  expect(wrong).toEqual([])
})
