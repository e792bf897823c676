import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { byCut, byKill, endEarly } from '../hub/cut-connections.ts'
import { HubWorld, say } from '../hub/hub-world.ts'

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(() => world.renew())

test.each([
  ['cut connections', byCut],
  ['killed programs', byKill],
])(
  '%s, at fifty places of a push and of a pull: equal in the end, nothing twice, nothing missed',
  async (_, attempt) => {
    const { rows, words, expected, moved } = await endEarly(world, 50, attempt)
    expect(rows).toBe(450)
    expect(words).toEqual(expected)
    expect(moved).toEqual([0, 0])
  },
)

test('two machines of one role push while a third one pulls, a thousand rounds', async () => {
  const [ada, bob, eve] = [world.machine('ada'), world.machine('bob'), world.machine('eve')]
  await eve.sync()
  for (let round = 0; round < 1000; round += 1) {
    if (round % 10 === 0) {
      await say(ada, `a-${round % 50}`, [`round ${round} of ada`])
      await say(bob, `b-${round % 50}`, [`round ${round} of bob`])
    }
    await Promise.all([ada.push(), bob.push(), eve.pull()])
  }
  await eve.pull()
  expect(eve.words()).toEqual([...ada.words(), ...bob.words()].sort())
}, 900_000)
