import { expect, test } from 'vitest'
import { LARGE, scaled } from '../../../bench/make-store.ts'
import { measureLoad } from './measure-load.ts'

test('during a first pass with hostile searches at most two run at a time, everything is answered, and what is small is not delayed', async () => {
  const { odd, deadlines, searchersMax, slowestMedianMs, indexingMs, lines } = await measureLoad(scaled(LARGE, 0.02))
  console.log(`load, ${Math.round(indexingMs)} ms of ingest, ${deadlines} deadlines: ${lines.join('; ')}`)
  expect(odd).toEqual([])
  // If they waited in the queue of searches, it would be seconds.
  expect(slowestMedianMs).toBeLessThan(1000)
  // Two searches, and one other job.
  expect(searchersMax).toBeGreaterThan(1)
  expect(searchersMax).toBeLessThanOrEqual(3)
})
