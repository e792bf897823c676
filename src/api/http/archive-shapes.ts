import type { Scope } from '../archives/scope.ts'
import type { ArchiveRun, ArchiveVerdict, ArchiveRestored, ArchiveHealth } from './schemas/archives.ts'

/** What to restore. */
export interface RestoreRequest {
  /** `newest`: the newest state of every chat that any run of the folder names. */
  readonly name: string
  /** Absolute path of an archive folder from another machine; null for this program's own. */
  readonly from: string | null
  /** Folders on the other machine, and their paths on this one. */
  readonly map: Readonly<Record<string, string>>
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
  /** Resolves when every byte was read. */
  verify(name: string): Promise<ArchiveVerdict>
  /**
   * Resolves when everything undamaged is restored and searchable.
   * @throws UserError `bad-map`, `archive-not-found`, `archive-busy`
   */
  restore(request: RestoreRequest): Promise<ArchiveRestored>
  health(): ArchiveHealth
}
