export interface Rhythms {
  /** Every ten minutes: all keys of what changed are compared with the mirror. */
  reconcile(): void
  /** Asked every ten minutes; what is due once a week knows when it was last done. */
  checkTermsIfDue(): void
  /** Every minute: a job that is due knows it. */
  archive(): void
  /** Twice a second; null where nobody looks: a daemon at rest should not be woken for it. */
  readonly showProgress: (() => void) | null
  /** One of these failed; the others go on, and it is asked again. */
  onFault(error: unknown): void
}

export interface Schedule {
  stop(): void
}

const MINUTE_MS = 60_000
const TEN_MINUTES_MS = 10 * MINUTE_MS

/**
 * Everything the daemon does at a rhythm, at full minutes of the clock. None of them is waited for longer than a minute,
 * and none is made up for: a clock that is set, be it by years, and a machine that slept cost that minute and no more.
 */
export function startSchedule(rhythms: Rhythms): Schedule {
  const attempt = (act: () => void): void => {
    try {
      act()
    } catch (error) {
      rhythms.onFault(error)
    }
  }
  let minute: NodeJS.Timeout
  let [tens, fives] = periodsAt(Date.now())
  const onMinute = (): void => {
    armMinute()
    const [tensNow, fivesNow] = periodsAt(Date.now())
    if (tensNow !== tens) attempt(() => rhythms.reconcile())
    attempt(() => rhythms.archive())
    if (fivesNow !== fives) attempt(() => rhythms.checkTermsIfDue())
    tens = tensNow
    fives = fivesNow
  }
  const armMinute = (): void => {
    minute = setTimeout(onMinute, MINUTE_MS - (Date.now() % MINUTE_MS))
  }
  armMinute()
  const progress = rhythms.showProgress === null ? undefined : setInterval(rhythms.showProgress, 500)
  return {
    stop() {
      clearTimeout(minute)
      clearInterval(progress)
    },
  }
}

/** The ten minutes that a time lies in, from the full hour on, and from five past on: what is done in each lies apart. */
const periodsAt = (nowMs: number): readonly [tens: number, fives: number] => [
  Math.floor(nowMs / TEN_MINUTES_MS),
  Math.floor((nowMs + TEN_MINUTES_MS / 2) / TEN_MINUTES_MS),
]
