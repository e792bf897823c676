import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { UserError } from '../../src/model/user-error.ts'
import { CutProxy } from './cut-proxy.ts'
import { write, type HubWorld } from './hub-world.ts'
import type { Machine } from './machine.ts'

/** Chats of one sharing, in several batches. */
const CHATS = 450

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

type Act = 'push' | 'pull'
/** Ends an attempt at its place. @returns the code of the error, `killed`, or null if the attempt came to its end */
type Attempt = (machine: Machine, act: Act, proxy: CutProxy, place: number) => Promise<string | null>

/** The connection is cut. */
export const byCut: Attempt = async (machine, act, proxy, place) => {
  proxy.at = proxy.pieces + 1 + Math.floor(place ** 1.6)
  proxy.act = () => proxy.cut()
  try {
    const sharing = machine.sharing({ url: proxy.url('hub') })
    await (act === 'push' ? sharing.push() : sharing.pull())
    return null
  } catch (error) {
    if (error instanceof UserError) return error.code
    throw error
  }
}

/** The program is killed, a little after the place. */
export const byKill: Attempt = async (machine, act, proxy, place) => {
  machine.shut()
  const argv = [
    'hub',
    act,
    '--project',
    '*',
    '--data-dir',
    machine.dataDir,
    '--cursor-user-dir',
    '',
    '--cursor-home',
    '',
  ]
  const child = spawn(process.execPath, [bin, ...argv, '--hub-url', proxy.url('hub')], { stdio: 'ignore' })
  proxy.at = proxy.pieces + 1 + Math.floor(place ** 1.6)
  proxy.act = () => {
    void sleep((place * 7) % 40).then(() => child.kill('SIGKILL'))
    return true
  }
  await once(child, 'exit')
  return child.signalCode === 'SIGKILL' ? 'killed' : null
}

export interface Ended {
  /** How many attempts ended early, and how they said so. */
  readonly ends: Readonly<Record<string, number>>
  readonly rows: number
  readonly words: readonly string[]
  readonly expected: readonly string[]
  /** What another push and pull move. */
  readonly moved: readonly number[]
}

/** Ends a push and a pull early at as many places, and then lets both come to their end. */
export async function endEarly(world: HubWorld, places: number, attempt: Attempt): Promise<Ended> {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  for (let at = 0; at < CHATS; at += 1) write(ada, `c${at}`, [`words of ${at}`])
  await ada.sync()
  await bob.sync()
  const proxy = await CutProxy.start(world.server.port)
  const ends: Record<string, number> = {}
  try {
    for (const act of ['push', 'pull'] as const) {
      const machine = act === 'push' ? ada : bob
      for (let place = 1; place <= places; place += 1) {
        const end = await attempt(machine, act, proxy, place)
        proxy.at = Infinity
        if (end === null) await makeWork(world, bob, act)
        else ends[`${act} ${end}`] = (ends[`${act} ${end}`] ?? 0) + 1
      }
      await (act === 'push' ? ada.push() : bob.pull())
    }
    const rows = await world.count()
    const moved = [(await ada.push()).pushed, (await bob.pull()).pulled]
    return { ends, rows, words: bob.words(), expected: ada.words(), moved }
  } finally {
    await proxy.stop()
  }
}

/** For the next attempt, as if nothing had been done. */
async function makeWork(world: HubWorld, bob: Machine, act: Act): Promise<void> {
  if (act === 'push') await world.server.sql('delete from cursordex.chats', world.url)
  else await bob.forgetPulled()
}
