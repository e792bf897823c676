import { setTimeout as sleep } from 'node:timers/promises'
import { canLook, cpuMs, familyOf } from './processes.ts'
import { short, table } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const SETTLE_S = 5
const IDLE_S = 60

/** CPU use of the idle daemon, compared with a Node that only wakes up once a second. */
export async function idleCpu(shop: Workshop): Promise<void> {
  if (!canLook) return shop.say('idle CPU: this system does not report on other processes')
  const daemon = await shop.startReady()
  const bare = shop.startBare()
  await sleep(SETTLE_S * 1000)
  const floor = (): number => cpuMs(bare)
  const ours = (): number => familyOf(daemon.pid).reduce((sum, pid) => sum + cpuMs(pid), 0)
  const before = { floor: floor(), ours: ours() }
  await sleep(IDLE_S * 1000)
  const percent = (spentMs: number): string => short(spentMs / (IDLE_S * 10))
  const rows = [
    ['floor: a Node that does nothing', percent(floor() - before.floor)],
    ['daemon, all processes', percent(ours() - before.ours)],
  ]
  shop.say(table([`idle for ${IDLE_S} s`, '% of one core'], rows))
}
