import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Scope } from './scope.ts'

// The cross join keeps the full-text table outside: a subquery of rowids there costs a look-up per row of the answer.
const NEWEST_MATCHES = `
  select message_terms.rowid as key,
    (@chats is null or m.chat in (select value from json_each(@chats)))
    and (@roles is null or m.role in (select value from json_each(@roles))) as passes
  from message_terms cross join messages m on m.key = message_terms.rowid
  where message_terms match @match and message_terms.rowid between @low and @high
  order by message_terms.rowid desc
`
const OLDEST_MATCHES = `
  select message_terms.rowid as key,
    (@chats is null or m.chat in (select value from json_each(@chats)))
    and (@roles is null or m.role in (select value from json_each(@roles))) as passes
  from message_terms cross join messages m on m.key = message_terms.rowid
  where message_terms match @match and message_terms.rowid between @low and @high
  order by message_terms.rowid asc
`

/**
 * The first messages by time that match and pass the filters, as keys.
 * @param rows at most so many
 */
export function findMatches(
  db: Mirror,
  match: string,
  scope: Scope,
  order: 'newest' | 'oldest',
  rows: number,
  deadline: Deadline,
): readonly number[] {
  const keys: number[] = []
  if (rows <= 0) return keys
  const statement = db.prepare<[object], { key: number; passes: number }>(
    order === 'newest' ? NEWEST_MATCHES : OLDEST_MATCHES,
  )
  // Rows that do not pass flow too, so that the clock is looked at however rare those are that do.
  for (const row of statement.iterate({ match, ...scope })) {
    if (row.passes !== 0) keys.push(row.key)
    if (keys.length >= rows || deadline.isPassedAtRow()) break
  }
  return keys
}
