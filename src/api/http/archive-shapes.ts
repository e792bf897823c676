import type { LeftOutChat } from '../../archive/manifest.ts'
import type { Scope } from '../archives/scope.ts'
import type { DamagedRun } from '../archives/verify-archive.ts'

/** A run, as it is told. */
export interface ArchiveRun {
  readonly name: string
  readonly createdAt: string | null
  readonly scope: unknown
  readonly job: string | null
  /** Null until it is made. */
  readonly chats: number | null
  readonly messages: number | null
  readonly bytes: number | null
  /** Chats that are not in it as they were then, and why; of each it may hold what was archived before. */
  readonly leftOut: readonly LeftOutChat[]
  readonly sha256: string | null
  readonly state: 'running' | 'verified' | 'damaged' | 'failed'
  /** When it was last read back and compared. */
  readonly provenAt: string | null
  readonly error: string | null
  /** How far it is, while it is being made or verified. */
  readonly progress: { readonly done: number; readonly total: number } | null
}

export interface ArchiveVerdict {
  /** Whether all that was read of the folder is as it was archived. */
  readonly ok: boolean
  /** Whether the archive that was named is, and all of it was read. */
  readonly isSound: boolean
  readonly checked: number
  readonly damaged: readonly string[]
  readonly damagedRuns: readonly DamagedRun[]
  readonly leftovers: readonly string[]
  readonly unexpected: readonly string[]
}

/** What is to be brought back. */
export interface RestoreRequest {
  /** `newest`: everything that any run of the folder names, of each chat the newest. */
  readonly name: string
  /** An archive folder that was brought from elsewhere, absolute; null for this program's own. */
  readonly from: string | null
  /** Folders as they were called there, and what they are called here. */
  readonly map: Readonly<Record<string, string>>
}

export interface ArchiveRestored {
  /** The run that was read, or the newest of them. */
  readonly name: string
  /** How many there were to be read: more than one where none was named. */
  readonly runs: number
  /** False where something of it is damaged. */
  readonly ok: boolean
  /** Chats that are undamaged, and their messages. */
  readonly chats: number
  readonly messages: number
  /** Messages, and chats, that the mirror did not hold. */
  readonly added: number
  readonly addedChats: number
  /** Ids of the chats that are damaged. */
  readonly damaged: readonly string[]
  /** What is wrong with manifests, of which runs where none was named; null where they are sound. */
  readonly manifest: string | null
  /** Folders of the map, as they were given, that fitted no chat of the archive. */
  readonly unusedMaps: readonly string[]
}

/** How the archives are, for `/api/status`. */
export interface ArchiveHealth {
  readonly running: string | null
  /** What is being done now, and how far it is. */
  readonly atWork: {
    readonly name: string
    readonly act: 'run' | 'verify' | 'restore'
    readonly done: number
    readonly total: number
  } | null
  readonly lastRunAt: string | null
  readonly nextRunAt: string | null
  /** Jobs whose last run failed, and when they are tried again. */
  readonly failed: readonly {
    readonly job: string
    readonly error: string
    readonly failures: number
    readonly retryAt: string | null
  }[]
}

/** The acts on archives; whoever has them runs one at a time. */
export interface ArchiveActs {
  /**
   * Begins a run of what the scope holds.
   * @param timeZone in which its dates are read
   * @throws UserError `archive-busy` where too many wait
   */
  run(scope: Scope, timeZone: string): ArchiveRun
  /** The newest first. */
  list(): readonly ArchiveRun[]
  get(name: string): ArchiveRun | null
  /** Resolves when every byte, or the share of the objects, was read. */
  verify(name: string, share: number): Promise<ArchiveVerdict>
  /**
   * Resolves when all that is undamaged is back and can be found.
   * @throws UserError `bad-map`, `archive-not-found`, `archive-busy`
   */
  restore(request: RestoreRequest): Promise<ArchiveRestored>
  health(): ArchiveHealth
}
