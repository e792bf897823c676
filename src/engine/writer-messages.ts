import type { UsageFileText, UsageOutcome } from '../api/http/api-context.ts'
import type { PendingLoss } from '../indexer/mass-loss.ts'
import type { Again, PassDepth } from '../indexer/source.ts'
import type { Damage } from '../mirror/maintenance/check-pages.ts'
import type { Estimate } from '../mirror/usage/estimates.ts'
import type { ChatId, MessageId, SourceId } from '../model/ids.ts'
import type { Loss } from '../model/loss.ts'
import type { SourceState } from '../model/source.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from './purge/purge-orders.ts'
import type { RestoreOrder, RestoreSlice } from './restore/restore-orders.ts'

/** What the ingest worker is started with. */
export interface IngestSetup {
  readonly mirrorPath: string
  readonly userDirs: readonly string[]
  readonly homes: readonly string[]
  readonly disabledKinds: readonly string[]
}

export interface RunOrder {
  readonly kind: 'run'
  readonly sources: readonly { readonly id: SourceId; readonly depth: PassDepth }[]
  /** How long to work on the full-text rows that a first pass left for later, once the sources are read. */
  readonly backlogMs: number
}

/** A duty that keeps the mirror sound. Whatever was set aside and is not salvaged yet is salvaged first. */
export interface UpkeepTask {
  /**
   * `salvage`: nothing else. `look`: whether the file is the one that was opened, and nothing else. `check`: walks all
   * pages. `check-terms`: compares the full-text tables with the messages. `set-aside`: puts the mirror aside and makes a
   * new one of what can be saved; nobody may read it meanwhile.
   */
  readonly task: 'salvage' | 'look' | 'check' | 'check-terms' | 'set-aside'
  /** What must be damaged if nothing is found. */
  readonly suspected: Damage
}

export interface UpkeepOrder {
  readonly kind: 'upkeep'
  readonly task: UpkeepTask
}

export interface UpkeepOutcome {
  /** `rows`: the mirror must be set aside. What else was damaged is mended. */
  readonly damage: Damage
  /** What was mended, a sentence each. */
  readonly news: readonly string[]
  /** What became of mirrors that were damaged, for as long as the file lies there. */
  readonly notices: readonly { readonly path: string; readonly text: string }[]
  /** How many messages wait for their full-text rows, and chats for their digests. */
  readonly backlog: number
  readonly termsCheckedAtMs: number | null
}

/** Something to write that no source holds. */
export type WriteOrder =
  | { readonly kind: 'estimates'; readonly estimates: readonly Estimate[] }
  | { readonly kind: 'usage'; readonly file: UsageFileText }
/** A stretch of a restore: of a new one, or, where no order is given, of the one that was begun. */
export interface RestoreStretch {
  readonly kind: 'restore'
  readonly order: RestoreOrder | null
  readonly forMs: number
}
/** Of estimates, how many were kept. */
export type WriteOutcome = number | UsageOutcome | RestoreSlice

export interface PurgeOrder {
  readonly kind: 'purge'
  readonly order: MirrorPurgeOrder
}

export type ToWorker = RunOrder | UpkeepOrder | WriteOrder | RestoreStretch | PurgeOrder | { readonly kind: 'stop' }

export interface SourceEnd {
  readonly id: SourceId
  readonly kind: string
  readonly path: string
  readonly state: SourceState
  readonly detail: string | null
  readonly again: readonly Again[]
  /** What vanished in such a number that it is not believed yet. */
  readonly pendingLoss: PendingLoss | null
}

export interface RunOutcome {
  readonly changed: number
  readonly added: number
  readonly gone: number
  readonly ends: readonly SourceEnd[]
  /** How many messages still wait for their full-text rows, and chats for their digests. */
  readonly backlog: number
  /** Whether all can be found, and the full-text tables would be smaller for a further run. */
  readonly needsMerge: boolean
  /** False where the run was told to stop before its end. */
  readonly isWhole: boolean
}

export interface StepNews {
  readonly done: number
  readonly total: number
  readonly bytesRead: number
  readonly longestReadMs: number
  /** How many messages wait for their full-text rows, where the step worked on those; null where it read. */
  readonly backlog: number | null
  readonly chatIds: readonly ChatId[]
  readonly messages: readonly { readonly id: MessageId; readonly chatId: ChatId }[]
  /** The first of what was lost. */
  readonly losses: readonly Loss[]
  /** How many were lost beside those. */
  readonly moreLosses: number
}

export type FromWorker =
  | { readonly kind: 'open' }
  | { readonly kind: 'step'; readonly step: StepNews }
  | { readonly kind: 'done'; readonly outcome: RunOutcome }
  | { readonly kind: 'kept'; readonly outcome: UpkeepOutcome }
  | { readonly kind: 'written'; readonly outcome: WriteOutcome }
  | { readonly kind: 'purged'; readonly outcome: MirrorPurgeOutcome }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly hint: string | null
      /** What of the mirror's own file must be wrong; `none` where the world around it is to blame. */
      readonly damage: Damage
    }
