import { expect, test } from 'vitest'
import { killRounds } from '../killed/kill-rounds.ts'

const ROUNDS = 500

test(`killed ${ROUNDS} times, the mirror is whole each time`, { timeout: 7_200_000 }, async () => {
  const { bad, line, moments } = await killRounds({ rounds: ROUNDS, seed: 2, bulkChats: 60 })
  console.log(line)
  expect(bad).toEqual([])
  expect(Math.min(moments.firstPass, moments.backlog, moments.sweep)).toBeGreaterThan(5)
})
