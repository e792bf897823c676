import { afterAll, beforeAll, expect, test } from 'vitest'
import { Workplace } from '../../../helpers/spawn-cursordex.ts'
import { overtake } from './overtake.ts'
import { serveSlowStore, slowQuery } from './slow-store.ts'

const place = new Workplace()
let url: string
beforeAll(async () => {
  url = await serveSlowStore(place, 4000, 50)
}, 300_000)
afterAll(() => place.remove())

test('long searches do not delay small requests', async () => {
  const { searches, cutShort, light, keptWaiting, p99Ms, faults } = await overtake(url, slowQuery, 50)
  console.log(
    `beside ${searches} slow searches, ${cutShort} cut short: ${light} answers, ${keptWaiting} kept waiting, p99 ${p99Ms} ms`,
  )
  expect(faults).toEqual([])
  expect(searches).toBeGreaterThan(5)
  // If they waited in the queue of searches, all of them would. On a busy machine some are slow by themselves.
  expect(keptWaiting).toBeLessThan(light / 2)
})
