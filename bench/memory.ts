import { setTimeout as sleep } from 'node:timers/promises'
import { familyBytes, peakDuring, startBareNode, type BenchDaemon } from './daemon.ts'
import { drawPaths } from './questions.ts'
import { megabytes, short, table, type Workshop } from './workshop.ts'

/** After a minute without work one search process ends, and the other one is replaced by a new one. */
const IDLE_S = 75

/** Memory of all processes: in the first run, with searches, and at rest. Also the first answer after a rest. */
export async function memory(shop: Workshop): Promise<void> {
  const rows: string[][] = []
  for (const { name, bin } of shop.programs) {
    const bare = startBareNode()
    const daemon = await shop.start(shop.store(), shop.folder(), bin)
    const [filling] = await peakDuring(daemon.pid, daemon.untilReady())
    const paths = drawPaths(daemon.mirrorPath, 20)
    const [searching] = await peakDuring(daemon.pid, askInPairs(daemon, paths))
    await sleep(IDLE_S * 1000)
    const figures = [filling, searching, familyBytes(daemon.pid), familyBytes(bare.pid ?? 0)]
    const askedAtMs = performance.now()
    await daemon.get(paths[0] ?? '')
    rows.push([name, ...figures.map(megabytes), short(performance.now() - askedAtMs)])
    bare.kill()
    await shop.tidy()
  }
  const head = ['first run, at most', 'two searches at a time', `at rest for ${IDLE_S} s`]
  shop.say(table(['all processes, MB', ...head, 'floor: a bare Node', 'first answer after the rest, ms'], rows))
}

async function askInPairs(daemon: BenchDaemon, paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += 2) {
    await Promise.all(paths.slice(at, at + 2).map((path) => daemon.get(path)))
  }
}
