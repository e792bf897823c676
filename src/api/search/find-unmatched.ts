import type { Mirror } from '../../mirror/open.ts'
import type { Deadline } from './deadline.ts'
import type { Scope } from './scope.ts'

const NEWEST_MESSAGES = `
  select m.key from messages m
  where m.key between @low and @high and m.is_shadowed = 0
    and (@roles is null or m.role in (select value from json_each(@roles)))
  order by m.key desc
`
const OLDEST_MESSAGES = `
  select m.key from messages m
  where m.key between @low and @high and m.is_shadowed = 0
    and (@roles is null or m.role in (select value from json_each(@roles)))
  order by m.key asc
`
const NEWEST_MESSAGES_OF_CHATS = `
  select m.key from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high and m.is_shadowed = 0
    and (@roles is null or m.role in (select value from json_each(@roles)))
  order by m.key desc
`
const OLDEST_MESSAGES_OF_CHATS = `
  select m.key from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high and m.is_shadowed = 0
    and (@roles is null or m.role in (select value from json_each(@roles)))
  order by m.key asc
`

/**
 * The first messages by time that pass the filters and do not match what is excluded, as keys.
 * @param exclude an FTS5 expression, or null where nothing is
 * @param rows at most so many
 */
export function findUnmatched(
  db: Mirror,
  exclude: string | null,
  scope: Scope,
  order: 'newest' | 'oldest',
  rows: number,
  deadline: Deadline,
): readonly number[] {
  const keys: number[] = []
  if (rows <= 0) return keys
  const ofChats = order === 'newest' ? NEWEST_MESSAGES_OF_CHATS : OLDEST_MESSAGES_OF_CHATS
  const ofAll = order === 'newest' ? NEWEST_MESSAGES : OLDEST_MESSAGES
  const statement = db.prepare<[object], number>(scope.chats === null ? ofAll : ofChats).pluck()
  const excluded = walkExcluded(db, exclude, scope, order)
  try {
    for (const key of statement.iterate({ ...scope })) {
      if (!excluded.has(key)) keys.push(key)
      if (keys.length >= rows || deadline.isPassedAtRow()) break
    }
  } finally {
    excluded.close()
  }
  return keys
}

interface ExcludedWalk {
  /** To be asked in the order of the walk. */
  readonly has: (key: number) => boolean
  readonly close: () => void
}

const NEWEST_EXCLUDED = `
  select rowid from message_terms
  where message_terms match @exclude and rowid between @low and @high order by rowid desc
`
const OLDEST_EXCLUDED = `
  select rowid from message_terms
  where message_terms match @exclude and rowid between @low and @high order by rowid asc
`

/** Both lists are in the order of keys: walking them side by side asks the index once, not once per message. */
function walkExcluded(db: Mirror, exclude: string | null, scope: Scope, order: 'newest' | 'oldest'): ExcludedWalk {
  if (exclude === null) return { has: () => false, close: () => {} }
  const statement = db.prepare<[object], number>(order === 'newest' ? NEWEST_EXCLUDED : OLDEST_EXCLUDED).pluck()
  const rows = statement.iterate({ exclude, low: scope.low, high: scope.high })
  const isAhead = (row: number, key: number): boolean => (order === 'newest' ? row > key : row < key)
  let next = rows.next()
  const has = (key: number): boolean => {
    while (next.done !== true && isAhead(next.value, key)) next = rows.next()
    return next.done !== true && next.value === key
  }
  return { has, close: () => void rows.return?.() }
}
