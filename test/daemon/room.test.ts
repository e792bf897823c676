import { beforeEach, expect, test } from 'vitest'
import { deferred } from '../../src/daemon/deferred.ts'
import { inRoom } from '../../src/daemon/one-order.ts'
import { withRoom, type Room } from '../../src/daemon/room.ts'

let taken: number
beforeEach(() => (taken = 0))

const room: Room = {
  make: async () => void (taken += 1),
  giveBack: () => void (taken -= 1),
}

test('room is there while the work goes on, and is given back when it is done, or failed', async () => {
  expect(await withRoom(room, async () => taken)).toBe(1)
  expect(taken).toBe(0)
  await expect(withRoom(room, () => Promise.reject(new Error(`at ${taken}`)))).rejects.toThrow('at 1')
  expect(taken).toBe(0)
})

test('an order is begun at once, and has room until its process has answered or died', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const result = deferred<number>()
    const work = { result: result.promise, stop: () => undefined }
    expect(inRoom(room, () => work)).toBe(work)
    expect(taken).toBe(1)
    if (end === 'resolve') result.resolve(7)
    else result.reject(new Error('died'))
    await Promise.allSettled([result.promise])
    await new Promise((resume) => setImmediate(resume))
    expect(taken).toBe(0)
  }
})
