import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import { costOf } from './read-and-parse.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const EACH = 20

/** The floor of any answer from the messages themselves: reads each message once, without dates. */
const FLOOR = `select role, count(*), sum(tool_calls), max(created_at) from messages where is_orphan = 0 group by role`

const questions = [
  ['by day', '/api/stats?tz=Europe/Berlin'],
  ['by week', '/api/stats?tz=Europe/Berlin&bucket=week'],
  ['by month', '/api/stats?tz=Europe/Berlin&bucket=month'],
  ['a month of it', '/api/stats?tz=Europe/Berlin&from=2025-03&to=2025-04'],
  ['in a zone of half hours', '/api/stats?tz=Australia/Lord_Howe'],
] as const

/** How long statistics of everything take over HTTP, compared with one bare statement over the same messages. */
export async function statsLatency(shop: Workshop): Promise<void> {
  const { daemon } = await shop.startKept()
  const mirror = openReader(mirrorPath(daemon.dataDir))
  try {
    const statement = mirror.prepare(FLOOR)
    const rows: string[][] = []
    for (const [name, path] of questions) {
      await daemon.get(path)
      statement.all()
      const http: number[] = []
      const floor: number[] = []
      // Alternates between both, so that they run under the same conditions.
      for (let turn = 0; turn < EACH; turn += 1) {
        http.push(await timeOf(() => daemon.get(path)))
        floor.push(costOf(() => statement.all()).wallMs)
      }
      const ratio = short(median(http) / median(floor))
      rows.push([
        name,
        short(Math.min(...http)),
        short(median(http)),
        short(percentile(http, 95)),
        short(median(floor)),
        ratio,
      ])
    }
    shop.say(table(['statistics', 'HTTP least ms', 'p50', 'p95', 'bare count p50 ms', 'p50 x floor'], rows))
  } finally {
    mirror.close()
  }
}

async function timeOf(act: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now()
  await act()
  return performance.now() - startedAtMs
}
