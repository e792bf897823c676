import type { ListComparison } from '../../../api/queries/chats/compare-lists.ts'
import type { ReasonCount, SourceFindings } from '../../../api/queries/sources/examine-source.ts'
import type { LossCounts } from '../../../api/http/schemas/chats.ts'

/** The rows of one store, each counted once. `noise` is counted in the store itself, if it can be opened. */
export interface Accounting {
  readonly rows: number
  readonly read: number
  readonly orphans: number
  readonly issues: number
  /** Rows that do not belong to chats, including rows of unknown families. */
  readonly noise: number
  readonly unknown: number
  /** Rows that no other count explains. Negative if rows are counted twice or are missing. */
  readonly unaccounted: number
}

export interface UnknownRows {
  readonly table: string
  /** Null if the whole table is unknown. */
  readonly family: string | null
  readonly rows: number | null
  readonly bytes: number | null
  readonly isChatLike: boolean
}

export interface FamilyReport {
  readonly table: string
  readonly family: string
  readonly use: string
  readonly rows: number
  readonly bytes: number
}

/** The contents of the store itself. */
export interface SurveyReport {
  readonly tables: readonly {
    readonly name: string
    readonly use: string
    readonly rows: number | null
    readonly bytes: number | null
    readonly unnamedRows: number
    readonly privateRows: number
  }[]
  readonly families: readonly FamilyReport[]
  readonly unknownFamilies: readonly UnknownRows[]
  readonly unknownTables: readonly UnknownRows[]
  readonly unknownVersions: readonly { readonly family: string; readonly versions: readonly (number | 'other')[] }[]
}

export interface StoreReport {
  readonly id: string
  readonly kind: string
  readonly path: string
  readonly state: string
  readonly detail: string | null
  readonly lastSyncAt: string | null
  /** Null if the mirror has no such store. */
  readonly chats: SourceFindings['chats'] | null
  readonly messages: SourceFindings['messages'] | null
  readonly issues: readonly ReasonCount[]
  readonly pendingLoss: SourceFindings['pendingLoss']
  readonly accounting: Accounting | null
  /** Null if this kind of store is not surveyed, or could not be opened. */
  readonly survey: SurveyReport | null
}

/** A file of Cursor's beside a store, with an earlier or damaged state of it. */
export interface SetAsideReport {
  readonly path: string
  /** Its store's path in Cursor's `User` folder. */
  readonly place: string
  /** Chats with messages in it that the mirror neither has nor must keep out. */
  readonly chats: number
  /** Why it could not be read, or not to its end. */
  readonly trouble: string | null
}

export interface DoctorReport {
  readonly mirror: { readonly path: string; readonly state: 'read' | 'missing' | 'other-version' }
  readonly stores: readonly StoreReport[]
  readonly comparison: ListComparison | null
  /** How many entries `cursordex losses` lists. Null without a mirror. */
  readonly losses: LossCounts | null
  /** Unknown data that looks like chats. */
  readonly unknownChats: readonly UnknownRows[]
  /** Empty without a mirror. */
  readonly setAside: readonly SetAsideReport[]
  /** What was not read, or not completely, and what to do, as sentences. */
  readonly attention: readonly string[]
}
