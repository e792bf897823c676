import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillStore } from '../helpers/fill-store.ts'
import { HubWorld } from '../hub/hub-world.ts'
import { measureHub } from '../hub/measure-hub.ts'

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
  await world.renew()
})
afterAll(() => world.remove())

test('a million messages of twenty machines: rates and sizes are printed', async () => {
  const measured = await measureHub(world, 20, (store) =>
    fillStore(store, { chats: 500, messagesPerChat: 100, textLength: 600 }),
  )
  console.log(measured)
  expect(measured.messages).toBe(1_000_000)
}, 3_600_000)
