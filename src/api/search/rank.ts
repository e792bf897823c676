import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Scope } from './scope.ts'

export interface RankedMessage {
  readonly key: number
  /** Higher is better. */
  readonly score: number
}

/** So many of the newest matches are ranked; older ones follow by time. */
export const RANKED_MAX = 10_000

// What a person or the model said counts for more than what a tool printed. Columns in the order of the table.
const RANK_ALL = `
  select rowid as key, bm25(message_terms, 1.0, 0.5, 0.8, 0.4, 0.3) as rank
  from message_terms
  where message_terms match @match and rowid between @low and @high
  order by rowid desc
`
const RANK_PASSING = `
  select message_terms.rowid as key,
    case when (@chats is null or m.chat in (select value from json_each(@chats)))
      and (@roles is null or m.role in (select value from json_each(@roles)))
    then bm25(message_terms, 1.0, 0.5, 0.8, 0.4, 0.3) end as rank
  from message_terms cross join messages m on m.key = message_terms.rowid
  where message_terms match @match and message_terms.rowid between @low and @high
  order by message_terms.rowid desc
`

/**
 * The newest messages that match and pass the filters, newest first, each with its score.
 * @param rows at most so many
 */
export function rankMatches(
  db: Mirror,
  match: string,
  scope: Scope,
  rows: number,
  deadline: Deadline,
): readonly RankedMessage[] {
  const ranked: RankedMessage[] = []
  const isFiltered = scope.chats !== null || scope.roles !== null
  const statement = db.prepare<[object], { key: number; rank: number | null }>(isFiltered ? RANK_PASSING : RANK_ALL)
  for (const row of statement.iterate({ match, ...scope })) {
    if (row.rank !== null) ranked.push({ key: row.key, score: -row.rank })
    if (ranked.length >= rows || deadline.isPassedAtRow()) break
  }
  return ranked
}
