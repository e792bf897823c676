import { setTimeout as sleep } from 'node:timers/promises'
import { nameRun } from '../src/api/archives/manifest-files.ts'
import type * as forkedExecutor from '../src/engine/executor/forked-executor.ts'
import type { ArchiveResult } from '../src/engine/jobs/archive.ts'
import type { Cost } from './measured-act.ts'
import { canLook, cpuMs, familyOf, peakBytes, residentBytes, startBareNode } from './processes.ts'

/** The bundled program, as people run it. Loading many files would take longer. */
const bundled = new URL('../dist/engine/forked-executor.js', import.meta.url).href

/** Archives everything in its own process, as the daemon does. The time to start the process counts. */
export async function runArchive(mirrorPath: string, dir: string): Promise<readonly [Cost, ArchiveResult]> {
  const { ForkedExecutor } = (await import(bundled)) as typeof forkedExecutor
  const bareBytes = canLook ? await bareNodeBytes() : Number.NaN
  const before = new Set(canLook ? familyOf(process.pid) : [])
  const startedAtMs = performance.now()
  const input = { dir, name: nameRun(dir, Date.now(), null), version: '0', scope: null, timeZone: 'UTC', prune: null }
  // Without access to other processes, only the wall-clock time is known.
  let spent = { cpuMs: Number.NaN, growthBytes: Number.NaN }
  let child: number | undefined
  const look = (): void => {
    if (!canLook) return
    child ??= familyOf(process.pid).find((pid) => !before.has(pid))
    if (child === undefined || residentBytes(child) === 0) return
    spent = { cpuMs: cpuMs(child), growthBytes: peakBytes(child) - bareBytes }
  }
  const executor = new ForkedExecutor(mirrorPath)
  const result = await executor.run('archive', input, { onProgress: look })
  look()
  await executor.close()
  return [{ ...spent, wallMs: performance.now() - startedAtMs }, result]
}

async function bareNodeBytes(): Promise<number> {
  const bare = startBareNode()
  await sleep(1000)
  const bytes = residentBytes(bare.pid ?? 0)
  bare.kill()
  return bytes
}
