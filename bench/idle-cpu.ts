import { setTimeout as sleep } from 'node:timers/promises'
import { familyCpuMs, startBareNode } from './daemon.ts'
import { short, table, type Workshop } from './workshop.ts'

/** Some seconds after everything is ready, the daemon still tidies up. */
const SETTLE_S = 30
const IDLE_S = 60

/** CPU use of the idle daemon, compared with a Node that only wakes up once a second. */
export async function idleCpu(shop: Workshop): Promise<void> {
  const daemon = await shop.startReady()
  await daemon.untilReady()
  const bare = startBareNode()
  const watched = [
    ['floor: a Node that does nothing', bare.pid ?? 0],
    ['daemon, all processes', daemon.pid],
  ] as const
  await sleep(SETTLE_S * 1000)
  const before = watched.map(([, pid]) => familyCpuMs(pid))
  await sleep(IDLE_S * 1000)
  const rows = watched.map(([name, pid], index) => [
    name,
    short((familyCpuMs(pid) - (before[index] ?? 0)) / (IDLE_S * 10)),
  ])
  bare.kill()
  shop.say(table([`idle for ${IDLE_S} s`, '% of one core'], rows))
}
