import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { untilFound } from './commit-to-hit.ts'
import type { BenchDaemon } from './daemon.ts'
import { liveWord } from './live-writer.ts'
import { canLook, charsRead } from './processes.ts'
import { megabytes, median, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const MESSAGES = 5
const QUIET_MS = 1500

interface Reading {
  /** Bytes that the daemon read from the store, by its own count. */
  readonly counted: number
  /** Bytes that the process read in total, by the system's count. */
  readonly requested: number
}

/** How many bytes the daemon reads for one new message, in a small and in a large store. */
export async function bytesRead(shop: Workshop): Promise<void> {
  const rows: string[][] = []
  for (const share of [0.1, 1]) {
    const store = shop.store(share)
    const daemon = await shop.startReady(store)
    const writer = await shop.startWriter(store)
    const readings: Reading[] = []
    for (let index = 0; index <= MESSAGES; index += 1) {
      const before = await quietly(daemon)
      const requestedBefore = charsOf(daemon)
      const word = liveWord('bytes', index)
      await writer.commit(`The message with ${word}.`)
      await untilFound(daemon, word)
      await sleep(QUIET_MS)
      // Taken first, because reading the status makes the daemon read its mirror.
      const requestedSince = charsOf(daemon) - requestedBefore
      const countedSince = (await quietly(daemon)) - before
      // The first pass after a start counts all rows. Later this happens at most once a minute.
      if (index > 0) readings.push({ counted: countedSince, requested: requestedSince })
    }
    const counted = readings.map((reading) => reading.counted)
    const requested = readings.map((reading) => reading.requested)
    const size = megabytes(statSync(store.path).size)
    rows.push([
      size,
      short(median(counted)),
      short(Math.max(...counted)),
      short(median(requested)),
      short(Math.max(...requested)),
    ])
    await shop.tidy()
  }
  const head = ['bytes read for one new message: store MB', 'of the store', 'max', 'of anything, by the system', 'max']
  shop.say(table(head, rows))
}

/** The daemon's own count, when no pass runs any more. */
async function quietly(daemon: BenchDaemon): Promise<number> {
  await sleep(QUIET_MS)
  return (await daemon.status()).resources.bytesRead
}

const charsOf = (daemon: BenchDaemon): number => (canLook ? charsRead(daemon.pid) : Number.NaN)
