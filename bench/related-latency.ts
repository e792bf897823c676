import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { drawSentences, type Question } from './search-questions.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** Questions of each kind in one run. */
const EACH = 20
/** Goal for the 95th percentile, in milliseconds over HTTP, by the size of the store. */
const goalMs = (messages: number): number => (messages >= 250_000 ? 80 : 25)

const RAW = `select rowid from message_terms where message_terms match @match order by rank limit 20`

/**
 * How long a search with closest chats takes, if no message matches all words. Compared with the plain FTS5 statement for
 * any of the words, and with the same search sorted by time, which has no closest chats.
 */
export async function relatedLatency(shop: Workshop): Promise<void> {
  const { daemon, store } = await shop.startKept()
  const path = mirrorPath(daemon.dataDir)
  const mirror = openReader(path)
  try {
    const raw = mirror.prepare<[object]>(RAW)
    const rows: string[][] = []
    for (const { name, asked } of drawSentences(path, EACH * shop.runs)) {
      const times = await timeEach(daemon, asked, (match) => raw.all({ match }))
      const [related, strict, floor] = [times.related, times.strict, times.floor].map(pair)
      rows.push([name, short(times.found), ...(related ?? []), ...(strict ?? []), ...(floor ?? [])])
    }
    const head = ['question', 'closest chats', 'HTTP p50 ms', 'p95', 'by time p50', 'p95', 'FTS5 any word p50', 'p95']
    shop.say(table(head, rows))
    shop.say(`goal: p95 at most ${goalMs(store.shape.messages)} ms`)
  } finally {
    mirror.close()
  }
}

interface Times {
  readonly related: readonly number[]
  readonly strict: readonly number[]
  readonly floor: readonly number[]
  /** How many closest chats were shown, on average. */
  readonly found: number
}

async function timeEach(
  daemon: BenchDaemon,
  asked: readonly Question[],
  askRaw: (match: string) => unknown,
): Promise<Times> {
  const times = { related: new Array<number>(), strict: new Array<number>(), floor: new Array<number>() }
  let found = 0
  const timed = async (into: number[], act: () => unknown): Promise<unknown> => {
    // The first run brings pages into memory.
    await act()
    const startedAtMs = performance.now()
    const answer = await act()
    into.push(performance.now() - startedAtMs)
    return answer
  }
  for (const { q, match } of asked) {
    const path = `/api/search?q=${encodeURIComponent(q)}`
    await timed(times.floor, () => askRaw(match))
    await timed(times.strict, () => daemon.get(`${path}&sort=newest`))
    const answer = (await timed(times.related, () => daemon.get(path))) as { readonly related?: readonly unknown[] }
    found += answer.related?.length ?? 0
  }
  return { ...times, found: found / Math.max(1, asked.length) }
}

const pair = (times: readonly number[]): string[] => [short(median(times)), short(percentile(times, 95))]
