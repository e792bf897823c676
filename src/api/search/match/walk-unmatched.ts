import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import type { Branch, KeyRange } from '../plan/branch.ts'
import { compileTests } from '../plan/test-sql.ts'
import { rowsOf, valuesOf } from './statement.ts'
import { bySort, restOf, type TimeOrder } from './steps.ts'

/** More chats than this are likely to hold a good part of all messages. */
const FEW_CHATS_MAX = 200
/** So many messages are asked for their chats, before those of many chats are gathered and put in order. */
const NEAR_MAX = 4096

/** The messages of a branch that asks nothing of the index but what is to be left out. */
export function* walkUnmatched(
  db: Mirror,
  branch: Branch,
  order: TimeOrder,
  deadline: Deadline,
): Generator<number, void> {
  const excluded = walkExcluded(db, branch.exclude, branch, order)
  try {
    for (const { sql, params } of asksOf(db, branch, order)) {
      for (const row of rowsOf<{ key: number; passes: number }>(db, sql).iterate(params)) {
        if (row.passes !== 0 && !excluded.has(row.key)) yield row.key
        if (deadline.isPassedAtRow()) return
      }
    }
  } finally {
    excluded.close()
  }
}

interface Ask {
  readonly sql: string
  readonly params: object
}

/** One after the other. */
function* asksOf(db: Mirror, branch: Branch, order: TimeOrder): Generator<Ask, void> {
  const { low, high, chats } = branch
  if (chats === null || chats.length <= FEW_CHATS_MAX) {
    yield askFor(branch, { low, high }, order, chats !== null)
    return
  }
  const edge = edgeOf(db, { low, high }, order)
  const near = edge === null ? { low, high } : order === 'newest' ? { low: edge, high } : { low, high: edge }
  yield askFor(branch, near, order, false)
  const rest = edge === null ? null : restOf({ low, high }, Number(edge), order)
  if (rest !== null) yield askFor(branch, rest, order, true)
}

/** @param isGathered the messages of each chat, put in order; else all there are, each asked for its chat */
function askFor(branch: Branch, { low, high }: KeyRange, order: TimeOrder, isGathered: boolean): Ask {
  const { chats } = branch
  const tests = compileTests(branch, true)
  const isOfChats = chats === null || isGathered ? '' : 'and m.chat in (select value from json_each(@chats))'
  const from = isGathered
    ? 'json_each(@chats) c cross join messages m on m.chat = c.value'
    : `messages m ${chats === null ? '' : 'indexed by chat_of_message'}`
  const sql = `
    select m.key, ${tests.sql ?? 1} as passes
    from ${from}
    where m.key between @low and @high and m.is_shadowed = 0 ${isOfChats}
    order by m.key ${bySort(order)}
  `
  return { sql, params: { low, high, ...tests.params, ...(chats === null ? {} : { chats: JSON.stringify(chats) }) } }
}

/** The last key of those that are asked for their chats; null where there are no more. */
function edgeOf(db: Mirror, { low, high }: KeyRange, order: TimeOrder): bigint | null {
  const sql = `
    select key from messages indexed by chat_of_message where key between @low and @high
    order by key ${bySort(order)} limit 1 offset ${NEAR_MAX - 1}
  `
  const edge = valuesOf<number>(db, sql).get({ low, high })
  return edge === undefined ? null : BigInt(edge)
}

interface ExcludedWalk {
  /** To be asked in the order of the walk. */
  readonly has: (key: number) => boolean
  readonly close: () => void
}

/** Both lists are in the order of keys: walking them side by side asks the index once, not once per message. */
function walkExcluded(db: Mirror, exclude: string | null, { low, high }: Branch, order: TimeOrder): ExcludedWalk {
  if (exclude === null) return { has: () => false, close: () => {} }
  const statement = valuesOf<number>(
    db,
    `select rowid from message_terms
     where message_terms match @exclude and rowid between @low and @high order by rowid ${bySort(order)}`,
  )
  const rows = statement.iterate({ exclude, low, high })
  const isAhead = (row: number, key: number): boolean => (order === 'newest' ? row > key : row < key)
  let next = rows.next()
  const has = (key: number): boolean => {
    while (next.done !== true && isAhead(next.value, key)) next = rows.next()
    return next.done !== true && next.value === key
  }
  return { has, close: () => void rows.return?.() }
}
