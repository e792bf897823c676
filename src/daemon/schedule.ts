export interface ScheduledTasks {
  /** Runs every ten minutes: compares all keys of sources that changed. */
  reconcile(): void
  /** Runs every minute. It starts the archive jobs, pushes and pulls that are due. */
  archive(): void
  /** Runs twice a second. Null if nobody sees it, so that a daemon at rest is not woken for it. */
  readonly showProgress: (() => void) | null
  /** Is called if a task fails. The other tasks continue, and the failed one runs again at its next time. */
  onFault(error: unknown): void
}

export interface Schedule {
  stop(): void
}

const MINUTE_MS = 60_000
const TEN_MINUTES_MS = 10 * MINUTE_MS

/**
 * Runs the daemon's regular tasks at full minutes of the clock. The next timer is at most a minute away, and missed times
 * are not made up. So a clock that is changed by years, or a machine that slept, delays the tasks by a minute at most.
 */
export function startSchedule(tasks: ScheduledTasks): Schedule {
  const attempt = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      tasks.onFault(error)
    }
  }
  let minute: NodeJS.Timeout
  let tens = tensAt(Date.now())
  const onMinute = (): void => {
    armMinute()
    const tensNow = tensAt(Date.now())
    if (tensNow !== tens) attempt(() => tasks.reconcile())
    attempt(() => tasks.archive())
    tens = tensNow
  }
  const armMinute = (): void => {
    minute = setTimeout(onMinute, MINUTE_MS - (Date.now() % MINUTE_MS))
  }
  armMinute()
  const progress = tasks.showProgress === null ? undefined : setInterval(tasks.showProgress, 500)
  return {
    stop() {
      clearTimeout(minute)
      clearInterval(progress)
    },
  }
}

/** The ten-minute period of a time, counted from the full hour. */
const tensAt = (nowMs: number): number => Math.floor(nowMs / TEN_MINUTES_MS)
