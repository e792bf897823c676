import { afterAll, beforeAll, beforeEach, test } from 'vitest'
import { cutConnections } from './cut-connections.ts'
import { HubWorld } from './hub-world.ts'

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(() => world.renew())

test('a connection that is cut at ten places of a push and of a pull: equal in the end, nothing twice, nothing missed', () =>
  cutConnections(world, 10))
