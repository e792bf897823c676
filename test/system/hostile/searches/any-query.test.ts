import { afterAll, beforeAll, expect, test } from 'vitest'
import { World } from '../../../helpers/world.ts'
import { askSearches, writeTalk } from './ask-searches.ts'

const SEARCHES = 1_000

let world: World
beforeAll(async () => {
  world = await World.open()
  writeTalk(world.home.global())
  await world.sync()
})
afterAll(() => world.remove())

test('a thousand hostile searches are answered, whatever they ask', async () => {
  const { faults, ...figures } = await askSearches((path) => world.request(path), 'hostile', SEARCHES)
  console.log(`hostile searches: ${JSON.stringify(figures)}, ${faults.length} faults`)
  expect(faults.slice(0, 10)).toEqual([])
  expect(figures).toMatchObject({ searches: SEARCHES, tooLong: 0, overDeadline: 0 })
  expect(figures.withHits).toBeGreaterThan(SEARCHES / 50)
})
