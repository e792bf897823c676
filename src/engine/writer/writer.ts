import type { UsageFileText, UsageOutcome } from '../../api/http/api-context.ts'
import type { Estimate } from '../../mirror/usage/estimates.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from '../purge/purge-orders.ts'
import type { RestoreOrder, RestoreResult } from '../restore.ts'
import type {
  RestoreSlice,
  RunOrder,
  RunOutcome,
  UpkeepOutcome,
  UpkeepTask,
  WriterOrder,
  WriterOutcome,
} from './messages.ts'

/** The one writer of the mirror. It does one thing at a time; the next waits. */
export interface Writer {
  /** @throws UserError with SQLite's code if the mirror cannot be written, `mirror-damaged` if its file is damaged */
  run(order: RunOrder): Promise<RunOutcome>
  keep(task: UpkeepTask): Promise<UpkeepOutcome>
  /** @returns how many were kept: those of messages that have not changed since they were counted */
  saveEstimates(estimates: readonly Estimate[]): Promise<number>
  /** @throws UserError `bad-csv`, `bad-columns`, `bad-cell` if the file cannot be read. Nothing of it is kept then */
  importUsage(file: UsageFileText): Promise<UsageOutcome>
  /**
   * Reads an archive back, in parts between which other orders run.
   * @throws UserError if the archive cannot be read or the mirror not written
   */
  restore(order: RestoreOrder, onSlice: (slice: RestoreSlice) => void): Promise<RestoreResult>
  purge(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** Ends a running pass at its next step and closes the mirror. */
  stop(): Promise<void>
}

/** How long a restore may keep new messages waiting, in milliseconds. */
const RESTORE_MS = 200

export type SendOrder = (order: WriterOrder) => Promise<WriterOutcome>

/** All acts of a writer, by how an order is carried out. */
export function writerActs(send: SendOrder): Omit<Writer, 'stop'> {
  // An order is answered with an outcome of its kind.
  const ask = <Outcome extends WriterOutcome>(order: WriterOrder): Promise<Outcome> => send(order) as Promise<Outcome>
  return {
    run: (order) => ask<RunOutcome>(order),
    keep: (task) => ask<UpkeepOutcome>({ kind: 'upkeep', task }),
    saveEstimates: (estimates) => ask<number>({ kind: 'estimates', estimates }),
    importUsage: (file) => ask<UsageOutcome>({ kind: 'usage', file }),
    async restore(wanted, onSlice) {
      for (let order: RestoreOrder | null = wanted; ; order = null) {
        const slice = await ask<RestoreSlice>({ kind: 'restore', order, forMs: RESTORE_MS })
        onSlice(slice)
        if (slice.result !== null) return slice.result
      }
    },
    purge: (order) => ask<MirrorPurgeOutcome>({ kind: 'purge', order }),
  }
}
