import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Workplace } from '../../../helpers/spawn-cursordex.ts'
import { overtake } from './overtake.ts'
import { serveSlowStore, slowQuery } from './slow-store.ts'

const place = new Workplace()
let url: string
beforeAll(async () => {
  url = await serveSlowStore(place, 8000, 50)
}, 300_000)
afterAll(() => place.remove())

test('long searches do not delay small requests', async () => {
  const { searches, cutShort, light, keptWaiting, p99Ms, faults } = await overtake(url, slowQuery, 50)
  console.log(
    `beside ${searches} slow searches, ${cutShort} cut short: ${light} answers, ${keptWaiting} kept waiting, p99 ${p99Ms} ms`,
  )
  expect(faults).toEqual([])
  expect(searches).toBeGreaterThan(5)
  expect(keptWaiting).toBeLessThan(light / 20)
})

test('a server that does one thing after the other is noticed', async () => {
  let line = Promise.resolve()
  const server = createServer((request, response) => {
    const isSearch = request.url?.startsWith('/api/search') === true
    line = line.then(() => new Promise((resolve) => setTimeout(resolve, isSearch ? 30 : 0)))
    void line.then(() => response.end('{}'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { light, keptWaiting } = await overtake(`http://127.0.0.1:${port}`, slowQuery, 10)
  server.close()
  expect(keptWaiting).toBeGreaterThan(light / 2)
})
