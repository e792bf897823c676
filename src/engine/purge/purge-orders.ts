import type { ArchivePurge } from '../../api/archives/purge/rewrite-archive.ts'
import type { ArchiveSurvey } from '../../api/archives/purge/survey-archive.ts'
import type { ArchivedTargets } from '../../mirror/purge/begin-purge.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import type { ChatId } from '../../model/ids.ts'
import type { Unfinished } from '../../mirror/purge/state.ts'
import type { RawOrder, RawOutcome } from './byte-scan.ts'

export interface SurveyOrder {
  readonly dir: string
  readonly mirrorPath: string
  readonly scope: PurgeScope
  /** Chats that go whole by what the mirror holds. */
  readonly chatIds: readonly string[]
}

/** What a process of the purge is asked to do: everything about files that are not the mirror's own affair. */
export interface PurgeTasks {
  readonly survey: {
    readonly order: SurveyOrder
    readonly outcome: ArchiveSurvey
  }
  /** Takes a text out of the scopes of runs; answered with the names of those that held it. */
  readonly strike: {
    readonly order: { readonly dir: string; readonly match: string }
    readonly outcome: readonly string[]
  }
  readonly rewrite: {
    readonly order: { readonly dir: string; readonly mirrorPath: string; readonly match: string | null }
    readonly outcome: ArchivePurge
  }
  readonly search: { readonly order: RawOrder; readonly outcome: RawOutcome }
}

export type PurgeTask = keyof PurgeTasks

/** `task` says which order it is. */
export type PurgeTaskOrder = {
  readonly [Task in PurgeTask]: { readonly task: Task; readonly order: PurgeTasks[Task]['order'] }
}[PurgeTask]

export type PurgeTaskOutcome = PurgeTasks[PurgeTask]['outcome']

/** What the mirror's one writer is asked to do, in this order. */
export type MirrorPurgeOrder =
  /** `goingOn` as the archive knows. */
  | { readonly act: 'plan'; readonly scope: PurgeScope; readonly goingOn: readonly ChatId[] }
  | { readonly act: 'remove'; readonly scope: PurgeScope; readonly archived: ArchivedTargets }
  /** Ends what was cut short. */
  | { readonly act: 'resume' }
  | { readonly act: 'archived' }
  | { readonly act: 'compact' }
  | { readonly act: 'held'; readonly pieces: readonly string[] }

export interface PlannedChat {
  readonly id: string
  readonly title: string
  /** True where nothing of it stays. */
  readonly isWhole: boolean
  /** Of its messages so many go. */
  readonly messages: number
}

export interface MirrorPlan {
  /** The first of those of which something goes. */
  readonly chats: readonly PlannedChat[]
  readonly chatCount: number
  readonly wholeChatIds: readonly string[]
  readonly messages: number
  /** Of these Cursor holds so many still. */
  readonly inCursor: number
  /** Names, summaries, todos and paths of chats that hold the text. */
  readonly facts: number
  /** Damaged mirrors that were set aside. */
  readonly setAside: readonly string[]
  /** Chats that were named, and that are not known here. */
  readonly unknownChats: readonly string[]
}

/** Everything such an order may be answered with; each act fills what it is for. */
export interface MirrorPurgeOutcome {
  readonly plan: MirrorPlan | null
  /** Pieces of what was removed, or of those asked for the ones that are held still. */
  readonly pieces: readonly string[]
  readonly terms: readonly string[]
  /** What is left to be done: nothing, the disk is full, or a reader is in the way. */
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
