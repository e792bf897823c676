import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import { openReader } from '../src/mirror/open.ts'
import { untilFound } from './commit-to-hit.ts'
import type { BenchDaemon } from './daemon.ts'
import { liveWord, preciseNow } from './live-writer.ts'
import { measureText } from './mirror-size.ts'
import { familyBytes } from './processes.ts'
import { bringIntoMemory } from './read-and-parse.ts'
import { median, megabytes, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const REPORTS = ['/api/tokens', '/api/tokens?groupBy=model', '/api/tokens?groupBy=chat', '/api/stats', '/api/projects']
const REPORT_ROUNDS = 20
const POLL_MS = 50

/** One line of the table: what was measured, and its value. */
type Figures = Map<string, string>

/**
 * What a person notices of a large store: the first run, a restart after a clean stop, and reports, while the status is
 * asked all the time. With `--against`, another program is measured on the same store.
 */
export async function largeStore(shop: Workshop): Promise<void> {
  const other = shop.otherBin === null ? null : await measure(shop, shop.otherBin)
  const own = await measure(shop)
  const rows = [...own].map(([what, value]) => [what, value, other?.get(what) ?? ''])
  shop.say(table([`${shop.store().shape.messages} messages`, 'this', 'other'], rows))
}

async function measure(shop: Workshop, bin?: string): Promise<Figures> {
  const store = shop.store()
  const figures: Figures = new Map()
  bringIntoMemory(store.path)
  const first = await shop.startFresh(store, bin)
  const { dataDir } = first
  const watch = watchStatus(first, figures, 'first run')
  let [peak, largest] = [0, 0]
  const timer = setInterval(() => {
    peak = Math.max(peak, familyBytes(first.pid))
    largest = Math.max(largest, sizeOf(mirrorPath(dataDir)))
  }, POLL_MS)
  await watch.untilReady()
  clearInterval(timer)
  figures.set('first run, s', short((performance.now() - first.startedAtMs) / 1000))
  figures.set('first run: memory of all processes at most, MB', megabytes(peak))
  await timeReports(first, figures, 'just after the first run')
  await watch.end()
  await first.stop()

  const again = await shop.startAgain(dataDir, store, bin)
  const restarted = watchStatus(again, figures, 'restart and reports')
  const writer = await shop.startWriter(store)
  const word = liveWord('restart', 7)
  const committedAtMs = await writer.commit(`The message with ${word}.`)
  const hit = untilFound(again, word).then((atMs) => atMs - committedAtMs)
  await restarted.untilReady()
  figures.set('restart to ready, ms', short(performance.now() - again.startedAtMs))
  figures.set('message written meanwhile to hit, ms', short(await hit))
  await timeReports(again, figures, 'after a restart')
  await restarted.end()
  await shop.tidy()

  const mirror = openReader(mirrorPath(dataDir))
  const textBytes = measureText(mirror)
  mirror.close()
  figures.set('indexed text, MB', megabytes(textBytes))
  figures.set('mirror, x text', short(sizeOf(mirrorPath(dataDir)) / textBytes))
  figures.set('mirror at most, x text', short(largest / textBytes))
  return figures
}

async function timeReports(daemon: BenchDaemon, figures: Figures, when: string): Promise<void> {
  for (const path of REPORTS) {
    const times: number[] = []
    let refused = 0
    for (let round = 0; round < REPORT_ROUNDS; round += 1) {
      const startedAtMs = preciseNow()
      await daemon.get(path).catch(() => (refused += 1))
      times.push(preciseNow() - startedAtMs)
    }
    const [first = 0] = times
    const shown = [first, median(times), percentile(times, 95), Math.max(...times)].map(short).join(', ')
    figures.set(`${path} ${when}: first, p50, p95, max ms`, refused === 0 ? shown : `${shown}; ${refused} refused`)
  }
}

/** Asks for status and health all the time, and notes the slowest answers. */
function watchStatus(daemon: BenchDaemon, figures: Figures, when: string) {
  const state = { isEnding: false, isReady: false }
  const poll = async (path: '/api/status' | '/api/health'): Promise<void> => {
    let slowest = 0
    while (!state.isEnding) {
      const startedAtMs = preciseNow()
      const answer = await daemon.get<{ readonly state?: string }>(path)
      slowest = Math.max(slowest, preciseNow() - startedAtMs)
      state.isReady ||= answer.state === 'ready'
      await sleep(POLL_MS)
    }
    figures.set(`${path} during ${when}, max ms`, short(slowest))
  }
  const polls = Promise.all([poll('/api/status'), poll('/api/health')])
  return {
    async untilReady(): Promise<void> {
      while (!state.isReady) await Promise.race([polls, sleep(5)])
    },
    async end(): Promise<void> {
      state.isEnding = true
      await polls
    },
  }
}

const sizeOf = (path: string): number =>
  [path, `${path}-wal`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0)
