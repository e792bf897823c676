import { mirrorPath } from '../src/daemon/data-folder.ts'
import { openReader, type Mirror } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { drawQuestions, type Question } from './search-questions.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const EACH = 40

const NEWEST = `select rowid from message_terms where message_terms match ? order by rowid desc limit 20`
const BEST = `select rowid from message_terms where message_terms match ? order by rank limit 20`
const sorts = [
  { sort: 'newest', raw: NEWEST },
  { sort: 'relevance', raw: BEST },
] as const

/** How long a search takes over HTTP, against the bare statement on the same mirror. */
export async function searchLatency(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  const path = mirrorPath(daemon.dataDir)
  const mirror = openReader(path)
  try {
    const health = await timeEach(Array.from({ length: EACH }), () => daemon.get('/api/health'))
    const rows = [['an HTTP call that does nothing', '', ...pair(health), '', '', '']]
    for (const { name, asked } of drawQuestions(path, EACH)) {
      for (const { sort, raw } of sorts) rows.push([name, sort, ...(await compare(daemon, mirror, asked, sort, raw))])
    }
    const head = ['search', 'sort', 'HTTP p50 ms', 'p95', 'bare FTS5 p50 ms', 'p95', 'p50 x floor']
    shop.say(table(head, rows))
  } finally {
    mirror.close()
  }
}

/** Taken in turns, so that both find the machine in the same mood. */
async function compare(
  daemon: BenchDaemon,
  mirror: Mirror,
  asked: readonly Question[],
  sort: string,
  raw: string,
): Promise<string[]> {
  const statement = mirror.prepare<[string]>(raw)
  const bare: number[] = []
  const http: number[] = []
  for (const question of asked) {
    bare.push(...(await timeEach([question], ({ match }) => statement.all(match))))
    const path = `/api/search?sort=${sort}&q=${encodeURIComponent(question.q)}`
    http.push(...(await timeEach([path], (target) => daemon.get(target))))
  }
  return [...pair(http), ...pair(bare), short(median(http) / median(bare))]
}

const pair = (times: readonly number[]): string[] => [short(median(times)), short(percentile(times, 95))]

/** Each is done twice, and the second time counts: the first brings pages and processes into memory. */
async function timeEach<Item>(items: readonly Item[], act: (item: Item) => unknown): Promise<number[]> {
  const times: number[] = []
  for (const item of items) {
    await act(item)
    const startedAtMs = performance.now()
    await act(item)
    times.push(performance.now() - startedAtMs)
  }
  return times
}
