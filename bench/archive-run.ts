import { setTimeout as sleep } from 'node:timers/promises'
import { nameRun } from '../src/api/archives/manifest-files.ts'
import type * as forkedExecutor from '../src/engine/executor/forked-executor.ts'
import type { ArchiveResult } from '../src/engine/jobs/archive.ts'
import type { Cost } from './measured-act.ts'
import { canLook, cpuMs, familyOf, peakBytes, residentBytes, startBareNode } from './processes.ts'

/** As people run it: loaded out of many files it takes longer to start. */
const bundled = new URL('../dist/engine/forked-executor.js', import.meta.url).href

/** A run of everything into the folder, by a process of its own as the daemon starts it; its start counts. */
export async function runArchive(mirrorPath: string, dir: string): Promise<readonly [Cost, ArchiveResult]> {
  const { ForkedExecutor } = (await import(bundled)) as typeof forkedExecutor
  const bareBytes = canLook ? await bareNodeBytes() : Number.NaN
  const before = new Set(canLook ? familyOf(process.pid) : [])
  const startedAtMs = performance.now()
  const input = { dir, name: nameRun(dir, Date.now(), null), version: '0', scope: null, timeZone: 'UTC', prune: null }
  // Where no process can be looked at, only the clock tells.
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
