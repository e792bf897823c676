import { expect, test } from 'vitest'
import { LARGE } from '../../bench/make-store.ts'
import { measureLoad } from '../system/load/measure-load.ts'

test('hostile searches while 1.5 GB are read for the first time', { timeout: 1_800_000 }, async () => {
  const { times, odd, searchersMax, indexingMs, deadlines, lines } = await measureLoad(LARGE)
  console.log(`load, ${Math.round(indexingMs / 1000)} s of ingest, ${deadlines} deadlines: ${lines.join('; ')}`)
  expect(odd).toEqual([])
  // Two searches, and one other job.
  expect(searchersMax).toBeLessThanOrEqual(3)
  for (const [path, taken] of times) expect([path, Math.max(...taken) < 30_000]).toEqual([path, true])
})
