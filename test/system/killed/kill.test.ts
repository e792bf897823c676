import { expect, test } from 'vitest'
import { Chance } from '../../helpers/cursor.ts'
import { killRounds } from './kill-rounds.ts'
import { subjects } from './subjects.ts'

const ROUNDS = { 'a daemon': 2, 'an archive run': 3, 'a restore': 3, 'a purge': 4 } as const

test.each(Object.entries(ROUNDS))(
  '%s that is killed %d times in each phase leaves nothing wrong, and the next one finishes its work',
  { timeout: 600_000 },
  async (name, rounds) => {
    const subject = subjects[name as keyof typeof ROUNDS](new Chance(`kill ${name}`), rounds)
    try {
      const kills = await killRounds(subject, rounds, new Chance(`moments of ${name}`))
      console.log(`kill -9 of ${name}: ${JSON.stringify(kills)}`)
      expect(Object.keys(kills).length).toBeGreaterThan(0)
    } finally {
      await subject.remove()
    }
  },
)
