import { expect, test } from 'vitest'
import { Chance } from '../helpers/cursor.ts'
import { killRounds } from '../system/killed/kill-rounds.ts'
import { subjects } from '../system/killed/subjects.ts'

/** The store of each life grows with its rounds, so that one life of them all would take days. */
const LIVES = 5
const ROUNDS = 40

test.each(Object.entries(subjects))(
  `%s that is killed ${LIVES * ROUNDS} times in each phase leaves nothing wrong`,
  { timeout: 14_400_000 },
  async (name, makeSubject) => {
    for (let life = 1; life <= LIVES; life += 1) {
      const subject = makeSubject(new Chance(`soak ${name} ${life}`), ROUNDS)
      try {
        const kills = await killRounds(subject, ROUNDS, new Chance(`moments of ${name} ${life}`))
        console.log(`life ${life} of ${LIVES}, ${name}: ${JSON.stringify(kills)}`)
        expect(Math.min(...Object.values(kills))).toBeGreaterThan(0)
      } finally {
        await subject.remove()
      }
    }
  },
)
