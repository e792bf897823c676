import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { byCut, byKill, endEarly } from '../hub/cut-connections.ts'
import { HubWorld, pushTogether } from '../hub/hub-world.ts'

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
  const { words, expected } = await pushTogether(world, 1000)
  expect(words).toEqual(expected)
}, 900_000)
