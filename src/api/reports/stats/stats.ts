import type { BucketUnit } from '../../buckets.ts'
import type { Stats } from '../../http/schemas/stats.ts'

export interface StatsRequest {
  /** From `resolveProjects`. An empty list matches nothing; null matches everything. */
  readonly projectNums: readonly number[] | null
  /** From `resolveMachines`, in the same way. */
  readonly machineNums: readonly number[] | null
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  readonly bucket: BucketUnit
  readonly timeZone: string
}

/** `too-many`: the series would have more than `max` buckets. */
export type StatsAnswer =
  | { readonly kind: 'stats'; readonly stats: Stats }
  | { readonly kind: 'too-many'; readonly count: number; readonly max: number }
