import type { ArchivePurge, ArchiveSurvey } from '../../api/archives/purge-archive.ts'
import type { ArchivedTargets } from '../../mirror/purge/begin-purge.ts'
import type { MirrorPlan } from '../../mirror/purge/plan-purge.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import type { Unfinished } from '../../mirror/purge/state.ts'
import type { ScanOrder, ScanOutcome } from './byte-scan.ts'

/** What a separate process does for a purge: everything about files other than the mirror. */
export interface PurgeTasks {
  readonly survey: {
    readonly order: {
      readonly dir: string
      readonly mirrorPath: string
      readonly scope: PurgeScope
      /** Chats that the mirror removes as a whole. */
      readonly chatIds: readonly string[]
    }
    readonly outcome: ArchiveSurvey
  }
  readonly rewrite: {
    readonly order: { readonly dir: string; readonly mirrorPath: string; readonly match: string | null }
    readonly outcome: ArchivePurge
  }
  readonly search: { readonly order: ScanOrder; readonly outcome: ScanOutcome }
}

export type PurgeTask = keyof PurgeTasks

export type PurgeTaskOrder = {
  readonly [Task in PurgeTask]: { readonly task: Task; readonly order: PurgeTasks[Task]['order'] }
}[PurgeTask]

export type PurgeTaskOutcome = PurgeTasks[PurgeTask]['outcome']

/** What the mirror's only writer does for a purge, in this order. */
export type MirrorPurgeOrder =
  | { readonly act: 'plan'; readonly scope: PurgeScope }
  | { readonly act: 'remove'; readonly scope: PurgeScope; readonly archived: ArchivedTargets }
  /** Finishes a purge that was interrupted. */
  | { readonly act: 'resume' }
  /** Notes that the archives are rewritten. */
  | { readonly act: 'archived' }
  | { readonly act: 'compact' }

/** Each act fills the fields that concern it. */
export interface MirrorPurgeOutcome {
  readonly plan: MirrorPlan | null
  /** Why the mirror's file could not be rewritten: the disk is full, or a reader uses it. */
  readonly left: 'nothing' | 'disk-full' | 'reader'
  readonly unfinished: Unfinished
  readonly setAside: readonly string[]
}

/** Does one task, in a process of its own. @param signal ends it */
export type DoPurgeTask = <Task extends PurgeTask>(
  task: Task,
  order: PurgeTasks[Task]['order'],
  signal: AbortSignal,
) => Promise<PurgeTasks[Task]['outcome']>
