import type { Mirror } from '../../mirror/open.ts'
import { askMessages, statementOf, testOf, type Target, type TimeOrder } from './statement.ts'

/** Counting stops at this number. Nobody reads so many pages, and counting a common word costs more than finding it. */
export const COUNTED_MAX = 1000

/** The newest matching messages, as far as they are counted. */
export interface Newest {
  /** Newest first. */
  readonly keys: readonly number[]
  /** Whether these are all. */
  readonly isWhole: boolean
}

/** @param rows the maximum number */
export function newestMessages(db: Mirror, target: Target, rows: number): Newest {
  const keys = keysOf(db, target, rows + 1)
  return { keys: keys.slice(0, rows), isWhole: keys.length <= rows }
}

/** @param besides an FTS5 expression that must match too */
export function keysOf(
  db: Mirror,
  target: Target,
  rows: number,
  { order = 'newest', besides = null }: { readonly order?: TimeOrder; readonly besides?: string | null } = {},
): readonly number[] {
  if (!target.isPossible) return []
  const { sql, values } = askMessages(target, { columns: 'message_terms.rowid', order, besides })
  return statementOf<number>(db, sql, 'values').all(...values, rows)
}

/** Which of some chats have a matching message. @param nums numbers of chats */
export function chatsWithMatch(db: Mirror, target: Target, nums: readonly number[]): ReadonlySet<number> {
  if (!target.isPossible || nums.length === 0) return new Set()
  const { match, low, high, rest } = target
  const values: (string | bigint)[] = [JSON.stringify(nums), low, high]
  const isFound = 'm.key in (select rowid from message_terms where message_terms match ? and rowid between ? and ?)'
  if (match !== null) values.push(match, low, high)
  const tests = rest.map((part) => testOf(part, values, 'message'))
  const sql = `
    select distinct m.chat
    from json_each(?) n cross join messages m indexed by messages_by_chat on m.chat = n.value
    where ${['m.key between ? and ?', 'm.is_shadowed = 0', ...(match === null ? [] : [isFound]), ...tests].join(' and ')}
  `
  return new Set(statementOf<number>(db, sql, 'values').all(...values))
}

const CHATS_OF_KEYS = `
  select distinct m.chat from json_each(?) k cross join messages m indexed by message_facts on m.key = k.value
`

/** The chats of some messages, without duplicates. */
export const chatsOfMessages = (db: Mirror, keys: readonly number[]): readonly number[] =>
  keys.length === 0 ? [] : statementOf<number>(db, CHATS_OF_KEYS, 'values').all(JSON.stringify(keys))
