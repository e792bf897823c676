import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchDaemon } from './daemon.ts'
import { liveWord, preciseNow } from './live-writer.ts'
import { median, percentile, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const COMMITS = 100
const FOUND_MS_MAX = 5000

/** How long it takes until a search over HTTP finds a message that another process committed. */
export async function commitToHit(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  const writer = await shop.startWriter()
  const floor: number[] = []
  const found: number[] = []
  // The first search starts a process and is not counted.
  for (let index = 0; index <= COMMITS; index += 1) {
    const word = liveWord('commit', index)
    const askedAtMs = preciseNow()
    await daemon.count(word)
    const answeredAtMs = preciseNow()
    const committedAtMs = await writer.commit(`The message with ${word}.`)
    const foundAtMs = await untilFound(daemon, word)
    if (index > 0) {
      floor.push(answeredAtMs - askedAtMs)
      found.push(foundAtMs - committedAtMs)
    }
    // A random pause, so that commits are not in phase with the daemon's polling.
    await sleep(100 + ((index * 37) % 200))
  }
  const line = (what: string, times: readonly number[]): string[] => [
    what,
    short(median(times)),
    short(percentile(times, 95)),
    short(Math.max(...times)),
    short(median(times) / median(floor)),
  ]
  shop.say(
    table(
      [`commit to hit, ${COMMITS} commits`, 'p50 ms', 'p95', 'max', 'p50 x floor'],
      [line('floor: one search over HTTP for a word that is not there', floor), line('committed to found', found)],
    ),
  )
}

export async function untilFound(daemon: BenchDaemon, word: string): Promise<number> {
  for (const endMs = preciseNow() + FOUND_MS_MAX; preciseNow() < endMs; await sleep(2)) {
    if ((await daemon.count(word)) > 0) return preciseNow()
  }
  throw new Error(`a message was not found within ${FOUND_MS_MAX / 1000} s`)
}
