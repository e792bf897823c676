import { constants, setPriority } from 'node:os'
import { Trouble } from '../model/trouble.ts'
import type { PurgeNews, PurgeTaskOrder } from './purge/purge-orders.ts'
import { doTask } from './purge/do-task.ts'

/** A process for what a purge does to files: it never has the mirror open while it reads that file's bytes. */
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.umask(0o077)
// Who asked is gone, however it ended; what was begun is ended by the next start.
process.on('disconnect', () => process.exit(0))
process.once('message', (order: PurgeTaskOrder) => {
  void obey(order)
})

async function obey(order: PurgeTaskOrder): Promise<void> {
  try {
    tell({ kind: 'outcome', outcome: await doTask(order) })
  } catch (error) {
    const isKnown = error instanceof Trouble
    const message = error instanceof Error ? error.message : String(error)
    tell({ kind: 'failed', code: isKnown ? error.code : 'fault', message, hint: isKnown ? error.hint : 'Try again.' })
  }
}

/** The last word: the process ends once it is on its way. */
function tell(news: PurgeNews): void {
  process.send?.(news, () => process.disconnect())
}
