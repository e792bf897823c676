import { readFileSync } from 'node:fs'
import type { Progress, Resources } from '../api/http/world.ts'
import type { StepNews } from './ingest-messages.ts'

/** The daemon's own measurements: what it cost, and how far a long pass has come. */
export class Vitals {
  readonly #now: () => number
  #bytesRead = 0
  #longestReadMs = 0
  #run: { readonly startedAtMs: number; bytesRead: number; done: number; total: number } | null = null
  #cpu: { readonly usage: NodeJS.CpuUsage; readonly atMs: number }
  #cpuPercent = 0

  constructor(now: () => number) {
    this.#now = now
    this.#cpu = { usage: process.cpuUsage(), atMs: now() }
  }

  beginRun(): void {
    this.#run = { startedAtMs: this.#now(), bytesRead: 0, done: 0, total: 0 }
  }

  endRun(): void {
    this.#run = null
  }

  noteStep({ done, total, bytesRead, longestReadMs }: StepNews): void {
    this.#bytesRead += bytesRead
    this.#longestReadMs = Math.max(this.#longestReadMs, longestReadMs)
    if (this.#run === null) return
    this.#run.bytesRead += bytesRead
    this.#run.done = Math.max(this.#run.done, done)
    this.#run.total = Math.max(this.#run.total, total)
  }

  /** Null while no run has told how much there is to do. */
  get progress(): Progress | null {
    const run = this.#run
    if (run === null || run.total === 0) return null
    const elapsedMs = this.#now() - run.startedAtMs
    const left = run.total - run.done
    return {
      done: run.done,
      total: run.total,
      bytesPerSecond: elapsedMs === 0 ? null : Math.round((run.bytesRead * 1000) / elapsedMs),
      etaMs: run.done === 0 ? null : Math.round((elapsedMs * left) / run.done),
    }
  }

  /** Takes the share of one core used since the last call; to be called at a steady rhythm. */
  sampleCpu(): void {
    const usage = process.cpuUsage()
    const atMs = this.#now()
    const spentMs = (usage.user + usage.system - this.#cpu.usage.user - this.#cpu.usage.system) / 1000
    if (atMs > this.#cpu.atMs) this.#cpuPercent = Math.round((spentMs / (atMs - this.#cpu.atMs)) * 10_000) / 100
    this.#cpu = { usage, atMs }
  }

  /** @param childPids processes whose memory counts as ours */
  resources(childPids: readonly number[]): Resources {
    const rssBytes = process.memoryUsage.rss() + childPids.map(residentBytes).reduce((sum, bytes) => sum + bytes, 0)
    return {
      rssBytes,
      cpuPercent: this.#cpuPercent,
      longestReadMs: Math.round(this.#longestReadMs * 100) / 100,
      bytesRead: this.#bytesRead,
    }
  }
}

/** Resident memory of another process, from /proc; 0 where the system does not tell, or the process ended. */
function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return 0
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? 0) * 1024
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return 0
    throw error
  }
}
