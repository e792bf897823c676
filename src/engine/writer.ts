import type { Worker } from 'node:worker_threads'
import type { UsageFileText, UsageOutcome } from '../api/http/world.ts'
import type { Estimate } from '../mirror/usage/estimates.ts'
import { mirrorDamaged } from '../mirror/maintenance/check-pages.ts'
import { UserError } from '../model/user-error.ts'
import { deferred, type Deferred } from './deferred.ts'
import { diskFull, isOfFullDisk } from './disk-full.ts'
import type {
  FromWorker,
  IngestSetup,
  RunOrder,
  RunOutcome,
  StepNews,
  ToWorker,
  UpkeepOutcome,
  UpkeepTask,
  WriteOutcome,
} from './writer-messages.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from './purge/purge-orders.ts'
import type { RestoreOrder, RestoreResult, RestoreSlice } from './restore/restore-orders.ts'

/** The ingest worker as the rest of the daemon sees it: one thing at a time, the next waits. */
export interface Ingest {
  /** Resolves when the mirror is open and migrated. @throws UserError when it cannot be opened */
  readonly opened: Promise<void>
  /** @throws UserError with SQLite's code when the mirror could not be written, `mirror-damaged` when its file is wrong */
  run(order: RunOrder): Promise<RunOutcome>
  keep(task: UpkeepTask): Promise<UpkeepOutcome>
  /** @returns how many were kept, for messages that are still what was counted */
  saveEstimates(estimates: readonly Estimate[]): Promise<number>
  /** @throws UserError where the file cannot be read */
  importUsage(file: UsageFileText): Promise<UsageOutcome>
  /**
   * Brings back what an archive remembers, in stretches between which passes are let in.
   * @throws UserError where the archive cannot be read, or the mirror not written
   */
  restore(order: RestoreOrder, onSlice: (slice: RestoreSlice) => void): Promise<RestoreResult>
  purge(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** Ends a running pass at its next step and closes the mirror. */
  stop(): Promise<void>
}

/** So long new messages wait at most for a restore. */
const RESTORE_MS = 200

type Outcome = RunOutcome | UpkeepOutcome | WriteOutcome | MirrorPurgeOutcome

/** @param worker started, and not yet told anything */
export function startIngest(worker: Worker, setup: IngestSetup, onStep: (step: StepNews) => void): Ingest {
  worker.postMessage(setup)
  const opened = deferred<void>()
  let running: Deferred<Outcome> | null = null
  let last: Promise<unknown> = Promise.resolve()
  let isStopping = false

  const fail = (trouble: UserError): void => {
    opened.reject(trouble)
    running?.reject(trouble)
    running = null
  }
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'open') opened.resolve()
    else if (message.kind === 'step') onStep(message.step)
    else if (message.kind === 'failed') fail(troubleOf(message, setup.mirrorPath))
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
  /** The answer to an order is of the order's kind. */
  const order = <Kind extends Outcome>(message: ToWorker): Promise<Kind> => {
    const asked = last.then(() => {
      if (isStopping) throw stopped()
      running = deferred()
      worker.postMessage(message)
      return running.promise
    })
    last = asked.catch(() => undefined)
    return asked as Promise<Kind>
  }
  return {
    opened: opened.promise,
    run: (message) => order<RunOutcome>(message),
    keep: (task) => order<UpkeepOutcome>({ kind: 'upkeep', task }),
    saveEstimates: (estimates) => order<number>({ kind: 'estimates', estimates }),
    importUsage: (file) => order<UsageOutcome>({ kind: 'usage', file }),
    async restore(wanted, onSlice) {
      for (let begun: RestoreOrder | null = wanted; ; begun = null) {
        const slice = await order<RestoreSlice>({ kind: 'restore', order: begun, forMs: RESTORE_MS })
        onSlice(slice)
        if (slice.result !== null) return slice.result
      }
    },
    purge: (given) => order<MirrorPurgeOutcome>({ kind: 'purge', order: given }),
    async stop() {
      isStopping = true
      worker.postMessage({ kind: 'stop' } satisfies ToWorker)
      await exited
    },
  }
}

const stopped = (): UserError => new UserError('stopped', 'The daemon is stopping.', 'Start it again.')

type Failure = FromWorker & { readonly kind: 'failed' }

function troubleOf({ code, message, hint, damage }: Failure, mirrorPath: string): UserError {
  if (isOfFullDisk(code)) return diskFull(mirrorPath)
  if (damage !== 'none') return mirrorDamaged(message, damage)
  return new UserError(code, message, hint ?? 'See the log for what went before.')
}
