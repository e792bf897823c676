import type { Worker } from 'node:worker_threads'
import { mirrorDamaged } from '../../mirror/damage/find-damage.ts'
import { UserError } from '../../model/user-error.ts'
import { stopped } from '../executor/executor.ts'
import { deferred, type Deferred } from '../deferred.ts'
import type { FromWorker, OpenedMirror, StepNews, ToWorker, WriterOutcome, WriterSetup } from './messages.ts'
import { diskFull, isOfFullDisk, writerActs, type SendOrder, type Writer } from './writer.ts'

export interface ThreadWriter extends Writer {
  /** Resolves when the mirror is open and migrated. @throws UserError if it cannot be opened */
  readonly opened: Promise<OpenedMirror>
}

/** A writer on a separate thread. @param worker not used yet @param onError is told of each failure: it may be damage */
export function threadWriter(
  worker: Worker,
  setup: WriterSetup,
  onStep: (step: StepNews) => void,
  onError: (error: UserError) => void,
): ThreadWriter {
  worker.postMessage(setup)
  const opened = deferred<OpenedMirror>()
  let running: Deferred<WriterOutcome> | null = null
  let last: Promise<unknown> = Promise.resolve()
  let isStopping = false

  const fail = (error: UserError): void => {
    onError(error)
    opened.reject(error)
    running?.reject(error)
    running = null
  }
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'open') opened.resolve(message)
    else if (message.kind === 'step') onStep(message.step)
    else if (message.kind === 'failed') fail(errorOf(message, setup.mirrorPath))
    else {
      running?.resolve(message.outcome)
      running = null
    }
  })
  worker.on('error', (error) =>
    fail(new UserError('ingest-died', error.message, 'Restart the daemon.', { cause: error })),
  )
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      if (!isStopping) fail(new UserError('ingest-died', 'The indexing thread ended.', 'Restart the daemon.'))
      running?.reject(stopped())
      resolve()
    })
  })
  const send: SendOrder = (order) => {
    const asked = last.then(() => {
      if (isStopping) throw stopped()
      running = deferred()
      worker.postMessage(order)
      return running.promise
    })
    last = asked.catch(() => undefined)
    return asked
  }
  return {
    ...writerActs(send),
    opened: opened.promise,
    async stop() {
      isStopping = true
      worker.postMessage({ kind: 'stop' } satisfies ToWorker)
      await exited
    },
  }
}

type Failure = FromWorker & { readonly kind: 'failed' }

function errorOf({ code, message, hint, isDamage }: Failure, mirrorPath: string): UserError {
  if (isOfFullDisk(code)) return diskFull(mirrorPath)
  if (isDamage) return mirrorDamaged(message)
  return new UserError(code, message, hint ?? 'See the earlier lines of the log.')
}
