import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import type { TermPhrase } from '../../../text/passages/matcher.ts'
import { expressionOf } from '../plan/condition.ts'

/** Above this number, all words count as equally frequent. */
const COUNTED_MAX = 5000

const COUNT_MESSAGES = `
  select count(*) as count
  from (select 1 from message_terms where message_terms match @match limit ${COUNTED_MAX})
`
const COUNT_TITLES = `
  select count(*) as count from (select 1 from chat_terms where chat_terms match @match limit ${COUNTED_MAX})
`

/** How many messages and titles contain one of these phrases, in any column; at most 5,000 of each. */
export function countHolders(db: Mirror, phrases: readonly TermPhrase[]): number {
  if (phrases.length === 0) return 0
  const match = expressionOf({ kind: 'phrases', phrases, columns: null, isWord: true })
  const counted = [COUNT_MESSAGES, COUNT_TITLES].map((sql) => prepared<{ count: number }>(db, sql).get({ match }))
  return counted.reduce((sum, row) => sum + (row?.count ?? 0), 0)
}

/** Another spelling of a word, which occurs in the mirror. */
export interface Spelling {
  readonly text: string
  /** Edit distance between the two. */
  readonly distance: number
  /** How many messages and titles contain it, at most 10,000. */
  readonly count: number
  /** True if it is a prefix. */
  readonly isPrefix?: boolean
}
