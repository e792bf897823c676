import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { untilFound } from './commit-to-hit.ts'
import type { BenchDaemon } from './daemon.ts'
import { liveWord } from './live-words.ts'
import { canLook, charsRead } from './processes.ts'
import { megabytes, median, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const MESSAGES = 5
const QUIET_MS = 1500

interface Reading {
  /** As the daemon counts what it read of the store. */
  readonly told: number
  /** As the system counts all that its process read. */
  readonly asked: number
}

/** What one new message makes the daemon read, in a small store and in a large one. */
export async function bytesRead(shop: Workshop): Promise<void> {
  const rows: string[][] = []
  for (const share of [0.1, 1]) {
    const store = shop.store(share)
    const daemon = await shop.startReady(store)
    const writer = await shop.startWriter(store)
    const readings: Reading[] = []
    for (let index = 0; index <= MESSAGES; index += 1) {
      const before = await quietly(daemon)
      const asked = charsOf(daemon)
      const word = liveWord('bytes', index)
      await writer.commit(`The message that holds ${word}.`)
      await untilFound(daemon, word)
      await sleep(QUIET_MS)
      // First: to tell its status the daemon reads in its mirror.
      const askedSince = charsOf(daemon) - asked
      const told = (await quietly(daemon)) - before
      // The first pass after a start counts all rows; it does so once a minute at most.
      if (index > 0) readings.push({ told, asked: askedSince })
    }
    const [told, asked] = [readings.map((reading) => reading.told), readings.map((reading) => reading.asked)]
    const size = megabytes(statSync(store.path).size)
    rows.push([size, short(median(told)), short(Math.max(...told)), short(median(asked)), short(Math.max(...asked))])
    await shop.tidy()
  }
  const head = [
    'bytes read for one new message: store MB',
    'of the store',
    'most',
    'of anything, by the system',
    'most',
  ]
  shop.say(table(head, rows))
}

/** What the daemon says it read of the store, once nothing runs any more. */
async function quietly(daemon: BenchDaemon): Promise<number> {
  await sleep(QUIET_MS)
  return (await daemon.status()).resources.bytesRead
}

const charsOf = (daemon: BenchDaemon): number => (canLook ? charsRead(daemon.pid) : Number.NaN)
