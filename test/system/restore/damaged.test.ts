import { afterAll, beforeAll, expect, test } from 'vitest'
import { harms } from '../../helpers/harms.ts'
import { DamagedRounds } from './damaged-rounds.ts'

const TIMES = 4

let rounds: DamagedRounds
beforeAll(async () => {
  rounds = await DamagedRounds.begin()
})
afterAll(() => rounds.remove())

test.each(harms.map(([kind]) => kind))(
  '%s: everything undamaged is restored, nothing else, and the archive folder is not written',
  async (kind) => {
    expect(await rounds.restore(kind, TIMES, 0)).toEqual([])
  },
)
