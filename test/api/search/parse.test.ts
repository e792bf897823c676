import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseQuery } from '../../../src/api/search/language/parse.ts'
import type { Branch } from '../../../src/api/search/plan/branch.ts'
import { planQuery } from '../../../src/api/search/plan/plan.ts'
import { printQuery } from '../../../src/api/search/language/print.ts'
import type { QueryNode } from '../../../src/api/search/language/tree.ts'
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
const ways = (query: string): readonly Branch[] => {
  const { tree } = parseQuery(query)
  return tree === null ? [] : planQuery(db, [tree], clock).branches
}
const match = (query: string): string | null => ways(query)[0]?.match ?? null
const warnings = (query: string): readonly string[] => parseQuery(query).warnings

describe('a query becomes an FTS5 expression', () => {
  test.each(cases<[string, string | null]>('FTS5 expressions'))('%j is %j', (query, expected) => {
    expect(match(query)).toBe(expected)
  })

  test('exclusions alone have no expression to match', () => {
    expect(ways('-one -two')).toMatchObject([{ match: null, exclude: '"one" OR "two"', phrases: [] }])
  })

  test('adjacent words give a second expression, with joining pairs for unspaced scripts', () => {
    expect(ways('one twoThree four*')[0]?.closeMatch).toBe(
      '"one" AND ("two three" OR "twothree") AND "four" * AND ("one two three" OR "two three four" *)',
    )
    expect(ways('白鹭 缓存 a')[0]?.closeMatch).toBe('"白鹭" AND "缓存" AND "a" AND ("白鹭 鹭缓 缓存" OR "缓存 a")')
    expect(ways('alone')[0]).toMatchObject({ closeMatch: null, wholeMatch: null })
  })

  test('three or more adjacent words give a third expression', () => {
    const rowOf = (query: string): string | undefined => ways(query)[0]?.wholeMatch ?? undefined
    expect(rowOf('one twoThree four*')).toBe('"one two three four" *')
    expect(rowOf('白鹭 缓存 a')).toBe('"白鹭 鹭缓 缓存 a"')
    expect(rowOf('a b in:code c d e* -f')).toBe('({code} : ("a b c d e")) NOT ({code} : ("f"))')
    expect(rowOf('(d OR e) a b c')).toBe('("d" OR "e") AND "a b c"')
    expect(rowOf('a b (c OR d) e f')).toBeUndefined()
    expect(rowOf('one two* three four')).toBeUndefined()
    expect(rowOf('one two')).toBeUndefined()
  })

  test('a repeated word is searched for once', () => {
    expect(ways('one one one')[0]).toMatchObject({
      match: '"one"',
      closeMatch: '"one" AND ("one one")',
      wholeMatch: '"one one one"',
    })
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

test('any string gives a tree within the limits and valid FTS5 expressions', () => {
  const statement = db.prepare('select count(*) from message_terms where message_terms match ?').pluck()
  fc.assert(
    fc.property(anyQuery, (text) => {
      const { tree } = parseQuery(text)
      expect(countTerms(tree)).toBeLessThanOrEqual(32)
      expect(depthOf(tree)).toBeLessThanOrEqual(64)
      for (const { match: expression, closeMatch, wholeMatch, exclude } of ways(text)) {
        const [all = 0, close = 0, whole = 0] = [expression, closeMatch, wholeMatch].map((each) =>
          each === null ? 0 : Number(statement.get(each)),
        )
        expect(close).toBeLessThanOrEqual(all)
        expect(whole).toBeLessThanOrEqual(close)
        if (exclude !== null) statement.get(exclude)
      }
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
