import { schedule } from 'node-cron'

export interface Rhythms {
  /** Every ten minutes: all keys of what changed are compared with the mirror. */
  reconcile(): void
  /** Asked every ten minutes; what is due once a week knows when it was last done. */
  checkTermsIfDue(): void
  /** Every minute: a job that is due knows it. */
  archive(): void
  /** Twice a second. */
  showProgress(): void
}

export interface Schedule {
  stop(): void
}

/** A machine that slept missed some: the next one does for all, and no line of another make stands in the log. */
const quietly = { noOverlap: true, suppressMissedWarning: true } as const

/** Everything the daemon does at a rhythm of the clock, a line each. */
export function startSchedule(rhythms: Rhythms): Schedule {
  const tasks = [
    schedule('*/10 * * * *', () => rhythms.reconcile(), quietly),
    schedule('* * * * *', () => rhythms.archive(), quietly),
    schedule('5-59/10 * * * *', () => rhythms.checkTermsIfDue(), quietly),
  ]
  const progress = setInterval(() => rhythms.showProgress(), 500)
  return {
    stop() {
      clearInterval(progress)
      for (const task of tasks) void task.destroy()
    },
  }
}
