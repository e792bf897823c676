import { expect, test } from 'vitest'
import { killRounds } from './kill-rounds.ts'

const ROUNDS = 14

test(
  `killed ${ROUNDS} times, the mirror is whole each time and ends equal to the store`,
  { timeout: 600_000 },
  async () => {
    const { bad, line, moments } = await killRounds({ rounds: ROUNDS, seed: 1, bulkChats: 30 })
    console.log(line)
    expect(bad).toEqual([])
    expect(Math.min(moments.firstPass, moments.backlog, moments.sweep)).toBeGreaterThan(0)
  },
)
