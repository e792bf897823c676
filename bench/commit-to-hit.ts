import { setTimeout as sleep } from 'node:timers/promises'
import { familyCpuMs } from './daemon.ts'
import { countHits, liveWord, untilFound } from './live-writer.ts'
import { megabytes, median, p50and95, short, table, timeInTurns, bytesOf, type Workshop } from './workshop.ts'

const QUIET_MS = 700

/**
 * The share of the store, the messages that the chat already has, what happens to it, and how often. The length of the chat
 * matters. The first two cases show that the size of the store does not.
 */
const cases = [
  [1, 0, 'add', 40],
  [0.1, 0, 'add', 12],
  [0.1, 1000, 'add', 8],
  [0.1, 1000, 'rewrite', 8],
  [0.1, 10_000, 'add', 8],
  [0.1, 10_000, 'rewrite', 8],
] as const

/**
 * How long it takes until a search over HTTP finds a message that Cursor committed or wrote again, what the daemon spends
 * on it, and how many bytes of the store it reads, by its own count.
 */
export async function commitToHit(shop: Workshop): Promise<void> {
  const rows: string[][] = []
  for (const each of cases) {
    rows.push(await measure(shop, each))
    await shop.tidy()
  }
  const daemon = await shop.startReady()
  const words = Array.from({ length: 50 }, (_, index) => liveWord('never', index))
  const [floor = []] = await timeInTurns(words, [(word) => countHits(daemon, word)])
  rows.push(['', '', 'floor: a search for a word that is not there', ...p50and95(floor)])
  const costs = ['CPU ms', 'bytes read']
  shop.say(table(['store MB', 'chat', 'from commit to hit', 'p50 ms', 'p95', ...costs], rows))
}

async function measure(shop: Workshop, [share, length, act, commits]: (typeof cases)[number]): Promise<string[]> {
  const store = shop.store(share)
  const writer = shop.startWriter(store, length)
  const daemon = await shop.startReady(store)
  await daemon.untilReady()
  if (act === 'rewrite') writer.add('The message that is written again.')
  const [cpu, found, bytes]: [number[], number[], number[]] = [[], [], []]
  for (let index = 0; index <= commits; index += 1) {
    // Not always the same pause, so that commits are not in phase with the daemon's polling.
    await sleep(QUIET_MS + ((index * 37) % 200))
    const { bytesRead } = (await daemon.status()).resources
    const spentMs = familyCpuMs(daemon.pid)
    const word = liveWord(`live${act}${'x'.repeat(String(length).length)}`, index)
    writer[act](`The message with ${word}.`)
    const foundMs = await untilFound(daemon, word)
    await sleep(QUIET_MS)
    // Not counted: the first pass after a start counts all rows, and the first search starts a process.
    if (index === 0) continue
    found.push(foundMs)
    cpu.push(familyCpuMs(daemon.pid) - spentMs)
    bytes.push((await daemon.status()).resources.bytesRead - bytesRead)
  }
  const what = act === 'add' ? 'a new message' : 'the last message again'
  const costs = [median(cpu), median(bytes)].map(short)
  return [megabytes(bytesOf(store.path)), `${length} messages`, what, ...p50and95(found), ...costs]
}
