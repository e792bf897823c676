import { UserError } from '../model/user-error.ts'
import { startOrder } from './one-order.ts'
import type { PurgeTask, PurgeTasks } from './purge/purge-orders.ts'

/** Does one task, wherever that is. @param signal ends it */
export type DoPurgeTask = <Task extends PurgeTask>(
  task: Task,
  order: PurgeTasks[Task]['order'],
  signal: AbortSignal,
) => Promise<PurgeTasks[Task]['outcome']>

/** In a process of its own. A task is answered with an outcome of its kind. */
export const inPurgeProcess: DoPurgeTask = async <Task extends PurgeTask>(
  task: Task,
  order: PurgeTasks[Task]['order'],
  signal: AbortSignal,
) => {
  // While room was made for it the daemon began to stop.
  if (signal.aborted) throw new UserError('stopped', 'The daemon is stopping.', '')
  const died = new UserError('purge-died', 'The process that was at work on the purge ended.', 'Purge once more.')
  const obeying = { program: 'purge-child', died } as const
  const work = startOrder<never, PurgeTasks[Task]['outcome']>({ task, order }, obeying)
  const stop = (): void => work.stop()
  signal.addEventListener('abort', stop)
  try {
    return await work.result
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
