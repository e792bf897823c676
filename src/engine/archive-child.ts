import { constants } from 'node:os'
import { archiveAct } from './archive-act.ts'
import type { ArchiveOrder, ArchiveResult } from './archive-orders.ts'
import type { Progress } from './archive-process.ts'
import { obeyOneOrder } from './obey-one-order.ts'

/**
 * A process that makes one archive, or verifies, behind everything else that the machine has to do. What was begun when
 * it ended is removed by the next run.
 */
obeyOneOrder<ArchiveOrder, Progress, ArchiveResult>({
  priority: constants.priority.PRIORITY_LOW,
  hint: 'It is tried again.',
  async obey(order, onProgress) {
    const act = archiveAct(order)
    for (;;) {
      const step = await act.next()
      if (step.done === true) return step.value
      onProgress(step.value)
    }
  },
})
