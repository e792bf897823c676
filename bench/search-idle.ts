import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import type { BenchDaemon } from './daemon.ts'
import { familyBytes } from './processes.ts'
import { drawQuestions } from './search-questions.ts'
import { median, megabytes, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

/** Search processes are replaced, or end, after a minute without work. */
const IDLE_S = 63
/** Searches before each rest, two at a time. */
const SEARCHES = 40

interface Rest {
  readonly firstMs: number
  readonly bytes: number
}

/** The first answer after a minute without work, and the memory of all processes before it. */
export async function searchIdle(shop: Workshop): Promise<void> {
  const { own, other } = await shop.startRivals()
  const asked = drawQuestions(mirrorPath(own.dataDir), SEARCHES / 2).flatMap(({ asked: questions }) => questions)
  const paths = asked.map(({ q }) => `/api/search?q=${encodeURIComponent(q)}`)
  const rivals = [
    ['this', own, new Array<Rest>()] as const,
    ...(other === null ? [] : [['other', other, new Array<Rest>()] as const]),
  ]
  for (let run = 0; run < shop.runs; run += 1) {
    for (const [, daemon] of rivals) await askInPairs(daemon, paths.slice(0, SEARCHES))
    await sleep(IDLE_S * 1000)
    for (const [, daemon, rests] of rivals) {
      const bytes = familyBytes(daemon.pid)
      const startedAtMs = performance.now()
      await daemon.get(paths[run] ?? '')
      rests.push({ firstMs: performance.now() - startedAtMs, bytes })
    }
  }
  const rows = rivals.map(([name, , rests]) => [
    name,
    short(median(rests.map(({ firstMs }) => firstMs))),
    rests.map(({ firstMs }) => short(firstMs)).join(', '),
    megabytes(median(rests.map(({ bytes }) => bytes))),
  ])
  shop.say(table([`after ${IDLE_S} s without work`, 'first answer ms', 'runs', 'all processes at rest MB'], rows))
}

async function askInPairs(daemon: BenchDaemon, paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += 2)
    await Promise.all(paths.slice(at, at + 2).map((path) => daemon.get(path)))
}
