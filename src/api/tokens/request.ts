import { bucketUnits } from '../buckets.ts'

export const tokenGroupings = [...bucketUnits, 'project', 'model', 'chat'] as const
export type TokenGrouping = (typeof tokenGroupings)[number]

export interface TokensRequest {
  readonly groupBy: TokenGrouping
  /** Ids, exact names or paths; null for any. */
  readonly projects: readonly string[] | null
  /** Exact names; null for any. */
  readonly models: readonly string[] | null
  /** IANA name of the zone in which days begin. */
  readonly timeZone: string
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  /** How many rows are told at most; the totals are of all. */
  readonly limit: number
  /** Whether recorded tokens are priced. */
  readonly hasPrices: boolean
}

/** Tokens that the message's own row holds: those of the last answer of a turn, until early 2026. */
export interface RecordedTokens {
  /** Null where no message of them tells it. */
  readonly input: number | null
  readonly output: number | null
  readonly messages: number
}

/** Tokens of visible text, each message once, of messages without a record. */
export interface EstimatedTokens {
  readonly input: number
  readonly output: number
  readonly messages: number
}

/** What files that were handed in tell; null where none of their rows tells it. */
export interface ImportedTokens {
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly cents: number | null
  /** As the rows told it, or the sum of their parts. */
  readonly total: number | null
  readonly events: number
}

/** How full each chat's context was when it was last used: a state, and no sum of what was used. */
export interface ContextSnapshot {
  readonly tokens: number
  readonly chats: number
}

/** What recorded tokens would cost by list prices, without any discount for what was cached. */
export interface PricedTokens {
  /** Null where none of them has a known price. */
  readonly cents: number | null
  readonly messages: number
  /** Recorded messages whose model has no known price, or of which the input or the output is not recorded. */
  readonly unpriced: number
}

/** Every message of the threads is one of three. */
export interface TokenCoverage {
  readonly messages: number
  readonly recorded: number
  readonly estimated: number
  readonly unknown: number
}

/** Numbers side by side that are never added to each other. Null: not known, which is not 0. */
export interface TokenSources {
  readonly recorded: RecordedTokens | null
  readonly imported: ImportedTokens | null
  readonly estimated: EstimatedTokens | null
  readonly contextSnapshot: ContextSnapshot | null
  readonly recordedCents: number | null
  readonly priced: PricedTokens | null
  readonly coverage: TokenCoverage
}

export interface TokensRow extends TokenSources {
  /** An id, a first date, a model's name; null for what has none. */
  readonly key: string | null
  /** What a person reads. */
  readonly label: string
}

export interface TokensAnswer {
  readonly rows: readonly TokensRow[]
  /** How many rows there are, those beyond the limit too. */
  readonly rowsTotal: number
  readonly totals: TokenSources
  readonly coverage: TokenCoverage
  /** Rows of files that were handed in; null where there are none. */
  readonly imports: { readonly events: number; readonly matched: number; readonly unmatched: number } | null
  readonly prices: { readonly source: string; readonly asOf: string } | null
  /** What the numbers are and are not, a sentence each. */
  readonly notes: readonly string[]
}
