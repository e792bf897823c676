import { expect, test } from 'vitest'
import { PassScheduler, SETTLE_MS, SETTLE_MS_MAX, type Order } from '../../src/daemon/follow/pass-scheduler.ts'
import { asSourceId } from '../../src/model/ids.ts'
import { FakeClock, settle } from './fake-clock.ts'

const a = asSourceId('a')
const b = asSourceId('b')

function world() {
  const clock = new FakeClock()
  const changedAtMs = new Map([
    [a, 0],
    [b, 0],
  ])
  const runs: { readonly atMs: number; readonly orders: readonly Order[]; end(): void; fail(): void }[] = []
  const more = { left: 0 }
  const pacer = new PassScheduler<number>({
    now: clock.now,
    later: clock.later,
    hasMore: () => more.left > 0,
    source: (id) => ({ id, changedAtMs: () => changedAtMs.get(id) ?? 0 }),
    run: (orders) =>
      new Promise((resolve, reject) => {
        const number = runs.length + 1
        const end = (): void => resolve(number)
        runs.push({ atMs: clock.now(), orders, end, fail: () => reject(new Error('in vain')) })
      }),
  })
  return { clock, runs, pacer, more, change: (id = a) => changedAtMs.set(id, clock.now()) }
}

test('a pass begins when its source was quiet for 50 ms', async () => {
  const { clock, runs, pacer, change } = world()
  const startMs = clock.now()
  change()
  pacer.nudge(a, 'nudge')
  await clock.advance(30)
  change()
  pacer.nudge(a, 'nudge')
  await clock.advance(49)
  expect(runs).toEqual([])
  await clock.advance(100)
  expect(runs.map(({ atMs }) => atMs - startMs)).toEqual([30 + SETTLE_MS])
})

test('a source that is never quiet is read 500 ms after the first nudge', async () => {
  const { clock, runs, pacer, change } = world()
  const startMs = clock.now()
  for (let at = 0; at < 700 && runs.length === 0; at += 10) {
    change()
    pacer.nudge(a, 'nudge')
    await clock.advance(10)
  }
  expect(runs.map(({ atMs }) => atMs - startMs)).toEqual([SETTLE_MS_MAX])
})

test('if the clock was set back by an hour, a waiting pass began an hour later', async () => {
  const { clock, runs, pacer, change } = world()
  change()
  pacer.nudge(a, 'nudge')
  clock.setBack(3_600_000)
  await clock.advance(SETTLE_MS)
  expect(runs).toEqual([])
  await clock.advance(SETTLE_MS_MAX)
  expect(runs).toHaveLength(1)
})

test('runs never overlap: requests during a run become one run after it, at the greatest requested depth', async () => {
  const { clock, runs, pacer } = world()
  pacer.nudge(a, 'nudge')
  await clock.advance(1)
  expect(runs).toHaveLength(1)
  for (const depth of ['nudge', 'full', 'count'] as const) pacer.nudge(a, depth)
  pacer.nudge(b, 'nudge')
  await clock.advance(10_000)
  expect(runs).toHaveLength(1)
  runs[0]?.end()
  await clock.advance(1)
  expect(runs.map(({ orders }) => orders)).toEqual([
    [{ id: a, depth: 'nudge' }],
    [
      { id: a, depth: 'full' },
      { id: b, depth: 'nudge' },
    ],
  ])
})

test('a source that is still being written does not delay a quiet one', async () => {
  const { clock, runs, pacer, change } = world()
  change(a)
  pacer.nudge(a, 'nudge')
  pacer.nudge(b, 'nudge')
  await settle()
  expect(runs.map(({ orders }) => orders.map(({ id }) => id))).toEqual([[b]])
  runs[0]?.end()
  await clock.advance(SETTLE_MS)
  expect(runs.map(({ orders }) => orders.map(({ id }) => id))).toEqual([[b], [a]])
})

test('an urgent request does not wait for quiet, and gets the outcome of its run', async () => {
  const { clock, runs, pacer, change } = world()
  pacer.nudge(a, 'nudge')
  await clock.advance(1)
  change()
  const asked = pacer.runNow([a, b], 'reconcile')
  runs[0]?.end()
  await settle()
  expect(runs[1]?.orders).toEqual([
    { id: a, depth: 'reconcile' },
    { id: b, depth: 'reconcile' },
  ])
  runs[1]?.end()
  expect(await asked).toBe(2)
})

test('a failed run rejects its requests, and the next run starts', async () => {
  const { runs, pacer } = world()
  const asked = pacer.runNow([a], 'nudge')
  const next = pacer.runNow([b], 'nudge')
  runs[0]?.fail()
  await expect(asked).rejects.toThrow('in vain')
  await settle()
  runs[1]?.end()
  expect(await next).toBe(2)
})

test('no run starts after a stop', async () => {
  const { clock, runs, pacer } = world()
  pacer.nudge(a, 'nudge')
  await settle()
  pacer.nudge(b, 'nudge')
  pacer.stop()
  runs[0]?.end()
  await clock.advance(10_000)
  expect(runs).toHaveLength(1)
})

test('a backlog is processed in runs without orders, and a new message is read between them', async () => {
  const { clock, runs, pacer, more, change } = world()
  more.left = 3
  pacer.wake()
  expect(runs.map(({ orders }) => orders)).toEqual([[]])
  change()
  pacer.nudge(a, 'nudge')
  await clock.advance(SETTLE_MS)
  more.left = 2
  runs[0]?.end()
  await clock.advance(0)
  expect(runs[1]?.orders).toEqual([{ id: a, depth: 'nudge' }])
  runs[1]?.end()
  await clock.advance(0)
  expect(runs[2]?.orders).toEqual([])
  more.left = 0
  runs[2]?.end()
  await clock.advance(1000)
  expect(runs.length).toBe(3)
})
