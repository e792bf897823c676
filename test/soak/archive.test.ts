import { expect, test } from 'vitest'
import { harms } from '../helpers/harms.ts'
import { KilledArchives } from '../system/killed/killed-archives.ts'
import { DamagedRounds } from '../system/restore/damaged-rounds.ts'

const LIVES = 5
/** In each life: of runs, and as many of restores. */
const KILLS = 50
const DAMAGES = 5000

test(
  `killed ${LIVES * KILLS * 2} times, archives are whole or not there, and restores come to the same end`,
  { timeout: 14_400_000 },
  async () => {
    for (let life = 0; life < LIVES; life += 1) {
      const killed = new KilledArchives(100 + life)
      try {
        await killed.begin()
        const bad: string[] = []
        for (let round = 0; round < KILLS; round += 1) {
          bad.push(...(await killed.killRun()).map((line) => `run ${round}: ${line}`))
          bad.push(...(await killed.killRestore()).map((line) => `restore ${round}: ${line}`))
        }
        const { runs, restores } = killed
        console.log(`life ${life + 1} of ${LIVES}: ${JSON.stringify({ runs, restores, bad: bad.length })}`)
        expect(bad).toEqual([])
        expect(Math.min(runs.unmade, restores.within)).toBeGreaterThan(5)
      } finally {
        killed.remove()
      }
    }
  },
)

test(
  `of ${DAMAGES} damaged archives everything undamaged comes back, and nothing else`,
  { timeout: 14_400_000 },
  async () => {
    const rounds = await DamagedRounds.begin()
    try {
      const times = Math.ceil(DAMAGES / harms.length)
      for (const [kind] of harms) {
        const bad = await rounds.restore(kind, times, 7)
        console.log(`${kind}: ${times} times, ${bad.length} wrong`)
        expect(bad).toEqual([])
      }
    } finally {
      rounds.remove()
    }
  },
)
