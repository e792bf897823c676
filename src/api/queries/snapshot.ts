import type { Mirror } from '../../mirror/open.ts'
import { migrations } from '../../mirror/migrations/index.ts'

/** Runs several reads on one state of the mirror: a list and its total must not straddle a commit of the writer. */
export function inSnapshot<Answer>(db: Mirror, read: () => Answer): Answer {
  return db.transaction(read)()
}

/** Whether the mirror has the schema that the other questions are put to: an older one waits for its next writer. */
export const isOfThisVersion = (db: Mirror): boolean =>
  Number(db.pragma('user_version', { simple: true })) === migrations.length

interface Kept<Answer> {
  readonly dataVersion: number
  readonly answer: Answer
  readonly askedAtMs: number
  readonly keepUntilMs: number
}

/** A slow answer is taken again only after ten times as long as it took, so that asking costs a tenth at most. */
const SLOW_MS = 25
const REST_FACTOR = 10

/**
 * Keeps an answer for as long as no other connection has written, by `pragma data_version` (which does not see this
 * connection's own writes: meant for readers).
 * @param keepMs keep it at least so long, written or not
 * @returns a question that takes the connection and the present time in epoch milliseconds
 */
export function cached<Answer>(ask: (db: Mirror) => Answer, keepMs = 0): (db: Mirror, now: () => number) => Answer {
  const answers = new WeakMap<Mirror, Kept<Answer>>()
  return (db, now) => {
    const dataVersion = Number(db.pragma('data_version', { simple: true }))
    const kept = answers.get(db)
    const startedAtMs = now()
    // A clock set back must not keep an answer for ever.
    const isResting = kept !== undefined && startedAtMs >= kept.askedAtMs && startedAtMs < kept.keepUntilMs
    if (kept !== undefined && (kept.dataVersion === dataVersion || isResting)) return kept.answer
    const answer = ask(db)
    const endedAtMs = now()
    const tookMs = endedAtMs - startedAtMs
    const restMs = Math.max(keepMs, tookMs > SLOW_MS ? tookMs * REST_FACTOR : 0)
    answers.set(db, { dataVersion, answer, askedAtMs: endedAtMs, keepUntilMs: endedAtMs + restMs })
    return answer
  }
}
