import { expect, test } from 'vitest'
import { harms } from '../helpers/harms.ts'
import { DamagedRounds } from '../system/restore/damaged-rounds.ts'

const DAMAGES = 5000

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
      await rounds.remove()
    }
  },
)
