import type { LeftOutChat } from '../../archive/manifest.ts'
import type { Scope } from '../archives/scope.ts'
import type { DamagedRun } from '../archives/verify-archive.ts'

/** An archive run, as the API shows it. */
export interface ArchiveRun {
  readonly name: string
  readonly createdAt: string | null
  readonly scope: unknown
  readonly job: string | null
  /** Null until the run is done. */
  readonly chats: number | null
  readonly messages: number | null
  readonly bytes: number | null
  /** Chats that could not be archived in their current state, and why. An earlier state may be included. */
  readonly leftOut: readonly LeftOutChat[]
  readonly sha256: string | null
  readonly state: 'running' | 'verified' | 'damaged' | 'failed'
  /** When the run was last read back and compared. */
  readonly provenAt: string | null
  readonly error: string | null
  /** Progress while the run is made or verified. */
  readonly progress: { readonly done: number; readonly total: number } | null
}

export interface ArchiveVerdict {
  /** Whether everything that was read in the folder is undamaged. */
  readonly ok: boolean
  /** Whether the named archive is undamaged and was read completely. */
  readonly isSound: boolean
  readonly checked: number
  readonly damaged: readonly string[]
  readonly damagedRuns: readonly DamagedRun[]
  readonly leftovers: readonly string[]
  readonly unexpected: readonly string[]
}

/** What to restore. */
export interface RestoreRequest {
  /** `newest`: the newest state of every chat that any run of the folder names. */
  readonly name: string
  /** Absolute path of an archive folder from another machine; null for this program's own. */
  readonly from: string | null
  /** Folders on the other machine, and their paths on this one. */
  readonly map: Readonly<Record<string, string>>
}

export interface ArchiveRestored {
  /** The run that was read, or the newest one. */
  readonly name: string
  /** How many runs were read: more than one for `newest`. */
  readonly runs: number
  /** False if any part is damaged. */
  readonly ok: boolean
  /** Undamaged chats, and their messages. */
  readonly chats: number
  readonly messages: number
  /** Messages and chats that were not in the mirror. */
  readonly added: number
  readonly addedChats: number
  /** Ids of the damaged chats. */
  readonly damaged: readonly string[]
  /** What is wrong with manifests, with the names of their runs for `newest`; null if they are undamaged. */
  readonly manifest: string | null
  /** Folders of the map, as given, that matched no chat of the archive. */
  readonly unusedMaps: readonly string[]
}

/** The state of the archives, for `/api/status`. */
export interface ArchiveHealth {
  readonly running: string | null
  /** The current act and its progress. */
  readonly atWork: {
    readonly name: string
    readonly act: 'run' | 'verify' | 'restore'
    readonly done: number
    readonly total: number
  } | null
  readonly lastRunAt: string | null
  readonly nextRunAt: string | null
  /** Jobs whose last run failed, and when each is retried. */
  readonly failed: readonly {
    readonly job: string
    readonly error: string
    readonly failures: number
    readonly retryAt: string | null
  }[]
}

/** What can be done with archives. Only one act runs at a time. */
export interface ArchiveActs {
  /**
   * Starts a run of the chats in the scope.
   * @param timeZone of the dates in the scope
   * @throws UserError `archive-busy` if too many runs wait
   */
  run(scope: Scope, timeZone: string): ArchiveRun
  /** The newest first. */
  list(): readonly ArchiveRun[]
  get(name: string): ArchiveRun | null
  /** Resolves when every byte, or the given share of the objects, was read. */
  verify(name: string, share: number): Promise<ArchiveVerdict>
  /**
   * Resolves when everything undamaged is restored and searchable.
   * @throws UserError `bad-map`, `archive-not-found`, `archive-busy`
   */
  restore(request: RestoreRequest): Promise<ArchiveRestored>
  health(): ArchiveHealth
}
