import { setTimeout as sleep } from 'node:timers/promises'
import { untilFound } from './commit-to-hit.ts'
import { liveWord } from './live-writer.ts'
import { cpuMs } from './processes.ts'
import { median, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const LENGTHS = [10, 1000, 10_000]
const COMMITS = 8
const QUIET_MS = 700
/** A tenth of the rows is enough, because only the length of the chat matters. */
const SHARE = 0.1

/** The cost of a new message in a long chat, and of one that is written again, which Cursor does many times a second. */
export async function longChat(shop: Workshop): Promise<void> {
  const rows: string[][] = []
  const store = shop.store(SHARE)
  for (const length of LENGTHS) {
    const writer = await shop.startWriter(store, length)
    const daemon = await shop.startReady(store)
    for (const act of ['commit', 'rewrite'] as const) {
      const [cpu, found]: [number[], number[]] = [[], []]
      for (let index = 0; index <= COMMITS; index += 1) {
        await sleep(QUIET_MS)
        const spentMs = cpuMs(daemon.pid)
        const word = liveWord(`${act}${'x'.repeat(String(length).length)}`, index)
        const committedAtMs = await writer[act](`The message with ${word}.`)
        const foundAtMs = await untilFound(daemon, word)
        await sleep(QUIET_MS)
        // Not counted: the first pass after a start counts all rows, and the first search starts a process.
        if (index === 0) continue
        cpu.push(cpuMs(daemon.pid) - spentMs)
        found.push(foundAtMs - committedAtMs)
      }
      const what = act === 'commit' ? 'a new message' : 'the last message again'
      rows.push([String(length), what, short(median(cpu)), short(Math.max(...cpu)), short(median(found))])
    }
    await shop.tidy()
  }
  shop.say(table(['messages in the chat', 'written', 'CPU ms of the daemon', 'max', 'found after ms'], rows))
}
