import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeExpressions } from '../../../src/api/search/condition.ts'
import { parseQuery, printQuery } from '../../../src/api/search/parse.ts'
import { planQuery, type Plan } from '../../../src/api/search/plan.ts'
import type { QueryNode } from '../../../src/api/search/query.ts'
import { askMessages, statementOf } from '../../../src/api/search/statement.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { tokenize } from '../../../src/text/terms/terms.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { called, Searched } from './searched.ts'

const cases = casesBeside(import.meta.url)

let db: Mirror
let searched: Searched
beforeAll(async () => {
  const params = { target_file: 'src/a.ts' }
  const row = { ...called('read_file', params, null, 'error'), modelInfo: { modelName: 'gpt-5' } }
  const message = { id: 'm', text: 'getUserName 数据 据 库 username', role: 'assistant', atMs: 1e12, row } as const
  searched = await Searched.of([{ id: 'chat', title: 'one', messages: [message] }])
  db = searched.world.mirror
})
afterAll(() => searched.remove())

const clock = { timeZone: 'UTC', nowMs: Date.UTC(2026, 0, 20) }
const planOf = (query: string): Plan | null => {
  const { tree } = parseQuery(query)
  return tree === null ? null : planQuery(db, [tree], clock)
}
const warnings = (query: string): readonly string[] => parseQuery(query).warnings

describe('a query becomes an FTS5 expression', () => {
  test.each(cases<[string, string | null]>('FTS5 expressions'))('%j is %j', (query, expected) => {
    expect(planOf(query)?.messages.match ?? null).toBe(expected)
  })
})

test('adjacent words of an unspaced script are joined by pairs in the expressions of neighbours', () => {
  expect(closeExpressions(planOf('白鹭 缓存 a')?.condition ?? { kind: 'or', all: [] })).toEqual({
    pairs: '("白鹭 鹭缓 缓存" OR "缓存 a")',
    row: '"白鹭 鹭缓 缓存 a"',
  })
})

describe('a warning says what was not read as intended', () => {
  test.each(cases<[string, string, string]>('warnings'))('%s', (_, query, warning) => {
    expect(warnings(query).join('\n')).toMatch(new RegExp(warning))
  })

  test.each(cases<string>('no warning'))('%j gives no warning', (query) => {
    expect(warnings(query)).toEqual([])
  })
})

const countTerms = (node: QueryNode | null): number => {
  if (node === null || node.kind === 'field') return 0
  if (node.kind === 'not') return countTerms(node.node)
  if (node.kind === 'words' || node.kind === 'inside') return tokenize(node.text).length
  return node.nodes.reduce((sum, each) => sum + countTerms(each), 0)
}
const depthOf = (node: QueryNode | null): number => {
  if (node === null) return 0
  if (node.kind === 'not') return 1 + depthOf(node.node)
  return node.kind === 'and' || node.kind === 'or' ? 1 + Math.max(...node.nodes.map(depthOf)) : 1
}

const operators = ['"', '*', '-', ' ', '(', ')', ' OR ', ':', '“', '^', '{', '+', 'NOT', 'NEAR', '\u0000', '\ud800']
const words = ['a', 'user', 'getUserName', '数据', '*ser*', '*ame', 'nam*', 'last', 'week', 'src/a.ts']
const fields = [
  'tool:',
  'in:code',
  'in:title',
  'is:orphan',
  'has:error',
  'on:2026-01',
  'after:7d',
  'path:src',
  'model:gpt*',
  'role:user',
]
const jsonPieces = [
  '{"',
  '[["',
  String.raw`\n`,
  String.raw`\u0022`,
  String.raw`\u002a`,
  String.raw`\ud83d`,
  String.raw`\u0000`,
]
const anyQuery = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom(...operators, ...words, ...fields, ...jsonPieces),
    ),
    {
      maxLength: 60,
    },
  )
  .chain((pieces) => fc.constantFrom('', '{"', '[{').map((beginning) => beginning + pieces.join('')))

test('any string gives a tree within the limits and a statement that runs', () => {
  fc.assert(
    fc.property(anyQuery, (text) => {
      const { tree } = parseQuery(text)
      expect(countTerms(tree)).toBeLessThanOrEqual(32)
      expect(depthOf(tree)).toBeLessThanOrEqual(64)
      const plan = planOf(text)
      if (plan === null) return
      const { pairs, row } = closeExpressions(plan.condition)
      const counts = [null, pairs, row].map((besides) => {
        const { sql, values } = askMessages(plan.messages, { columns: 'message_terms.rowid', order: 'newest', besides })
        return besides === null || plan.messages.match !== null ? statementOf(db, sql).all(...values, 9).length : 0
      })
      expect(counts.every((count) => count <= (counts[0] ?? 0))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a printed query is parsed to the same tree', () => {
  fc.assert(
    fc.property(anyQuery, (text) => {
      const { tree } = parseQuery(text)
      expect(parseQuery(printQuery(tree)).tree).toEqual(tree)
    }),
    { numRuns: 2000 },
  )
})

test.each(cases<[string, string]>('printed'))('%j is printed as %j', (query, printed) => {
  expect(printQuery(parseQuery(query).tree)).toBe(printed)
})
