import type { Branch } from './branch.ts'
import { type Test, expressionOf } from './condition.ts'

export interface CompiledTests {
  /** An expression over `m` that is 1 where the message passes; null where all do. */
  readonly sql: string | null
  readonly params: Readonly<Record<string, string | number | bigint>>
}

/** What a branch asks of a message's columns. @param isByChat the statement walks the branch's chats already */
export function compileTests({ chats, chatTests, tests }: Branch, isByChat = false): CompiledTests {
  const params: Record<string, string | number | bigint> = {}
  const bind = (value: string | number | bigint): string => {
    const name = `p${Object.keys(params).length}`
    params[name] = value
    return `@${name}`
  }
  const parts = tests.map((test) => sqlOf(test, bind))
  if (chats !== null && !isByChat) parts.unshift(...testChats(chats, chatTests, bind))
  return { sql: parts.length === 0 ? null : parts.join(' and '), params }
}

/** A long list costs each statement more to read than asking the chats of what it meets. */
const LISTED_MAX = 200

function testChats(chats: readonly number[], tests: readonly Test[], bind: Bind): readonly string[] {
  if (chats.length <= LISTED_MAX) return [isOfChats(bind(JSON.stringify(chats)))]
  return tests.map((test) => sqlOf(test.kind === 'chats' ? test.asked : test, bind))
}

type Bind = (value: string | number | bigint) => string

const isOfChats = (json: string): string => `(m.chat in (select value from json_each(${json})))`

function sqlOf(test: Test, bind: Bind): string {
  switch (test.kind) {
    case 'chats':
      return isOfChats(bind(JSON.stringify(test.nums)))
    case 'keys':
      return `(m.key between ${bind(test.low)} and ${bind(test.high)})`
    case 'marks':
      return `(m.key in (
        select rowid from message_terms
        where message_terms match ${bind(expressionOf(test.match))} and rowid between @low and @high
      ))`
    case 'not':
      return `(not ${sqlOf(test.test, bind)})`
    case 'sql': {
      const values = [...test.values]
      // What is not known is not so: the opposite of a test is then its complement.
      return `((${test.sql.replaceAll('?', () => bind(values.shift() ?? ''))}) is true)`
    }
    default:
      return `(${test.tests.map((each) => sqlOf(each, bind)).join(` ${test.kind} `)})`
  }
}

/** As a person reads it. */
export function describeTest(test: Test): string {
  switch (test.kind) {
    case 'not':
      return `not (${describeTest(test.test)})`
    case 'and':
    case 'or':
      return `(${test.tests.map(describeTest).join(` ${test.kind} `)})`
    default:
      return test.says
  }
}

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
