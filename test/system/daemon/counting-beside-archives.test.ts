import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { childrenOf } from '../../helpers/children-of.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
const held: number[] = []
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => {
  // A suspended process does not end when the daemon asks it to.
  for (const pid of held.splice(0)) spawnSync('kill', ['-CONT', String(pid)])
  return place.remove()
})

function hold(pid: number): void {
  held.push(pid)
  process.kill(pid, 'SIGSTOP')
}

interface Told {
  readonly estimation: { readonly state: string; readonly left: number | null }
}

test.skipIf(process.platform !== 'linux')(
  'an archive during the counting of tokens took the memory of both',
  { timeout: 600_000 },
  async () => {
    fillStore(place.cursor.global(), { chats: 60, messagesPerChat: 50, textLength: 8000 })
    const { daemon, url } = await place.serve()
    await untilReady(url, 60_000)
    const pidOf = (program: string): number | undefined =>
      childrenOf(daemon.pid).find(({ command }) => command.includes(program))?.pid
    const begun = (program: string): Promise<number> =>
      waitUntil(`${program} to begin`, () => pidOf(program), { withinMs: 180_000, everyMs: 10 })
    // Both are suspended, so that neither ends before both were seen.
    const counting = await begun('\0estimate\0')
    hold(counting)
    await getJson(url, '/api/archives', { method: 'POST' })
    const archiving = await begun('\0archive\0')
    hold(archiving)
    process.kill(counting, 'SIGCONT')
    const isAt = async (state: string): Promise<boolean> =>
      (await getJson<Told>(url, '/api/status')).estimation.state === state
    await waitUntil('the counting to end', () => pidOf('\0estimate\0') === undefined, { withinMs: 180_000 })
    await waitUntil('the state “waiting”', () => isAt('waiting'))
    expect(pidOf('\0archive\0')).toBe(archiving)
    process.kill(archiving, 'SIGCONT')
    await waitUntil('all to be counted', () => isAt('done'), { withinMs: 150_000 })
  },
)
