import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TermsSize } from '../../src/daemon/terms-size.ts'

function sizeOf(path: string) {
  const world = { nowMs: 1e12, isResting: true, bytes: 100, asked: 0 }
  const run = async (): Promise<number> => {
    world.asked += 1
    await sleep(1)
    if (world.bytes < 0) throw new Error('the process ended')
    return world.bytes
  }
  const size = new TermsSize(path, {
    executor: { run },
    now: () => world.nowMs,
    isResting: () => world.isResting,
  })
  return { size, world }
}

test('a question gets the last size at once, and begins a measurement only if nothing else happens', async () => {
  const { size, world } = sizeOf(import.meta.filename)
  world.isResting = false
  expect([size.read(), world.asked]).toEqual([null, 0])
  world.isResting = true
  expect([size.read(), size.read(), world.asked]).toEqual([null, null, 1])
  await sleep(20)
  expect([size.read(), world.asked]).toEqual([100, 1])
})

test('an unchanged file is not measured again, and a failed measurement is repeated a minute later', async () => {
  const { size, world } = sizeOf(import.meta.filename)
  world.bytes = -1
  size.read()
  await sleep(20)
  world.bytes = 100
  expect([size.read(), world.asked]).toEqual([null, 1])
  world.nowMs += 60_000
  size.read()
  await sleep(20)
  world.nowMs += 60_000
  expect([size.read(), world.asked]).toEqual([100, 2])
})
