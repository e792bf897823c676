export interface ScheduledTasks {
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
  const onMinute = (): void => {
    armMinute()
    attempt(() => tasks.archive())
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
