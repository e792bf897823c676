import { expect, test } from 'vitest'
import type { PassStep } from '../../src/indexer/source.ts'
import { Metrics } from '../../src/daemon/follow/metrics.ts'
import { startCpuClock } from '../helpers/cpu-time.ts'
import { FakeClock } from './fake-clock.ts'

const nothing: PassStep = { done: 0, total: 0, bytesRead: 0, longestReadMs: 0, backlog: null, outcome: null }

const step = (news: Partial<PassStep>): PassStep => ({ ...nothing, ...news })

test('progress has the speed and the time left at that speed', async () => {
  const clock = new FakeClock()
  const vitals = new Metrics(clock.now)
  vitals.beginRun()
  vitals.noteStep(step({ done: 0, total: 300, bytesRead: 500 }))
  expect(vitals.progress).toEqual({ stage: 'reading', done: 0, total: 300, bytesPerSecond: null, etaMs: null })
  await clock.advance(2000)
  vitals.noteStep(step({ done: 100, total: 300, bytesRead: 1500 }))
  expect(vitals.progress).toEqual({ stage: 'reading', done: 100, total: 300, bytesPerSecond: 1000, etaMs: 4000 })
})

test('indexing is a separate stage, over as many runs as it takes', () => {
  const vitals = new Metrics(new FakeClock().now)
  vitals.beginRun()
  vitals.noteStep(step({ done: 300, total: 300 }))
  vitals.noteBacklog(200)
  vitals.noteBacklog(150)
  vitals.beginRun()
  vitals.noteStep(step({ done: 3, total: 3 }))
  vitals.noteBacklog(120)
  expect(vitals.progress).toMatchObject({ stage: 'indexing', done: 80, total: 200 })
  vitals.endJob()
  expect(vitals.progress).toBeNull()
})

test('reading a second profile while the first was indexed looked like the end of indexing', () => {
  const vitals = new Metrics(new FakeClock().now)
  vitals.beginRun()
  vitals.noteStep(step({ done: 300, total: 300 }))
  vitals.noteBacklog(290)
  vitals.beginRun()
  vitals.noteStep(step({ done: 20, total: 280 }))
  expect(vitals.progress).toMatchObject({ stage: 'reading', done: 20, total: 280 })
  vitals.noteStep(step({ done: 280, total: 280 }))
  vitals.noteBacklog(500)
  expect(vitals.progress).toMatchObject({ stage: 'indexing', done: 0, total: 500 })
})

test('each store that is read is a job of its own, and a few new rows are none', () => {
  const vitals = new Metrics(new FakeClock().now)
  vitals.beginRun()
  for (const [done, total] of [
    [300, 400],
    [400, 400],
    [0, 250],
    [100, 250],
    [1, 3],
  ] as const) {
    vitals.noteStep(step({ done, total }))
  }
  expect(vitals.progress).toMatchObject({ stage: 'reading', done: 100, total: 250 })
})

test('the CPU share is the time used since it was last asked', async () => {
  const clock = new FakeClock()
  const vitals = new Metrics(clock.now)
  expect(vitals.resources([]).cpuPercent).toBe(0)
  const cpuMs = startCpuClock()
  while (cpuMs() < 60) Math.sqrt(2)
  await clock.advance(1000)
  expect(vitals.resources([]).cpuPercent).toBeGreaterThan(1)
  await clock.advance(1_000_000)
  expect(vitals.resources([]).cpuPercent).toBeLessThan(1)
})

test.runIf(process.platform === 'linux')(
  'the memory of running children is added, and ended children add nothing',
  () => {
    const vitals = new Metrics(new FakeClock().now)
    const alone = vitals.resources([]).rssBytes
    // This process, counted as a child too, doubles the sum.
    expect(vitals.resources([process.pid]).rssBytes).toBeGreaterThan(alone * 1.5)
    expect(vitals.resources([2 ** 22 + 1]).rssBytes).toBeLessThan(alone * 1.5)
  },
)
