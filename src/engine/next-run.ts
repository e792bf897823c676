import { createTask } from 'node-cron'

const PAUSE_MAX_MS = 6 * 3_600_000

/**
 * How long to wait after a failure before the next try. Each further failure doubles the pause.
 * @param firstMs the pause after the first failure
 * @param failures how many came before this one
 */
export const pauseMs = (firstMs: number, failures: number): number => Math.min(firstMs * 2 ** failures, PAUSE_MAX_MS)

/** When a schedule comes next, in epoch milliseconds. The settings refuse one that never comes. */
export function nextRunMs(schedule: string, timezone: string): number {
  const task = createTask(schedule, () => undefined, { timezone })
  const [next] = task.getNextRuns(1)
  void task.destroy()
  return next?.getTime() ?? Infinity
}
