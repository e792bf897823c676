import { expect, test } from 'vitest'
import { runSeed } from '../fuzz/run-seed.ts'

const SEEDS = 1000
const STEPS = 300

test(
  `${SEEDS} seeds of ${STEPS} steps: nothing is wrong at rest, and nothing is lost`,
  { timeout: 7_200_000 },
  async () => {
    const bad: unknown[] = []
    for (let seed = 1001; seed <= 1000 + SEEDS; seed += 1) {
      const { wrong, lost } = await runSeed(seed, STEPS)
      if (wrong.length + lost.length > 0) bad.push({ seed, wrong, lost })
    }
    console.log(`convergence: ${SEEDS} seeds x ${STEPS} steps, ${bad.length} wrong at rest`)
    expect(bad).toEqual([])
  },
)
