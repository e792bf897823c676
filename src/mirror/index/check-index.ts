import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { IndexFile } from './index-file.ts'
import { cutParts, isListed } from './terms.ts'
import { indexTermBytes } from '../../text/terms/terms.ts'

const COUNTS = {
  mirror: `select (select count(*) from messages where is_shadowed = 0) as messages, (select count(*) from chats) as titles`,
  index: `select (select count(*) from message_terms_docsize) as messages, (select count(*) from chat_terms_docsize) as titles,
    (select count(*) from pending where key > 0) as pendingMessages, (select count(*) from pending where key < 0) as pendingTitles`,
}
interface Counts {
  readonly messages: number
  readonly titles: number
}
interface IndexCounts extends Counts {
  readonly pendingMessages: number
  readonly pendingTitles: number
}

/** Messages and titles that are asked for, evenly spaced. */
const SAMPLE = 400
const LIST_MESSAGES = `
select key, parts from messages join bodies on bodies.num = body
where is_shadowed = 0 and key in (
  select key from (select key, row_number() over (order by key) as place from messages where is_shadowed = 0)
  where place % @step = 0
)
`
const LIST_TITLES = `select num as key, title from chats where num % @step = 0 limit ${SAMPLE}`
const IS_PENDING = `select 1 from pending where key = ?`
const FINDS_MESSAGE = `select 1 from message_terms where message_terms match ? and rowid = ?`
const FINDS_TITLE = `select 1 from chat_terms where chat_terms match ? and rowid = ?`
const LISTS = `select 1 from terms where term = ?`
const READ_ALL = `
insert into message_terms (message_terms) values ('integrity-check');
insert into chat_terms (chat_terms) values ('integrity-check');
`

/**
 * Compares how many messages and titles the mirror and its index have, and looks up a word of some of them. Both are
 * read as they were at one time, and everything that changed before was taken.
 * @param isThorough also lets SQLite and FTS5 read every page: some seconds for a gigabyte
 * @throws SqliteError if the index is damaged
 */
export function isSound(index: IndexFile, mirror: Mirror, isThorough: boolean): boolean {
  const held = prepared<Counts>(mirror, COUNTS.mirror).get()
  const has = prepared<IndexCounts>(index, COUNTS.index).get()
  if (held === undefined || has === undefined) throw new Error('a count has no row')
  // What is pending and no longer in the mirror is not missing.
  if (has.messages > held.messages || has.messages + has.pendingMessages < held.messages) return false
  if (has.titles > held.titles || has.titles + has.pendingTitles < held.titles) return false
  const isPending = (key: number): boolean => prepared(index, IS_PENDING).get(BigInt(key)) !== undefined
  const finds = (sql: string, key: number, columns: readonly Buffer[]): boolean => {
    const term = longestTerm(columns)
    if (term === null) return true
    return (
      prepared(index, sql).get(`"${term}"`, BigInt(key)) !== undefined && prepared(index, LISTS).get(term) !== undefined
    )
  }
  const messages = prepared<{ key: number; parts: string }>(mirror, LIST_MESSAGES)
  for (const { key, parts } of messages.iterate({ step: stepFor(held.messages) }))
    if (!isPending(key) && !finds(FINDS_MESSAGE, key, cutParts(parts))) return false
  const titles = prepared<{ key: number; title: string }>(mirror, LIST_TITLES)
  for (const { key, title } of titles.iterate({ step: stepFor(held.titles) }))
    if (!isPending(-key) && !finds(FINDS_TITLE, key, [indexTermBytes(title)])) return false
  if (!isThorough) return true
  index.exec(READ_ALL)
  return index.pragma('quick_check(1)', { simple: true }) === 'ok'
}

const stepFor = (count: number): bigint => BigInt(Math.max(1, Math.floor(count / SAMPLE)))

/** Of the terms that the list of terms has: the longest is the least frequent. */
function longestTerm(columns: readonly Buffer[]): string | null {
  const terms = columns.flatMap((column) => column.toString('utf8').split(' ')).filter(isListed)
  return terms.reduce<string | null>((best, term) => (best === null || term.length > best.length ? term : best), null)
}
