import type { UsageFileText, UsageOutcome } from '../../api/context.ts'
import { UserError } from '../../model/user-error.ts'
import type { HubWrite, HubWritten } from '../hub/write-hub.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from '../purge/purging.ts'
import type { RestoredPart, RestorePart } from '../restore.ts'
import type { RunOrder, RunOutcome, WriterOrder, WriterOutcome } from './messages.ts'

/** The only writer of the mirror. It does one thing at a time. The next one waits. */
export interface Writer {
  /** @throws UserError with SQLite's code if the mirror cannot be written, `mirror-damaged` if its file is damaged */
  run(order: RunOrder): Promise<RunOutcome>
  /** @throws UserError `bad-csv`, `bad-columns`, `bad-cell` if the file cannot be read. Then nothing is saved */
  importUsage(file: UsageFileText): Promise<UsageOutcome>
  /** Restores a part of an archive. @throws UserError if the mirror cannot be written */
  restore(part: RestorePart): Promise<RestoredPart>
  purge(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** @throws UserError if the mirror cannot be written */
  hub(order: HubWrite): Promise<HubWritten>
  /** Ends a running pass at its next step and closes the mirror. */
  stop(): Promise<void>
}

export type SendOrder = (order: WriterOrder) => Promise<WriterOutcome>

/** All acts of a writer, except `stop`. @param send executes an order */
export function writerActs(send: SendOrder): Omit<Writer, 'stop'> {
  // The outcome has the order's kind.
  const ask = <Outcome extends WriterOutcome>(order: WriterOrder): Promise<Outcome> => send(order) as Promise<Outcome>
  return {
    run: (order) => ask<RunOutcome>(order),
    importUsage: (file) => ask<UsageOutcome>({ kind: 'usage', file }),
    restore: (part) => ask<RestoredPart>({ kind: 'restore', part }),
    hub: (order) => ask<HubWritten>({ kind: 'hub', order }),
    purge: (order) => ask<MirrorPurgeOutcome>({ kind: 'purge', order }),
  }
}

/** True for the codes of SQLite and the system for a full disk or an exceeded quota, and for our own. */
export const isOfFullDisk = (code: string): boolean =>
  /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT|disk-full)$/.test(code)

/** @param place the file or folder that could not be written */
export const diskFull = (place: string, cause?: unknown): UserError =>
  new UserError('disk-full', `The disk that holds ${place} is full.`, 'Make room and try again.', { cause })
