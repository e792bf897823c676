import type { Mirror } from '../../mirror/open.ts'

/** Runs several reads in one snapshot: the writer must not commit between a list and its total. */
export function inSnapshot<Answer>(db: Mirror, read: () => Answer): Answer {
  return db.transaction(read)()
}

interface CacheEntry<Answer> {
  readonly dataVersion: number
  readonly answer: Answer
  readonly readAtMs: number
  readonly reuseUntilMs: number
}

/** A slow answer is reused for ten times as long as it took. So it costs at most a tenth of the time. */
const SLOW_MS = 25
const REUSE_FACTOR = 10

/**
 * Caches an answer until another connection writes, by `pragma data_version`. That does not see this connection's own
 * writes: use it for readers.
 * @returns a function of the connection and the clock, which gives epoch milliseconds
 */
export function cached<Answer>(read: (db: Mirror) => Answer): (db: Mirror, now: () => number) => Answer {
  const entries = new WeakMap<Mirror, CacheEntry<Answer>>()
  return (db, now) => {
    const dataVersion = Number(db.pragma('data_version', { simple: true }))
    const entry = entries.get(db)
    const startedAtMs = now()
    // If the clock is set back, the entry must still expire.
    const isReusable = entry !== undefined && startedAtMs >= entry.readAtMs && startedAtMs < entry.reuseUntilMs
    if (entry !== undefined && (entry.dataVersion === dataVersion || isReusable)) return entry.answer
    const answer = read(db)
    const endedAtMs = now()
    const tookMs = endedAtMs - startedAtMs
    const lifetimeMs = tookMs > SLOW_MS ? tookMs * REUSE_FACTOR : 0
    entries.set(db, { dataVersion, answer, readAtMs: endedAtMs, reuseUntilMs: endedAtMs + lifetimeMs })
    return answer
  }
}
