import { setImmediate as others } from 'node:timers/promises'
import { archiveAct } from './archive-act.ts'
import type { StartArchiveWork } from './archive-process.ts'

/** Obeys in this process, letting others at it in between: for a command that runs without a daemon. */
export const startArchiveHere: StartArchiveWork = (order, onProgress) => {
  let isStopped = false
  const obey = async () => {
    const act = archiveAct(order)
    for (;;) {
      const step = isStopped ? await act.return(Promise.reject(new Error('stopped'))) : await act.next()
      if (step.done === true) return step.value
      onProgress(step.value)
      await others()
    }
  }
  return { result: obey(), stop: () => void (isStopped = true) }
}
