import type { Branch } from '../plan/branch.ts'
import { compileTests } from '../plan/test-sql.ts'

/** What every statement over the matches of a branch has in common. */
export interface MatchSource {
  /** An expression that is 1 for a row that passes. */
  readonly passes: string
  /** From `from` to the last condition; takes `@match`, `@low` and `@high` besides `params`. */
  readonly from: string
  readonly params: Readonly<Record<string, string | number | bigint>>
}

/** @param needsMessages whether `m`, the message of a row, is asked for something besides the branch's tests */
export function matchSource(branch: Branch, needsMessages = false): MatchSource {
  const tests = compileTests(branch, branch.keys !== null)
  // The cross join keeps the full-text table outside: a subquery of rowids there costs a look-up per row of the answer.
  const join =
    tests.sql === null && !needsMessages
      ? ''
      : `cross join messages m ${indexFor(tests.sql)} on m.key = message_terms.rowid`
  // The plus keeps SQLite from asking the index once per key.
  const within = branch.keys === null ? '' : 'and +message_terms.rowid in (select value from json_each(@keys))'
  return {
    passes: tests.sql ?? '1',
    from: `from message_terms ${join}
      where message_terms match @match and message_terms.rowid between @low and @high ${within}`,
    params: { ...tests.params, ...(branch.keys === null ? {} : { keys: JSON.stringify(branch.keys) }) },
  }
}

/** A message's row is long, and what is found lies anywhere: where its chat is all that is asked, an index says it. */
function indexFor(tests: string | null): string {
  const columns = [...(tests ?? '').matchAll(/\bm\.(\w+)/g)].map(([, name]) => name)
  return columns.every((name) => name === 'key' || name === 'chat') ? 'indexed by chat_of_message' : ''
}
