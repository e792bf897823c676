import { describe, expect, test } from 'vitest'
import { LARGE, scaled } from '../../../bench/make-store.ts'
import { FaultyBuild } from '../../helpers/faulty-build.ts'
import { measureLoad } from './measure-load.ts'

/** Limits for a busy machine. A request that waits for searches takes longer. */
const WAIT_MS_MAX = 3500
const SEARCH_MS_MAX = 30_000

describe('during the first pass over a large store, with hostile searches', () => {
  test('at most two searches run at a time, every search is answered, and nothing else waits for them', async () => {
    const outcome = await measureLoad(scaled(LARGE, 0.07))
    const { times, odd, deadlines, searchersMax, indexingMs } = outcome
    console.log(`load, ${Math.round(indexingMs)} ms of ingest, ${deadlines} deadlines: ${outcome.lines.join('; ')}`)
    expect(odd).toEqual([])
    expect(searchersMax).toBeLessThanOrEqual(2)
    const slow = [...times].filter(([path, taken]) => {
      const waits = path === 'search' ? SEARCH_MS_MAX : WAIT_MS_MAX
      return Math.max(...taken) > waits
    })
    expect(slow).toEqual([])
  })

  test('a search in the main thread, and a third search process, are noticed', async () => {
    // Once, and for less time than a connection is kept alive.
    const untilLate = `const end = Date.now() + ${WAIT_MS_MAX + 1000}; while (Date.now() < end) continue;`
    const busy = `if (globalThis.wasBusy !== true) { globalThis.wasBusy = true; ${untilLate} }`
    const build = new FaultyBuild(
      {
        file: 'engine/engine.ts',
        replace: 'ask: query,',
        by: `ask: (question) => { ${busy} return query(question) },`,
      },
      { file: 'engine/executor/search-pool.ts', replace: 'const PROCESSES_MAX = 2', by: 'const PROCESSES_MAX = 8' },
    )
    try {
      const { times, searchersMax } = await measureLoad(scaled(LARGE, 0.002), build.bin)
      const health = Math.max(...(times.get('/api/health') ?? []))
      console.log(`planted: health answers in up to ${Math.round(health)} ms, ${searchersMax} search at a time`)
      expect(health).toBeGreaterThan(WAIT_MS_MAX)
      // Other systems do not report child processes.
      expect(process.platform === 'linux' ? searchersMax : 3).toBeGreaterThan(2)
    } finally {
      build.remove()
    }
  })
})
