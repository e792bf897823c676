import { bucketUnits } from '../buckets.ts'

export const tokenGroupings = [...bucketUnits, 'project', 'model', 'chat'] as const
export type TokenGrouping = (typeof tokenGroupings)[number]

export interface TokensRequest {
  readonly groupBy: TokenGrouping
  /** Ids, exact names or paths; null for any. */
  readonly projects: readonly string[] | null
  /** Exact names; null for any. */
  readonly models: readonly string[] | null
  /** IANA name of the zone for the bounds of days. */
  readonly timeZone: string
  /** Epoch milliseconds, inclusive. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive. */
  readonly toMs: number | null
  /** How many rows are returned at most. The totals include all. */
  readonly limit: number
  /** Whether recorded tokens are priced. */
  readonly hasPrices: boolean
}

/** Tokens that Cursor recorded in the row of a message: only for the last answer of a turn, until early 2026. */
export interface RecordedTokens {
  /** Null if no message has it. */
  readonly input: number | null
  readonly output: number | null
  readonly messages: number
}

/** Estimated tokens of the visible text, each message once, for messages without a record. */
export interface EstimatedTokens {
  readonly input: number
  readonly output: number
  readonly messages: number
}

/** Sums over rows of imported files; null if no row has the number. */
export interface ImportedTokens {
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly cents: number | null
  /** The total in the row, or else the sum of its parts. */
  readonly total: number | null
  readonly events: number
}

/** How full the context of each chat was at its last activity. This is a state, not a sum of used tokens. */
export interface ContextSnapshot {
  readonly tokens: number
  readonly chats: number
}

/** The list price of recorded tokens, without discounts for cached tokens. */
export interface PricedTokens {
  /** Null if no message has a known price. */
  readonly cents: number | null
  readonly messages: number
  /** Recorded messages without a known price, or with only input or only output recorded. */
  readonly unpriced: number
}

/** Every message of a thread is recorded, estimated or unknown. */
export interface TokenCoverage {
  readonly messages: number
  readonly recorded: number
  readonly estimated: number
  readonly unknown: number
}

/** Numbers by source, which are never added to each other. Null means unknown, not 0. */
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
  /** An id, the first date of a bucket, or a model's name; null if there is none. */
  readonly key: string | null
  /** The key in readable form. */
  readonly label: string
}

export interface TokensAnswer {
  readonly rows: readonly TokensRow[]
  /** How many rows there are, including those beyond the limit. */
  readonly rowsTotal: number
  readonly totals: TokenSources
  readonly coverage: TokenCoverage
  /** Rows of imported files; null if there are none. */
  readonly imports: { readonly events: number; readonly matched: number; readonly unmatched: number } | null
  readonly prices: { readonly source: string; readonly asOf: string } | null
  /** Explanations of the numbers, one sentence each. */
  readonly notes: readonly string[]
}
