import { setTimeout as sleep } from 'node:timers/promises'
import { untilFound } from './commit-to-hit.ts'
import { liveWord } from './live-words.ts'
import { cpuMs } from './processes.ts'
import { median, short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const LENGTHS = [10, 1000, 10_000]
const COMMITS = 8
const QUIET_MS = 700
/** A tenth of the rows will do: what is asked is what the chat's length costs. */
const SHARE = 0.1

/** What one more message costs in a chat that is long already, and one written anew: Cursor does that many times a second. */
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
        const committedAtMs = await writer[act](`The message that holds ${word}.`)
        const foundAtMs = await untilFound(daemon, word)
        await sleep(QUIET_MS)
        // The first pass after a start counts all rows, and the first search starts a process.
        if (index === 0) continue
        cpu.push(cpuMs(daemon.pid) - spentMs)
        found.push(foundAtMs - committedAtMs)
      }
      const what = act === 'commit' ? 'one more' : 'the last one anew'
      rows.push([String(length), what, short(median(cpu)), short(Math.max(...cpu)), short(median(found))])
    }
    await shop.tidy()
  }
  shop.say(table(['messages in the chat', 'written', 'CPU ms of the daemon', 'most', 'found after ms'], rows))
}
