import type { Worker } from 'node:worker_threads'
import type { UsageFileText, UsageOutcome } from '../../api/context.ts'
import type { PassStep } from '../../indexer/source.ts'
import { isDamage, mirrorDamaged } from '../../mirror/damage/find-damage.ts'
import type { SalvageNotice } from '../../mirror/damage/replace-mirror.ts'
import type { Loss } from '../../model/chat.ts'
import type { ChatId, MessageId, SourceId } from '../../model/ids.ts'
import type { PassEnd, PassOrder, PendingLoss } from '../../model/pass.ts'
import { UserError } from '../../model/user-error.ts'
import { disabledKindsOf, type Settings } from '../../settings.ts'
import { mirrorPath } from '../data-folder.ts'
import { deferred, Turns, type Deferred } from '../deferred.ts'
import { stopped } from '../executor/executor.ts'
import type { HubWrite, HubWritten } from '../hub/write-hub.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from '../purge/purging.ts'
import type { RestoredPart, RestorePart } from '../restore.ts'

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
  mirrorPath: mirrorPath(settings.dataDir),
  archiveDir: settings.archives.dir,
  ...settings.cursor,
  disabledKinds: disabledKindsOf(settings),
  excludedProjects: settings.exclude.projects,
  isEstimating: settings.tokens.estimate,
})

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
}

/** A message to the thread, which answers each with an outcome or a failure. */
export type WriterOrder = {
  [Act in keyof Writer]: { readonly act: Act; readonly order: Parameters<Writer[Act]>[0] }
}[keyof Writer]
export type WriterOutcome = Awaited<ReturnType<Writer[keyof Writer]>>

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

/** A step of an act, and what it wrote. */
export interface StepNews extends Omit<PassStep, 'outcome'> {
  readonly chatIds: readonly ChatId[]
  readonly messages: readonly { readonly id: MessageId; readonly chatId: ChatId }[]
  /** The first losses. */
  readonly losses: readonly Loss[]
  /** How many more there are. */
  readonly moreLosses: number
}

export interface OpenedMirror {
  /** What was saved of a damaged mirror when it was opened, as sentences. */
  readonly news: string | null
  /** What happened to damaged mirrors whose files are still there. */
  readonly notices: readonly SalvageNotice[]
}

export type FromWriter =
  | ({ readonly kind: 'open' } & OpenedMirror)
  | { readonly kind: 'step'; readonly step: StepNews }
  | { readonly kind: 'done'; readonly outcome: WriterOutcome }
  | ThreadFailure

/** Why an act of a thread failed, as it crosses to the other threads. */
export interface ThreadFailure {
  readonly kind: 'failed'
  readonly code: string
  readonly message: string
  readonly hint: string | null
  /** Whether the mirror's own file is damaged. */
  readonly isDamage: boolean
}

export const threadFailure = (error: unknown): ThreadFailure => ({
  kind: 'failed',
  code: error instanceof Error && 'code' in error ? String(error.code) : 'fault',
  message: error instanceof Error ? error.message : String(error),
  hint: error instanceof UserError ? error.hint : null,
  isDamage: isDamage(error),
})

/** @param what stands before the message of an error that is none of ours */
export function errorOfThread(failure: ThreadFailure, mirrorPath: string, what = ''): UserError {
  const { code, message, hint } = failure
  if (isOfFullDisk(code)) return diskFull(mirrorPath)
  if (failure.isDamage) return mirrorDamaged(message)
  if (hint !== null) return new UserError(code, message, hint)
  return new UserError(code, what === '' ? message : `${what}${message}.`, 'See the earlier lines of the log.')
}

/** The writer on its thread, as the other threads see it. */
export class ThreadWriter implements Writer {
  readonly run = (order: RunOrder) => this.#send<RunOutcome>({ act: 'run', order })
  readonly importUsage = (order: UsageFileText) => this.#send<UsageOutcome>({ act: 'importUsage', order })
  readonly restore = (order: RestorePart) => this.#send<RestoredPart>({ act: 'restore', order })
  readonly purge = (order: MirrorPurgeOrder) => this.#send<MirrorPurgeOutcome>({ act: 'purge', order })
  readonly hub = (order: HubWrite) => this.#send<HubWritten>({ act: 'hub', order })
  /** Resolves when the mirror is open and migrated. @throws UserError if it cannot be opened */
  readonly opened: Promise<OpenedMirror>
  readonly #opened = deferred<OpenedMirror>()
  readonly #worker: Worker
  readonly #exited: Promise<void>
  readonly #fail: (error: UserError) => void
  #running: Deferred<WriterOutcome> | null = null
  readonly #turns = new Turns()
  #isStopping = false

  /** @param worker not used yet @param onError is told of each failure: it may be damage */
  constructor(
    worker: Worker,
    setup: WriterSetup,
    onStep: (step: StepNews) => void,
    onError: (error: UserError) => void,
  ) {
    this.#worker = worker
    this.opened = this.#opened.promise
    this.#fail = (error) => {
      onError(error)
      this.#opened.reject(error)
      this.#running?.reject(error)
      this.#running = null
    }
    worker.on('message', (message: FromWriter) => {
      if (message.kind === 'open') this.#opened.resolve(message)
      else if (message.kind === 'step') onStep(message.step)
      else if (message.kind === 'failed') this.#fail(errorOfThread(message, setup.mirrorPath))
      else {
        this.#running?.resolve(message.outcome)
        this.#running = null
      }
    })
    worker.on('error', (error) => this.#fail(died(error.message, error)))
    const exited = deferred<void>()
    this.#exited = exited.promise
    worker.on('exit', () => {
      if (!this.#isStopping) this.#fail(died('The indexing thread ended.'))
      this.#running?.reject(stopped())
      exited.resolve()
    })
    worker.postMessage(setup)
  }

  /** Ends a running act at its next step and closes the mirror. What was waiting is rejected with `stopped`. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#worker.postMessage('stop')
    await this.#exited
  }

  #send<Outcome extends WriterOutcome>(order: WriterOrder): Promise<Outcome> {
    return this.#turns.run(async () => {
      if (this.#isStopping) throw stopped()
      this.#running = deferred()
      this.#worker.postMessage(order)
      // The outcome is that of the order's act.
      return this.#running.promise as Promise<Outcome>
    })
  }
}

const died = (message: string, cause?: Error): UserError =>
  new UserError('ingest-died', message, 'Restart the daemon.', { cause })

/** True for the codes of SQLite and the system for a full disk or an exceeded quota, and for our own. */
export const isOfFullDisk = (code: string): boolean =>
  /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT|disk-full)$/.test(code)

/** @param place the file or folder that could not be written */
export const diskFull = (place: string, cause?: unknown): UserError =>
  new UserError('disk-full', `The disk that holds ${place} is full.`, 'Make room and try again.', { cause })
