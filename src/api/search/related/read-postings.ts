import type { Mirror } from '../../../mirror/open.ts'
import type { Deadline } from '../deadline.ts'
import { matchSource } from '../plan/branch-sql.ts'
import type { Branch } from '../plan/branch.ts'
import type { QueryPlan } from '../plan/plan.ts'
import { valuesOf } from '../match/statement.ts'
import { stepThrough } from '../match/steps.ts'

export interface Posting {
  readonly key: number
  readonly chat: number
  /** How much of the signal the message has, by bm25; 1 is the average. */
  readonly amount: number
}

/** The messages with a signal, the newest first. */
export interface Postings {
  readonly messages: readonly Posting[]
  /** Whether these are all of them. */
  readonly isWhole: boolean
}

/** @param most messages */
export function readPostings(db: Mirror, { branches }: QueryPlan, most: number, deadline: Deadline): Postings {
  const messages = branches.flatMap((branch) => readBranch(db, branch, most, deadline))
  const mean = messages.reduce((sum, { amount }) => sum + amount, 0) / messages.length
  const even = messages.map((one) => ({ ...one, amount: mean > 0 ? one.amount / mean : 1 }))
  return { messages: even, isWhole: messages.length < most && !deadline.hasPassed() }
}

// Columns in the order of the table: text, thinking, code, tool, attachment, plan, summary, marks.
const AMOUNT = `-bm25(message_terms, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)`

function readBranch(db: Mirror, branch: Branch, most: number, deadline: Deadline): readonly Posting[] {
  if (branch.match === null) return []
  const { passes, from, params } = matchSource(branch, true)
  const steps = {
    select: `
      select message_terms.rowid as key, ${passes === '1' ? 'm.chat' : `case when ${passes} then m.chat end`} as chat,
        ${AMOUNT} as amount
      ${from}
      order by message_terms.rowid desc
    `,
    params: { match: branch.match, ...params },
    ranges: branch.keys === null ? branch.ranges : [{ low: branch.low, high: branch.high }],
    order: 'newest' as const,
    passes: (chat: number | null) => chat !== null,
    isCostly: branch.isCostly,
  }
  const messages: Posting[] = []
  for (const [key, chat, amount = 0] of stepThrough(db, steps, deadline, most)) {
    if (chat !== null) messages.push({ key, chat, amount })
    if (messages.length >= most) break
  }
  return messages
}

/** How many chats are looked up by their titles at most. */
const TITLES_MAX = 300

/** The newest chats with a match in title or summary. Some of them may have no message that passes the filters. */
export function readTitles(db: Mirror, { titleBranches }: QueryPlan): readonly number[] {
  return titleBranches.flatMap(({ match, chats }) => {
    const ofBranch = chats === null ? '' : 'and +rowid in (select value from json_each(@chats))'
    const sql = `
      select rowid from chat_terms where chat_terms match @match ${ofBranch} order by rowid desc limit ${TITLES_MAX}
    `
    return valuesOf<number>(db, sql).all({ match, ...(chats === null ? {} : { chats: JSON.stringify(chats) }) })
  })
}
