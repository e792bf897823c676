import type { Branch } from './branch.ts'
import { type Test, expressionOf } from './condition.ts'

export interface CompiledTests {
  /** An SQL expression over `m` that is 1 if the message passes; null if all pass. */
  readonly sql: string | null
  readonly params: Readonly<Record<string, string | number | bigint>>
}

/** Compiles the tests of a branch on columns. @param isByChat whether the statement already walks the branch's chats */
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

/** Reading a longer list in each statement costs more than looking up the chat of each row. */
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
      // `is true` makes null false. So the negation of a test matches all other rows.
      return `((${test.sql.replaceAll('?', () => bind(values.shift() ?? ''))}) is true)`
    }
    default:
      return `(${test.tests.map((each) => sqlOf(each, bind)).join(` ${test.kind} `)})`
  }
}

/** The test in readable form. */
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

/** The common part of all statements over the matches of a branch. */
export interface MatchSource {
  /** An SQL expression that is 1 if a row passes. */
  readonly passes: string
  /** From `from` to the last condition. It needs `@match`, `@low` and `@high` besides `params`. */
  readonly from: string
  readonly params: Readonly<Record<string, string | number | bigint>>
}

/** @param needsMessages whether the statement needs `m`, the message of a row, for more than the branch's tests */
export function matchSource(branch: Branch, needsMessages = false): MatchSource {
  const tests = compileTests(branch, branch.keys !== null)
  // The cross join makes SQLite walk the full-text table first. A subquery of rowids would cost a look-up per row.
  const join =
    tests.sql === null && !needsMessages
      ? ''
      : `cross join messages m ${indexFor(tests.sql)} on m.key = message_terms.rowid`
  // The plus prevents SQLite from querying the index once per key.
  const within = branch.keys === null ? '' : 'and +message_terms.rowid in (select value from json_each(@keys))'
  return {
    passes: tests.sql ?? '1',
    from: `from message_terms ${join}
      where message_terms match @match and message_terms.rowid between @low and @high ${within}`,
    params: { ...tests.params, ...(branch.keys === null ? {} : { keys: JSON.stringify(branch.keys) }) },
  }
}

/** The columns of the index `message_facts`. */
const FACTS = new Set(['key', 'chat', 'role', 'model', 'is_live', 'is_orphan'])

/** Rows of messages are long and scattered, so a covering index is read if it has all columns of the tests. */
function indexFor(tests: string | null): string {
  const columns = [...(tests ?? '').matchAll(/\bm\.(\w+)/g)].map(([, name]) => name ?? '')
  return columns.every((name) => FACTS.has(name)) ? 'indexed by message_facts' : ''
}
