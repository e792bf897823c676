import { constants } from 'node:os'
import { obeyOneOrder } from './obey-one-order.ts'
import type { PurgeTaskOrder, PurgeTaskOutcome } from './purge/purge-orders.ts'
import { doTask } from './purge/do-task.ts'

/**
 * A process for what a purge does to files: it never has the mirror open while it reads that file's bytes. What was begun
 * when it ended is ended by the next start.
 */
obeyOneOrder<PurgeTaskOrder, never, PurgeTaskOutcome>({
  priority: constants.priority.PRIORITY_BELOW_NORMAL,
  hint: 'Try again.',
  obey: doTask,
})
