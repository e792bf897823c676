import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Branch } from './plan/branch.ts'
import { compileTests } from './plan/test-sql.ts'
import { walkMessages } from './walk.ts'

export interface RankedMessage {
  readonly key: number
  /** Higher is better. */
  readonly score: number
}

/** So many of the newest matches are ranked; older ones follow by time. */
export const RANKED_MAX = 10_000

// What a person or the model said counts for more than what a tool printed. Columns in the order of the table.
const SCORE = `bm25(message_terms, 1.0, 0.5, 0.8, 0.4, 0.3, 0.0)`

/**
 * The newest messages that match and pass the filters, newest first, each with its score.
 * @param rows at most so many
 */
export function rankMatches(
  db: Mirror,
  branches: readonly Branch[],
  rows: number,
  deadline: Deadline,
): readonly RankedMessage[] {
  const [only] = branches
  if (branches.length === 1 && only !== undefined) return rankBranch(db, only, rows, deadline)
  const best = new Map<number, number>()
  for (const { key, score } of branches.flatMap((branch) => rankBranch(db, branch, rows, deadline))) {
    best.set(key, Math.max(score, best.get(key) ?? score))
  }
  const ranked = [...best].map(([key, score]) => ({ key, score }))
  return ranked.sort((a, b) => b.key - a.key).slice(0, rows)
}

function rankBranch(db: Mirror, branch: Branch, rows: number, deadline: Deadline): readonly RankedMessage[] {
  const ranked: RankedMessage[] = []
  if (branch.rankMatch === null || !branch.hasWords) {
    for (const key of walkMessages(db, [branch], 'newest', deadline)) {
      ranked.push({ key, score: 0 })
      if (ranked.length >= rows) break
    }
    return ranked
  }
  const tests = compileTests(branch)
  const join = tests.sql === null ? '' : 'cross join messages m on m.key = message_terms.rowid'
  const statement = db.prepare<[object], { key: number; rank: number | null }>(`
    select message_terms.rowid as key, ${tests.sql === null ? SCORE : `case when ${tests.sql} then ${SCORE} end`} as rank
    from message_terms ${join}
    where message_terms match @match and message_terms.rowid between @low and @high
    order by message_terms.rowid desc
  `)
  const params = { match: branch.rankMatch, low: branch.low, high: branch.high, ...tests.params }
  for (const row of statement.iterate(params)) {
    if (row.rank !== null) ranked.push({ key: row.key, score: -row.rank })
    if (ranked.length >= rows || deadline.isPassedAtRow()) break
  }
  return ranked
}
