import type { UsageFileText, UsageOutcome } from '../../api/context.ts'
import type { SalvageNotice } from '../../mirror/damage/replace-mirror.ts'
import type { ChatId, MessageId, SourceId } from '../../model/ids.ts'
import type { Loss } from '../../model/chat.ts'
import type { PassEnd, PassOrder, PendingLoss } from '../../model/pass.ts'
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

export interface RunOrder {
  readonly kind: 'run'
  readonly sources: readonly PassOrder[]
  /** After the sources are read: how long to work on full-text rows that a first pass left for later. */
  readonly backlogMs: number
}

/** Something to write that comes from no source. */
export interface UsageOrder {
  readonly kind: 'usage'
  readonly file: UsageFileText
}

export interface PartOrder {
  readonly kind: 'restore'
  readonly part: RestorePart
}

export interface PurgeOrder {
  readonly kind: 'purge'
  readonly order: MirrorPurgeOrder
}

export interface HubOrder {
  readonly kind: 'hub'
  readonly order: HubWrite
}

export type WriterOrder = RunOrder | UsageOrder | PartOrder | PurgeOrder | HubOrder
export type WriterOutcome = RunOutcome | UsageOutcome | RestoredPart | MirrorPurgeOutcome | HubWritten
export type ToWorker = WriterOrder | { readonly kind: 'stop' }

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
  /** How many messages still wait for full-text rows, and chats to be counted. */
  readonly backlog: number
  /** True if everything is searchable and another run would make the full-text tables smaller. */
  readonly needsMerge: boolean
  /** False if the run was stopped before its end. */
  readonly isWhole: boolean
}

export interface StepNews {
  readonly done: number
  readonly total: number
  readonly bytesRead: number
  readonly longestReadMs: number
  /** How many messages wait for full-text rows. Null if the step read sources. */
  readonly backlog: number | null
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
  /** How many messages wait for full-text rows, and chats for their digests. */
  readonly backlog: number
}

export type FromWorker =
  | ({ readonly kind: 'open' } & OpenedMirror)
  | { readonly kind: 'step'; readonly step: StepNews }
  | { readonly kind: 'done'; readonly outcome: WriterOutcome }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly hint: string | null
      /** Whether the mirror's own file is damaged. */
      readonly isDamage: boolean
    }
