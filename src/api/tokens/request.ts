import { bucketUnits } from '../buckets.ts'

export const tokenGroupings = [...bucketUnits, 'project', 'model', 'chat'] as const
export type TokenGrouping = (typeof tokenGroupings)[number]

export interface TokensRequest {
  readonly groupBy: TokenGrouping
  /** Ids, exact names or paths; null for any. */
  readonly projects: readonly string[] | null
  /** Names, `user/name` or `local`; null for any. */
  readonly machines: readonly string[] | null
  /** Exact names; null for any. */
  readonly models: readonly string[] | null
  /** IANA name of the zone for the bounds of days. */
  readonly timeZone: string
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  /** How many rows are returned at most: the newest by time, else the largest. The totals include all. */
  readonly limit: number
  /** Whether recorded tokens are priced. */
  readonly hasPrices: boolean
}
