import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

// What a reader leaves out of what others push.
let world: HubWorld
let ada: Machine
let bob: Machine
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(async () => {
  await world.renew()
  ada = world.machine('ada', 'admin', { redact: true })
  bob = world.machine('bob')
  await bob.sync()
})

const chatsAt = ({ mirror }: Machine): string[] =>
  mirror.prepare<[], string>('select id from chats order by id').pluck().all()

async function roundTrip(): Promise<void> {
  await ada.push()
  await bob.pull()
}

test('a project that the reader excludes stays out, and comes when it is excluded no longer', async () => {
  await say(ada, 'diary', ['dear diary'], { project: '/home/ada/diary' })
  await say(ada, 'shop', ['sell things'], { project: '/home/ada/shop' })
  bob.exclude(['diary'])
  await roundTrip()
  expect(chatsAt(bob)).toEqual(['shop'])
  expect(JSON.stringify(bob.mirror.prepare('select * from projects').all())).not.toContain('diary')
  await say(ada, 'diary', ['dear diary', 'go on'], { project: '/home/ada/diary' })
  await roundTrip()
  expect(chatsAt(bob)).toEqual(['shop'])
  bob.exclude([])
  await bob.sync()
  expect(await bob.pull()).toMatchObject({ pulled: 1 })
  expect(bob.words()).toEqual(ada.words())
})

test('a copy of a project that is excluded later gets nothing new, and goes with its next change', async () => {
  await say(ada, 'diary', ['dear diary'], { project: '/home/ada/diary' })
  await roundTrip()
  bob.exclude(['diary'])
  expect(await bob.pull()).toMatchObject({ pulled: 0 })
  expect(chatsAt(bob)).toEqual(['diary'])
  await say(ada, 'diary', ['dear diary', 'go on'], { project: '/home/ada/diary' })
  await roundTrip()
  expect(chatsAt(bob)).toEqual([])
})
