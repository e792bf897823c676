import type { Branch } from './branch.ts'
import type { Test } from './condition.ts'
import { expressionOf } from './match.ts'

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
