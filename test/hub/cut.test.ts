import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { byCut, byKill, endEarly } from './cut-connections.ts'
import { HubWorld } from './hub-world.ts'

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(() => world.renew())

const PLACES = 10

test.each([
  ['cut connections', byCut, 'hub-unreachable'],
  ['killed programs', byKill, 'killed'],
])(
  '%s, at ten places of a push and of a pull: equal in the end, nothing twice, nothing missed',
  async (_, attempt, end) => {
    const { ends, rows, words, expected, moved } = await endEarly(world, PLACES, attempt)
    expect(Object.keys(ends).sort()).toEqual([`pull ${end}`, `push ${end}`])
    expect(Math.min(...Object.values(ends))).toBeGreaterThan(PLACES / 2)
    expect(rows).toBe(450)
    expect(words).toEqual(expected)
    expect(moved).toEqual([0, 0])
  },
)
