import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import type { BenchDaemon } from './daemon.ts'
import { compareEstimates } from './estimates-and-records.ts'
import { canLook, familyOf } from './processes.ts'
import { drawQuestions } from './search-questions.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'
import type { TokensAnswer } from '../src/api/http/schemas/tokens.ts'

/** The pause between two searches of a fast typist. */
const PAUSE_MS = 100
const IDLE_SEARCHES = 200
/** On a busy machine a process with the lowest priority gets almost no time. */
const WATCHED_MS_MAX = 900_000

/** How long a search takes while tokens are estimated in the background, compared with a search at rest. */
export async function tokenEstimates(shop: Workshop): Promise<void> {
  const daemon = await shop.startFresh()
  await daemon.untilReady()
  const asked = drawQuestions(mirrorPath(daemon.dataDir), 20).flatMap(({ asked: questions }) => questions)
  let next = 0
  const search = async (): Promise<number> => {
    const { q } = asked[(next += 1) % asked.length] ?? { q: 'word' }
    const startedAtMs = performance.now()
    await daemon.get(`/api/search?q=${encodeURIComponent(q)}`)
    return performance.now() - startedAtMs
  }
  for (let warm = 0; warm < asked.length; warm += 1) await search()
  await untilState(daemon, ['working', 'paused'])
  const startedAtMs = performance.now()
  const beside: number[] = []
  for (let turn = 0; (await daemon.status()).estimation.state !== 'done'; turn += 1) {
    beside.push(await search())
    if (turn % 50 === 0) await lookAtPriority(shop, daemon, turn)
    if (performance.now() - startedAtMs > WATCHED_MS_MAX) break
    await sleep(PAUSE_MS)
  }
  const tookS = (performance.now() - startedAtMs) / 1000
  // Measured last, because the first pass warms caches.
  const idle: number[] = []
  for (let turn = 0; turn < IDLE_SEARCHES; turn += 1) {
    idle.push(await search())
    await sleep(PAUSE_MS)
  }
  const { coverage } = await daemon.get<TokensAnswer>('/api/tokens?groupBy=month')
  const { textBytes } = (await daemon.status()).resources
  const line = (when: string, times: readonly number[]): string[] => [
    when,
    String(times.length),
    short(median(times)),
    short(percentile(times, 95)),
  ]
  shop.say(
    table(['search', 'asked', 'p50 ms', 'p95 ms'], [line('at rest', idle), line('beside the estimation', beside)]),
  )
  const ratio = percentile(beside, 95) / percentile(idle, 95)
  shop.say(
    `${short(textBytes / 1e6)} MB of text, ${coverage.estimated} of ${coverage.messages} messages estimated in ${short(tookS)} s; p95 meanwhile ${short(ratio)} x that at rest (goal: 1.5)`,
  )
  await reportLatency(shop, daemon)
  compareEstimates(shop)
}

async function untilState(daemon: BenchDaemon, states: readonly string[]): Promise<void> {
  while (!states.includes((await daemon.status()).estimation.state)) await sleep(50)
}

/** Prints the number of the daemon's processes from time to time, because the estimator comes and goes. */
async function lookAtPriority(shop: Workshop, daemon: BenchDaemon, turn: number): Promise<void> {
  const { estimation } = await daemon.status()
  const processes = canLook ? `${familyOf(daemon.pid).length} processes` : ''
  shop.say(`search ${turn}: ${estimation.state}, ${estimation.left ?? '?'} messages left ${processes}`)
}

async function reportLatency(shop: Workshop, daemon: BenchDaemon): Promise<void> {
  const rows: string[][] = []
  for (const groupBy of ['day', 'month', 'project', 'model', 'chat']) {
    const times: number[] = []
    for (let turn = 0; turn < 5; turn += 1) {
      const startedAtMs = performance.now()
      await daemon.get(`/api/tokens?groupBy=${groupBy}`)
      times.push(performance.now() - startedAtMs)
    }
    rows.push([groupBy, short(Math.min(...times)), short(median(times))])
  }
  shop.say(table(['tokens by', 'least ms', 'p50 ms'], rows))
}
