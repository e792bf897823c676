import { expect } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { CutProxy } from './cut-proxy.ts'
import { HubWorld, write } from './hub-world.ts'

/** Chats of one sharing, in several batches. */
const CHATS = 450

/** Cuts the connection of a push and of a pull at as many places, and compares all in the end. */
export async function cutConnections(world: HubWorld, places: number): Promise<void> {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  for (let at = 0; at < CHATS; at += 1) write(ada, `c${at}`, [`words of ${at}`])
  await ada.sync()
  await bob.sync()
  const proxy = await CutProxy.start(world.server.port)
  try {
    const url = proxy.url('hub')
    for (const act of ['push', 'pull'] as const) {
      const machine = act === 'push' ? ada : bob
      let cuts = 0
      for (let place = 1; place <= places; place += 1) {
        // The first places are in the beginning, the others further and further on.
        proxy.at = proxy.pieces + 1 + Math.floor(place ** 1.6)
        const failed = await machine
          .sharing(undefined, { url })
          [act]()
          .then(() => null)
          .catch((error: unknown) => error)
        if (failed === null) {
          await forget(world, bob, act)
          continue
        }
        cuts += 1
        expect(failed).toBeInstanceOf(UserError)
        expect(failed).toMatchObject({ code: 'hub-unreachable' })
      }
      expect(cuts).toBeGreaterThan(places / 3)
      proxy.at = Infinity
      await machine.sharing(undefined, { url })[act]()
    }
    expect(await world.count()).toBe(CHATS)
    expect(bob.words()).toEqual(ada.words())
    expect(await ada.push()).toMatchObject({ pushed: 0, unchanged: CHATS })
    expect(await bob.pull()).toMatchObject({ pulled: 0, removed: 0, unchanged: CHATS })
  } finally {
    await proxy.stop()
  }
}

/** Makes work for the next attempt. */
async function forget(world: HubWorld, bob: ReturnType<HubWorld['machine']>, act: 'push' | 'pull'): Promise<void> {
  if (act === 'push') await world.server.sql('delete from cursordex.chats', world.url)
  else await bob.forgetPulled()
}
