import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { expressionOf, type Condition, type Drive } from './condition.ts'

export { prepared as statementOf } from '../../mirror/sql.ts'

/** What a message must meet, or a chat and a message of it, and where such messages lie. */
export interface Target extends Drive {
  /** False if nothing can match. */
  readonly isPossible: boolean
  /** Smallest and largest key of a message, inclusive. BigInt, because a full-text table ignores other bounds. */
  readonly low: bigint
  readonly high: bigint
  /** Whether the messages are few enough chats' that these are read instead of all messages, if no word is asked for. */
  readonly isOfFewChats: boolean
  /** True with prefixes: then each query of the index merges the lists of all words with that beginning. */
  readonly isCostly: boolean
}

export type TimeOrder = 'newest' | 'oldest'

/** What to read of the messages that meet a condition. */
interface Wanted {
  /** Over `m`, a message, and `message_terms` if a word is asked for. */
  readonly columns: string
  readonly order: TimeOrder
  /** Whether the columns need `m`. */
  readonly isOfMessage?: boolean
  /** An FTS5 expression that must match besides. */
  readonly besides?: string | null
}

/**
 * The statement of a query for messages. The words drive: the index is walked by its rowid, in the order of time. All else is
 * tested for each row. Without words, the messages are walked.
 * @returns SQL with its values. A limit comes as the last value
 */
export function askMessages(
  { low, high, rest, match, isOfFewChats }: Target,
  { columns, order, isOfMessage = false, besides = null }: Wanted,
) {
  const wanted = match === null ? [] : [besides === null ? match : `(${match}) AND ${besides}`]
  const values: (string | bigint)[] = [...wanted, low, high]
  const tests = rest.map((part) => testOf(part, values, 'message'))
  // A parameter alone would tell SQLite's planner the limit, so SQLite would compile the statement again at each call.
  const end = `${order === 'newest' ? 'desc' : 'asc'} limit ? + 0`
  if (match === null) {
    // Messages of a few chats are read and sorted. SQLite would do so for many, too.
    const by = isOfFewChats ? 'indexed by messages_by_chat' : 'not indexed'
    const key = isOfFewChats ? '+m.key' : 'm.key'
    const found = isOfFewChats ? tests.map((test) => test.replace(/^\+/, '')) : tests
    const where = [`${key} between ? and ?`, 'm.is_shadowed = 0', ...found].join(' and ')
    const sql = `select ${columns} from messages m ${by} where ${where} order by ${key} ${end}`
    return { sql: sql.replaceAll('message_terms.rowid', 'm.key'), values }
  }
  const where = ['message_terms match ?', 'message_terms.rowid between ? and ?', ...tests].join(' and ')
  // Rows of messages are long and scattered. The index has all columns that are tested.
  const isJoined = tests.length > 0 || isOfMessage
  const join = isJoined ? 'cross join messages m indexed by message_facts on m.key = message_terms.rowid' : ''
  const sql = `select ${columns} from message_terms ${join} where ${where} order by message_terms.rowid ${end}`
  return { sql, values }
}

/**
 * A condition as an SQL expression over `m`. What the index answers is read once, as a list.
 * @param values takes the values in the order of their `?`
 * @param place where words are searched: in the message itself, or in the title of its chat
 */
export function testOf(condition: Condition, values: (string | bigint)[], place: 'message' | 'title'): string {
  const expression = expressionOf(condition)
  if (expression !== null || condition.kind === 'words') {
    values.push(expression ?? '')
    const [key, table] = place === 'message' ? ['m.key', 'message_terms'] : ['m.chat', 'chat_terms']
    return `${key} in (select rowid from ${table} where ${table} match ?)`
  }
  switch (condition.kind) {
    case 'chats':
      values.push(...condition.values)
      // The plus keeps SQLite from looking each message up once for every chat.
      return `+m.chat in (select c.num from chats c where ${condition.sql})`
    case 'messages':
      values.push(...condition.values)
      // `is true` makes null false. So the negation of a test matches all other rows.
      return `((${condition.sql}) is true)`
    case 'keys':
      values.push(BigInt(condition.low), BigInt(condition.high))
      return 'm.key between ? and ?'
    case 'not':
      return `not (${testOf(condition.of, values, place)})`
    default: {
      const tests = condition.all.map((each) => testOf(each, values, place))
      return tests.length === 0 ? '0' : `(${tests.join(` ${condition.kind} `)})`
    }
  }
}

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
  return prepared<number>(db, sql, 'values').all(...values, rows)
}

/** For so few chats, the index is walked from the first to the last message of each one. */
const WALKED_MAX = 10

/** Which of some chats have a matching message. @param nums numbers of chats */
export function chatsWithMatch(db: Mirror, target: Target, nums: readonly number[]): ReadonlySet<number> {
  if (!target.isPossible || nums.length === 0) return new Set()
  const { match, low, high, rest, isCostly } = target
  const values: (string | bigint)[] = [JSON.stringify(nums), ...(match === null ? [] : [match]), low, high]
  const tests = rest.map((part) => ` and ${testOf(part, values, 'message')}`).join('')
  const isWalked = match !== null && !isCostly && nums.length <= WALKED_MAX
  const ofChat = 'from messages where chat = n.value'
  const sql = isWalked
    ? `
      select n.value from json_each(?) n where exists (
        select 1 from message_terms cross join messages m indexed by message_facts on m.key = message_terms.rowid
        where message_terms match ?
          and message_terms.rowid between max(?, (select min(key) ${ofChat})) and min(?, (select max(key) ${ofChat}))
          and m.chat = n.value${tests}
      )
    `
    : `
      select distinct m.chat
      from json_each(?) n cross join messages m indexed by messages_by_chat on m.chat = n.value
      where ${match === null ? '' : 'm.key in (select rowid from message_terms where message_terms match ?) and '}
        m.key between ? and ? and m.is_shadowed = 0${tests}
    `
  return new Set(prepared<number>(db, sql, 'values').all(...values))
}

const CHATS_OF_KEYS = `
  select distinct m.chat from json_each(?) k cross join messages m indexed by message_facts on m.key = k.value
  limit ? + 0
`

/** The chats of some messages, without duplicates. @param most a negative number is no limit */
export const chatsOfMessages = (db: Mirror, keys: readonly number[], most = -1): readonly number[] =>
  keys.length === 0 ? [] : prepared<number>(db, CHATS_OF_KEYS, 'values').all(JSON.stringify(keys), most)
