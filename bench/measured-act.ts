import { makeRun, type RunOutcome } from '../src/api/archives/make-run.ts'
import { nameRun } from '../src/api/archives/manifest-files.ts'
import type { Mirror } from '../src/mirror/open.ts'

export interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
  /** Peak of resident memory, minus the memory before. */
  readonly growthBytes: number
}

/** The cost of an action in this process. The action notes its memory itself. */
export async function measure<Outcome>(
  act: (note: () => void) => Outcome | Promise<Outcome>,
): Promise<readonly [Cost, Outcome]> {
  const before = process.memoryUsage.rss()
  let most = before
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  const outcome = await act(() => (most = Math.max(most, process.memoryUsage.rss())))
  const { user, system } = process.cpuUsage(cpu)
  const wallMs = performance.now() - startedAt
  return [{ cpuMs: (user + system) / 1000, wallMs, growthBytes: most - before }, outcome]
}

/** Archives everything into the folder. */
export async function archiveAll(db: Mirror, dir: string, note: () => void): Promise<RunOutcome> {
  const program = { name: 'cursordex', version: '0', schema: 0 }
  const name = nameRun(dir, Date.now(), null)
  const steps = makeRun(db, { dir, name, job: null, scope: null, chats: null, program, now: Date.now })
  for (;;) {
    const step = await steps.next()
    if (step.done === true) return step.value
    note()
  }
}
