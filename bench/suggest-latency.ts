import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import type { BenchDaemon } from './daemon.ts'
import { canLook, cpuMs, familyOf, residentBytes } from './processes.ts'
import { megabytes, median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const EACH = 60

/** Parts of a word, as they are typed. */
const stages: readonly (readonly [name: string, typed: (word: string, other: string) => string])[] = [
  ['one letter', (word) => word.slice(0, 1)],
  ['two letters', (word) => word.slice(0, 2)],
  ['three letters', (word) => word.slice(0, 3)],
  ['five letters', (word) => word.slice(0, 5)],
  ['a whole word', (word) => word],
  ['two letters swapped', (word) => word.slice(0, 2) + word.charAt(3) + word.charAt(2) + word.slice(4)],
  ['a word and three letters', (word, other) => `${other} ${word.slice(0, 3)}`],
]

/** How long a suggestion takes over HTTP, when the words are collected, and what collecting them costs. */
export async function suggestLatency(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  const words = drawWords(mirrorPath(daemon.dataDir))
  const health = await timeEach(daemon, words, () => '/api/health')
  const startedAtMs = performance.now()
  const first = await timeOne(daemon, pathFor(words[0] ?? ''))
  const before = searchBytes(daemon)
  while (!(await daemon.get<{ isComplete: boolean }>(pathFor('a'))).isComplete) continue
  const gatheredMs = performance.now() - startedAtMs
  const row = (name: string, times: readonly number[], spentMs: number): string[] => [
    name,
    short(median(times)),
    short(percentile(times, 95)),
    canLook ? short(spentMs / (2 * times.length)) : '',
  ]
  const all: number[] = []
  const startMs = spent(daemon)
  const rows = [['an HTTP call that does nothing', short(median(health)), short(percentile(health, 95)), '']]
  for (const [name, typed] of stages) {
    const beforeMs = spent(daemon)
    const times = await timeEach(daemon, words, (word, other) => pathFor(typed(word, other)))
    all.push(...times)
    rows.push(row(name, times, spent(daemon) - beforeMs))
  }
  rows.push(row('all of them', all, spent(daemon) - startMs))
  shop.say(table(['suggestions', 'HTTP p50 ms', 'p95', 'CPU ms each, all processes'], rows))
  const grown = megabytes(Math.max(0, searchBytes(daemon) - before))
  shop.say(`the first took ${short(first)} ms; words were collected after ${short(gatheredMs)} ms, with ${grown} MB`)
}

const pathFor = (q: string): string => `/api/suggest?q=${encodeURIComponent(q)}`

/** The daemon's search processes. */
const searchBytes = (daemon: BenchDaemon): number =>
  familyOf(daemon.pid)
    .filter((pid) => pid !== daemon.pid)
    .reduce((sum, pid) => sum + residentBytes(pid), 0)

const spent = (daemon: BenchDaemon): number => familyOf(daemon.pid).reduce((sum, pid) => sum + cpuMs(pid), 0)

const LONG_TERMS = `select term from terms where length(term) > 4 and term glob '[a-z]*' order by term`

/** Evenly distributed over the alphabet. The same mirror gives the same words. */
function drawWords(path: string): readonly string[] {
  const mirror = openReader(path)
  const terms = mirror.prepare<[], string>(LONG_TERMS).pluck().all()
  mirror.close()
  const step = Math.max(1, Math.floor(terms.length / EACH))
  return terms.filter((_, index) => index % step === 0).slice(0, EACH)
}

/** Each runs twice, and the second run counts. The first brings pages into memory. */
async function timeEach(
  daemon: BenchDaemon,
  words: readonly string[],
  path: (word: string, other: string) => string,
): Promise<number[]> {
  const times: number[] = []
  for (const [index, word] of words.entries()) {
    const asked = path(word, words[(index * 7 + 3) % words.length] ?? '')
    await daemon.get(asked)
    times.push(await timeOne(daemon, asked))
  }
  return times
}

async function timeOne(daemon: BenchDaemon, path: string): Promise<number> {
  const startedAtMs = performance.now()
  await daemon.get(path)
  return performance.now() - startedAtMs
}
