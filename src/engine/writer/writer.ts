import type { Worker } from 'node:worker_threads'
import type { MergeOrder } from '../../api/context.ts'
import type { UsageImport } from '../../mirror/usage/usage-events.ts'
import type { PassStep } from '../../indexer/source.ts'
import type { SalvageNotice } from '../../mirror/damage/replace-mirror.ts'
import type { SourceId } from '../../model/ids.ts'
import type { PassEnd, PassOrder, PendingLoss } from '../../model/pass.ts'
import type { UserError } from '../../model/user-error.ts'
import { disabledKindsOf, type Settings } from '../../settings.ts'
import { mirrorPath as pathOf } from '../data-folder.ts'
import type { HubWrite, HubWritten } from '../hub/write-hub.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from '../purge/purging.ts'
import type { RestoredPart, RestorePart } from '../restore.ts'
import { OwnThread } from './own-thread.ts'

/** Where the mirror and Cursor's files are. */
export interface WriterSetup {
  readonly mirrorPath: string
  /** Archives know how many bars of purges there were. */
  readonly archiveDir?: string
  readonly userDirs: readonly string[]
  readonly homes: readonly string[]
  readonly disabledKinds: readonly string[]
  /** Names, ids and path globs of projects that are not mirrored. */
  readonly excludedProjects?: readonly string[]
  /** Whether messages get an estimate of their tokens; true by default. */
  readonly isEstimating?: boolean
}

/** The mirror, and where Cursor is, as the settings say. */
export const writerSetup = (settings: Settings): WriterSetup => ({
  mirrorPath: pathOf(settings.dataDir),
  archiveDir: settings.archives.dir,
  ...settings.cursor,
  disabledKinds: disabledKindsOf(settings),
  excludedProjects: settings.exclude.projects,
  isEstimating: settings.tokens.estimate,
})

/** What the only writer of the mirror does: the order and the outcome of each act. */
interface Acts {
  readonly run: (order: RunOrder) => RunOutcome
  /** @throws UserError `bad-csv`, `bad-columns`, `bad-cell` if the file cannot be read. Then nothing is saved */
  readonly importUsage: (text: string) => UsageImport
  /** @returns how many chats moved, subagents too */
  readonly merge: (order: MergeOrder) => { readonly chats: number }
  /** Restores a part of an archive. */
  readonly restore: (part: RestorePart) => RestoredPart
  readonly purge: (order: MirrorPurgeOrder) => MirrorPurgeOutcome
  readonly hub: (order: HubWrite) => HubWritten
}

export type WriterOutcome = ReturnType<Acts[keyof Acts]>

/** A message to the thread, which answers each with an outcome or a failure. */
export type WriterOrder = {
  [Act in keyof Acts]: { readonly act: Act; readonly order: Parameters<Acts[Act]>[0] }
}[keyof Acts]

/** It does one thing at a time. The next one waits. */
export interface Writer {
  /** @throws UserError with SQLite's code if the mirror cannot be written, `mirror-damaged` if its file is damaged */
  act<Act extends keyof Acts>(act: Act, order: Parameters<Acts[Act]>[0]): Promise<ReturnType<Acts[Act]>>
}

export interface RunOrder {
  readonly sources: readonly PassOrder[]
  /** After the sources are read: how long to do deferred work. */
  readonly backlogMs: number
}

export interface SourceEnd extends PassEnd {
  readonly id: SourceId
  readonly kind: string
  readonly path: string
  /** Set if so many rows are missing that they do not count as deleted yet. */
  readonly pendingLoss: PendingLoss | null
}

export interface RunOutcome {
  readonly changed: number
  readonly added: number
  readonly gone: number
  readonly ends: readonly SourceEnd[]
  /** How many chats wait to be counted or placed. */
  readonly backlog: number
}

export interface OpenedMirror {
  /** What was saved of a damaged mirror when it was opened, as sentences. */
  readonly news: string | null
  /** What happened to damaged mirrors whose files are still there. */
  readonly notices: readonly SalvageNotice[]
}

export interface ThreadWriter extends Writer {
  /** Resolves when the mirror is open and migrated. @throws UserError if it cannot be opened */
  readonly opened: Promise<OpenedMirror>
  /** Ends a running act at its next step and closes the mirror. What was waiting is rejected with `stopped`. */
  stop(): Promise<void>
}

/** The writer on its thread. @param worker not used yet @param onError is told of each failure: it may be damage */
export function threadWriter(
  worker: Worker,
  setup: WriterSetup,
  onStep: (step: PassStep) => void,
  onError: (error: UserError) => void,
): ThreadWriter {
  const { mirrorPath } = setup
  const thread = new OwnThread<PassStep>({ mirrorPath, failed: '', diedCode: 'ingest-died', onStep, onError })
  thread.run(worker)
  thread.tell(setup)
  return {
    opened: thread.opened as Promise<OpenedMirror>,
    // The outcome is that of the order's act.
    act: (act, order) => thread.ask({ act, order }) as Promise<never>,
    stop: () => thread.stop(),
  }
}
