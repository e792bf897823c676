import { setTimeout as sleep } from 'node:timers/promises'
import { nameRun } from '../src/api/archives/manifest-files.ts'
import type { RunResult } from '../src/engine/archive-orders.ts'
import type * as archiveProcess from '../src/engine/archive-process.ts'
import type { Cost } from './measured-act.ts'
import { canLook, cpuMs, familyOf, peakBytes, residentBytes, startBareNode } from './processes.ts'

/** The bundled program, as people run it. Loading many files would take longer. */
const bundled = new URL('../dist/engine/archive-process.js', import.meta.url).href

/** Archives everything in its own process, as the daemon does. The time to start the process counts. */
export async function runArchive(mirrorPath: string, dir: string): Promise<readonly [Cost, RunResult]> {
  const { startArchiveProcess } = (await import(bundled)) as typeof archiveProcess
  const bareBytes = canLook ? await bareNodeBytes() : Number.NaN
  const before = new Set(canLook ? familyOf(process.pid) : [])
  const startedAtMs = performance.now()
  const order = { kind: 'run', dir, mirrorPath, name: nameRun(dir, Date.now(), null), version: '0' } as const
  // Without access to other processes, only the wall-clock time is known.
  let spent = { cpuMs: Number.NaN, growthBytes: Number.NaN }
  let child: number | undefined
  const look = (): void => {
    if (!canLook) return
    child ??= familyOf(process.pid).find((pid) => !before.has(pid))
    if (child === undefined || residentBytes(child) === 0) return
    spent = { cpuMs: cpuMs(child), growthBytes: peakBytes(child) - bareBytes }
  }
  const work = startArchiveProcess({ ...order, scope: null, timeZone: 'UTC', prune: null }, look)
  const result = await work.result
  look()
  if (result.kind !== 'run') throw new Error('a run was answered as a proof')
  return [{ ...spent, wallMs: performance.now() - startedAtMs }, result]
}

async function bareNodeBytes(): Promise<number> {
  const bare = startBareNode()
  await sleep(1000)
  const bytes = residentBytes(bare.pid ?? 0)
  bare.kill()
  return bytes
}
