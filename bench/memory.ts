import { setTimeout as sleep } from 'node:timers/promises'
import { mirrorPath } from '../src/engine/data-folder.ts'
import type { BenchDaemon } from './daemon.ts'
import { canLook, familyBytes, familyOf, peakBytes, residentBytes } from './processes.ts'
import { drawQuestions } from './search-questions.ts'
import { megabytes, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const SEARCHES = 100
/** After a minute without work one search process ends, and the other one is replaced by a new one. */
const IDLE_S = 75
/** Long enough for token counting, which waits for searches, to make progress. */
const BETWEEN_SEARCHES_MS = 2000

/** Memory of all processes of the daemon: while it indexes, after searches, and at rest. */
export async function memory(shop: Workshop): Promise<void> {
  if (!canLook) return shop.say('memory: this system does not report on other processes')
  const bare = shop.startBare()
  const daemon = await shop.startFresh()
  const peak = await peakOfIngest(daemon)
  const floor = residentBytes(bare)
  const rows: string[][] = []
  const add = (when: string, bytes: number): void => {
    const processes = familyOf(daemon.pid)
    const most = processes.map((pid) => megabytes(peakBytes(pid))).join(' + ')
    rows.push([when, megabytes(bytes), short(bytes / floor), most])
  }
  add('peak of the first ingest', peak)
  add('ready', familyBytes(daemon.pid))
  await searchTwoAtATime(daemon)
  add(`after ${SEARCHES} searches`, familyBytes(daemon.pid))
  add('at most while tokens are counted, and searches go on', await peakOfCounting(daemon))
  await sleep(IDLE_S * 1000)
  add(`idle for ${IDLE_S} s`, familyBytes(daemon.pid))
  rows.push(['floor: a Node that does nothing', megabytes(floor), '1.00', ''])
  shop.say(table(['memory, all processes', 'resident MB', 'x floor', 'peak, by process'], rows))
}

async function peakOfIngest(daemon: BenchDaemon): Promise<number> {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, familyBytes(daemon.pid))), 50)
  await daemon.untilReady().finally(() => clearInterval(timer))
  // The system's own record also has peaks between two samples. No search process runs yet.
  return Math.max(peak, peakBytes(daemon.pid))
}

/** Searches two at a time, as long as the daemon counts tokens. */
async function peakOfCounting(daemon: BenchDaemon): Promise<number> {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, familyBytes(daemon.pid))), 50)
  while ((await daemon.status()).estimation.state !== 'done') {
    await searchTwoAtATime(daemon)
    await sleep(BETWEEN_SEARCHES_MS)
  }
  clearInterval(timer)
  return peak
}

async function searchTwoAtATime(daemon: BenchDaemon): Promise<void> {
  const questions = drawQuestions(mirrorPath(daemon.dataDir), 20).flatMap(({ asked }) => asked)
  for (let index = 0; index < SEARCHES; index += 2) {
    const pair = [questions[index % questions.length], questions[(index + 1) % questions.length]]
    const path = (q: string): string => `/api/search?q=${encodeURIComponent(q)}`
    await Promise.all(pair.map((question) => daemon.get(path(question?.q ?? ''))))
  }
}
