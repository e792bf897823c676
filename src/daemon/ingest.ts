import { Worker } from 'node:worker_threads'
import { Trouble } from '../model/trouble.ts'
import { deferred, type Deferred } from './deferred.ts'
import { holdYoungSpace, ingestHeapLimits, prepareIngestHeap } from './heap-limits.ts'
import type { FromWorker, IngestSetup, RunOrder, RunOutcome, StepNews, ToWorker } from './ingest-messages.ts'

/** The ingest worker as the rest of the daemon sees it: one run at a time. */
export interface Ingest {
  /** Resolves when the mirror is open and migrated. @throws Trouble when it cannot be opened */
  readonly opened: Promise<void>
  /** @throws Trouble with SQLite's code when the mirror could not be written */
  run(order: RunOrder): Promise<RunOutcome>
  /** Ends a running pass at its next step and closes the mirror. */
  stop(): Promise<void>
}

export function startIngest(setup: IngestSetup, onStep: (step: StepNews) => void): Ingest {
  prepareIngestHeap()
  const worker = new Worker(new URL('./ingest-worker.js', import.meta.url), {
    workerData: setup,
    resourceLimits: ingestHeapLimits,
  })
  worker.once('online', holdYoungSpace)
  const opened = deferred<void>()
  let running: Deferred<RunOutcome> | null = null
  let isStopping = false

  const fail = (trouble: Trouble): void => {
    opened.reject(trouble)
    running?.reject(trouble)
    running = null
  }
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'open') opened.resolve()
    else if (message.kind === 'step') onStep(message.step)
    else if (message.kind === 'failed') {
      fail(new Trouble(message.code, message.message, message.hint ?? 'See the log for what went before.'))
    } else {
      running?.resolve(message.outcome)
      running = null
    }
  })
  worker.on('error', (error) =>
    fail(new Trouble('ingest-died', error.message, 'Restart the daemon.', { cause: error })),
  )
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      if (!isStopping) fail(new Trouble('ingest-died', 'The indexing thread ended.', 'Restart the daemon.'))
      running?.reject(new Trouble('stopped', 'The daemon is stopping.', 'Start it again.'))
      resolve()
    })
  })
  return {
    opened: opened.promise,
    run(order) {
      if (running !== null) throw new Error('a run is under way')
      running = deferred<RunOutcome>()
      worker.postMessage(order satisfies ToWorker)
      return running.promise
    },
    async stop() {
      isStopping = true
      worker.postMessage({ kind: 'stop' } satisfies ToWorker)
      await exited
    },
  }
}
