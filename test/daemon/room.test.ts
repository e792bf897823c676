import { beforeEach, expect, test } from 'vitest'
import { deferred } from '../../src/engine/deferred.ts'
import { inMemoryBudget } from '../../src/engine/one-order.ts'
import { withMemoryBudget, type MemoryBudget } from '../../src/engine/memory-budget.ts'

let taken: number
beforeEach(() => (taken = 0))

const room: MemoryBudget = {
  make: async () => void (taken += 1),
  giveBack: () => void (taken -= 1),
}

test('room is there while the work goes on, and is given back when it is done, or failed', async () => {
  expect(await withMemoryBudget(room, async () => taken)).toBe(1)
  expect(taken).toBe(0)
  await expect(withMemoryBudget(room, () => Promise.reject(new Error(`at ${taken}`)))).rejects.toThrow('at 1')
  expect(taken).toBe(0)
})

test('an order is begun at once, and has room until its process has answered or died', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const result = deferred<number>()
    const work = { result: result.promise, stop: () => undefined }
    expect(inMemoryBudget(room, () => work)).toBe(work)
    expect(taken).toBe(1)
    if (end === 'resolve') result.resolve(7)
    else result.reject(new Error('died'))
    await Promise.allSettled([result.promise])
    await new Promise((resume) => setImmediate(resume))
    expect(taken).toBe(0)
  }
})
