import { expect, test } from 'vitest'
import { LARGE, scaled } from '../../../bench/make-store.ts'
import { measureLoad } from './measure-load.ts'

test('during a first pass with hostile searches at most two run at a time, and everything is answered', async () => {
  const { odd, deadlines, searchersMax, indexingMs, lines } = await measureLoad(scaled(LARGE, 0.02))
  console.log(`load, ${Math.round(indexingMs)} ms of ingest, ${deadlines} deadlines: ${lines.join('; ')}`)
  expect(odd).toEqual([])
  // Two searches, and one other job.
  expect(searchersMax).toBeGreaterThan(1)
  expect(searchersMax).toBeLessThanOrEqual(3)
})
