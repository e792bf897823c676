import { expect, test } from 'vitest'
import { runSeed } from './run-seed.ts'

const SEEDS = 8
const STEPS = 300

test(`${SEEDS} seeds of ${STEPS} steps: at rest the mirror is correct, and nothing is lost`, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const outcome = await runSeed(seed, STEPS)
    expect({ seed, wrong: outcome.wrong, lost: outcome.lost }).toEqual({ seed, wrong: [], lost: [] })
  }
})
