import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CursorHome } from '../../helpers/cursor.ts'
import { kinds, reshape, shapes } from '../../helpers/hostile-schemas.ts'
import { getJson, STOP_MS_MAX, untilState, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

const MEMORY_MB_MAX = 500
const HUGE_OCTETS = 300_000_000

test('stores in all hostile shapes at once do not stop the daemon, cost it no memory, and hide no other store', async () => {
  const place = new Workplace()
  const homes = shapes.map(() => new CursorHome())
  try {
    for (const [at, shape] of shapes.entries()) {
      const home = homes[at] ?? place.cursor
      const written = kinds.map((kind) => ({ path: kind.write(home), tables: kind.tables }))
      home.close()
      for (const { path, tables } of written) reshape(path, tables, shape)
    }
    const store = place.cursor.global()
    store.message('b', 'm1', { type: 1, text: 'walnut' })
    store.put('bubbleId:b:huge', Buffer.alloc(HUGE_OCTETS))
    const places = homes.flatMap(({ root, userDir }) => [
      '--cursor-user-dir',
      userDir,
      '--cursor-home',
      join(root, '.cursor'),
    ])
    const { daemon, url } = await place.serve(places)
    const isFound = async (word: string): Promise<boolean> =>
      (await getJson<{ total: number }>(url, `/api/search?q=${word}`)).total === 1
    await waitUntil('the first message', () => isFound('walnut'))
    await untilState(url, 'degraded')
    store.message('b', 'm2', { type: 1, text: 'cherry' })
    await waitUntil('a later message', () => isFound('cherry'))
    const peakMb = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1000
    console.log(`hostile schemas: ${peakMb} MB at most`)
    expect(peakMb).toBeLessThan(MEMORY_MB_MAX)
    const { exitCode, tookMs } = await daemon.stop()
    expect([exitCode, tookMs < STOP_MS_MAX]).toEqual([0, true])
    expect(daemon.stderr).not.toMatch(/ended|bug/i)
  } finally {
    await place.remove()
    for (const home of homes) home.remove()
  }
})
