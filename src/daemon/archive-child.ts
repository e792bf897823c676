import { constants, setPriority } from 'node:os'
import { Trouble } from '../model/trouble.ts'
import { archiveAct } from './archive-act.ts'
import type { ArchiveNews, ArchiveOrder } from './archive-orders.ts'

/** A process that makes one archive, or verifies, behind everything else that the machine has to do. */
setPriority(constants.priority.PRIORITY_LOW)
process.umask(0o077)
// The daemon is gone, however it ended; what was begun is removed by the next run.
process.on('disconnect', () => process.exit(0))
process.once('message', (order: ArchiveOrder) => {
  void obey(order)
})

async function obey(order: ArchiveOrder): Promise<void> {
  try {
    const act = archiveAct(order)
    for (;;) {
      const step = await act.next()
      if (step.done === true) return tell({ kind: 'result', result: step.value })
      process.send?.({ kind: 'progress', ...step.value } satisfies ArchiveNews)
    }
  } catch (error) {
    const isKnown = error instanceof Trouble
    const message = error instanceof Error ? error.message : String(error)
    const hint = isKnown ? error.hint : 'It is tried again.'
    tell({ kind: 'failed', code: isKnown ? error.code : 'fault', message, hint })
  }
}

/** The last word: the process ends once it is on its way. */
function tell(news: ArchiveNews): void {
  process.send?.(news, () => process.disconnect())
}
