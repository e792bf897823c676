import { expect, test } from 'vitest'
import { killRounds } from '../system/killed/kill-rounds.ts'

/** Each round looks at all that the ones before it left, so that one life of 500 would take days. */
const LIVES = 5
const ROUNDS = 100

test(`killed ${LIVES * ROUNDS} times, the mirror is whole each time`, { timeout: 14_400_000 }, async () => {
  const moments = { firstPass: 0, backlog: 0, sweep: 0 }
  for (let life = 0; life < LIVES; life += 1) {
    const outcome = await killRounds({ rounds: ROUNDS, seed: 2 + life, bulkChats: 60 })
    console.log(`life ${life + 1} of ${LIVES}: ${outcome.line}`)
    expect(outcome.bad).toEqual([])
    moments.firstPass += outcome.moments.firstPass
    moments.backlog += outcome.moments.backlog
    moments.sweep += outcome.moments.sweep
  }
  expect(Math.min(moments.firstPass, moments.backlog, moments.sweep)).toBeGreaterThan(5)
})
