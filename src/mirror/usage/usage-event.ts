/** One row of a usage file that the user downloaded. What it does not tell is null. */
export interface UsageEvent {
  /** Equal for equal rows. */
  readonly identity: string
  /** Of the file, from 1. */
  readonly line: number
  /** Epoch milliseconds. */
  readonly atMs: number
  readonly kind: string | null
  readonly model: string | null
  readonly user: string | null
  readonly input: number | null
  readonly output: number | null
  readonly cacheRead: number | null
  readonly cacheWrite: number | null
  readonly total: number | null
  readonly cents: number | null
}
