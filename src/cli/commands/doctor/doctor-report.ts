import type { ListComparison } from '../../../api/queries/chats/compare-lists.ts'
import type { ReasonCount, SourceFindings } from '../../../api/queries/sources/examine-source.ts'
import type { LossCounts } from '../../../api/queries/sources/list-losses.ts'

/** Rows of one store, each counted once; `noise` is counted in the store itself where that could be looked at. */
export interface Accounting {
  readonly rows: number
  readonly read: number
  readonly orphans: number
  readonly issues: number
  /** Rows that hold no chat, those of no known family among them. */
  readonly noise: number
  readonly unknown: number
  /** What the sum leaves open; less than 0 where it counts more than there is. */
  readonly unaccounted: number
}

export interface UnknownRows {
  readonly table: string
  /** Null where the whole table is unknown. */
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

/** What the store itself was seen to hold. */
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
  /** Null where the mirror knows nothing of it. */
  readonly chats: SourceFindings['chats'] | null
  readonly messages: SourceFindings['messages'] | null
  readonly issues: readonly ReasonCount[]
  readonly pendingLoss: SourceFindings['pendingLoss']
  readonly accounting: Accounting | null
  /** Null where this kind of store is not looked at, or could not be. */
  readonly survey: SurveyReport | null
}

export interface DoctorReport {
  readonly mirror: { readonly path: string; readonly state: 'read' | 'missing' | 'other-version' }
  readonly stores: readonly StoreReport[]
  readonly comparison: ListComparison | null
  /** The ledger that `cursordex losses` lists, as numbers; null where there is no mirror to ask. */
  readonly losses: LossCounts | null
  /** What no known reader reads, and looks like chats. */
  readonly unknownChats: readonly UnknownRows[]
}
