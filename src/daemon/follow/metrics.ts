import { readFileSync } from 'node:fs'
import { orIfUnreadable } from '../../indexer/open-safely/cursor-file.ts'
import type { PassStep } from '../../indexer/source.ts'
import type { Progress, Resources } from '../../api/answers/status.ts'

/** A long piece of work and its progress: reading a store, or indexing. */
interface Job {
  readonly stage: Progress['stage']
  readonly startedAtMs: number
  bytesRead: number
  done: number
  total: number
}

/** A pass with at least this many rows reads a new store. A smaller one reads a few new messages. */
const LARGE_PASS = 100

/** The daemon's own measurements: its resources, and the progress of a long pass. */
export class Metrics {
  readonly #now: () => number
  #bytesRead = 0
  #longestReadMs = 0
  #job: Job | null = null
  #cpu: { readonly usage: NodeJS.CpuUsage; readonly atMs: number }

  constructor(now: () => number) {
    this.#now = now
    this.#cpu = { usage: process.cpuUsage(), atMs: now() }
  }

  /** What a run reads belongs to the job that is not ended. */
  beginRun(): void {
    this.#job ??= this.#newJob('reading')
  }

  /** Must be called when nothing is left to do. */
  endJob(): void {
    this.#job = null
  }

  noteStep({ done, total, bytesRead, longestReadMs, backlog }: PassStep): void {
    this.#bytesRead += bytesRead
    this.#longestReadMs = Math.max(this.#longestReadMs, longestReadMs)
    // Reading a few new messages while older ones are indexed is no other job. Reading another store is one.
    if (this.#job === null || backlog !== null || total < LARGE_PASS) return
    if (this.#job.stage === 'indexing' || done < this.#job.done) this.#job = this.#newJob('reading')
    this.#job.bytesRead += bytesRead
    Object.assign(this.#job, { done, total })
  }

  /** @param left how many messages wait to be indexed, and chats to be counted, when all is read */
  noteBacklog(left: number): void {
    if (this.#job?.stage !== 'indexing') this.#job = this.#newJob('indexing')
    this.#job.total = Math.max(this.#job.total, left)
    this.#job.done = this.#job.total - left
  }

  #newJob(stage: Progress['stage']): Job {
    return { stage, startedAtMs: this.#now(), bytesRead: 0, done: 0, total: 0 }
  }

  /** Null if no run has reported how much there is to do. */
  get progress(): Progress | null {
    const job = this.#job
    if (job === null || job.total === 0) return null
    const elapsedMs = this.#now() - job.startedAtMs
    const left = job.total - job.done
    return {
      stage: job.stage,
      done: job.done,
      total: job.total,
      bytesPerSecond: elapsedMs === 0 ? null : Math.round((job.bytesRead * 1000) / elapsedMs),
      etaMs: job.done === 0 ? null : Math.round((elapsedMs * left) / job.done),
    }
  }

  /** The share of one core that was used since this was last asked. */
  #measureCpu(): number {
    const { usage: before, atMs } = this.#cpu
    this.#cpu = { usage: process.cpuUsage(), atMs: this.#now() }
    const spentMs = (this.#cpu.usage.user + this.#cpu.usage.system - before.user - before.system) / 1000
    return this.#cpu.atMs > atMs ? Math.round((spentMs / (this.#cpu.atMs - atMs)) * 10_000) / 100 : 0
  }

  /** @param childPids processes whose memory counts as ours */
  resources(childPids: readonly number[]): Resources {
    const rssBytes = process.memoryUsage.rss() + childPids.map(residentBytes).reduce((sum, bytes) => sum + bytes, 0)
    return {
      rssBytes,
      cpuPercent: this.#measureCpu(),
      longestReadMs: Math.round(this.#longestReadMs * 100) / 100,
      bytesRead: this.#bytesRead,
    }
  }
}

/** Resident memory of another process, from /proc. 0 if the system does not report it, or if the process ended. */
function residentBytes(pid: number): number {
  const status = orIfUnreadable(
    () => (process.platform === 'linux' ? readFileSync(`/proc/${pid}/status`, 'utf8') : ''),
    () => '',
  )
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}
