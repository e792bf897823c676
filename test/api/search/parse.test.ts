import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseQuery, type QueryNode } from '../../../src/api/search/parse.ts'
import { planQuery } from '../../../src/api/search/plan.ts'
import { openTestMirror } from '../../helpers/mirror-rows.ts'

const match = (query: string): string | null => planQuery(parseQuery(query).clauses).match
const warnings = (query: string): readonly string[] => parseQuery(query).warnings

describe('a query becomes an expression', () => {
  test.each([
    ['one two', '"one" AND "two"'],
    ['getUserName', '("get user name" OR "getusername")'],
    ['src/api/search.ts', '"src api search ts"'],
    ["don't", '"don t"'],
    ['f(a,b)', '"f" AND "a" AND "b"'],
    ['x=12', '"x" AND "12"'],
    ['"get user" name', '"get user" AND "name"'],
    ['“get user” name', '"get user" AND "name"'],
    ['one -two', '("one") NOT ("two")'],
    ['one -two -"three four"', '("one") NOT ("two" OR "three four")'],
    ['one -f(a)', '("one") NOT (("f" AND "a"))'],
    ['one -k', '("one") NOT ("k")'],
    ['one "-k"', '"one" AND "k"'],
    ['--verbose', '"verbose"'],
    ['conf*', '"conf" *'],
    ['getUs*', '("get us" * OR "getus" *)'],
    ['"get us"*', '"get us" *'],
    ['(conf*)', '"conf" *'],
    ['one*two', '"one" AND "two"'],
    ['get_*', '"get"'],
    ['数据库', '"数据 据库"'],
    ['库', '"库" *'],
    ['数据abc', '"数据 据 abc"'],
    ['abc库', '"abc 库" *'],
    ['name:value', '"name value"'],
    ['a OR b', '"a" AND "or" AND "b"'],
    ['NEAR(a b)', '"near" AND "a" AND "b"'],
    ['a\u0000b', '"a" AND "b"'],
    ['-one', null],
    ['', null],
    ['+++', null],
  ])('%j is %j', (query, expected) => {
    expect(match(query)).toBe(expected)
  })

  test('exclusions alone are left to the search', () => {
    expect(planQuery(parseQuery('-one -two').clauses)).toMatchObject({
      match: null,
      exclude: '"one" OR "two"',
      phrases: [],
    })
  })

  test('words that stand together rank higher, and match the same', () => {
    expect(planQuery(parseQuery('one twoThree four*').clauses).rankMatch).toBe(
      '"one" AND (("two three" OR "twothree") OR "one two three") AND ("four" * OR "two three four" *)',
    )
  })
})

describe('what was not taken as meant is told', () => {
  test.each([
    ['an open quotation mark', 'one "two three', /not closed/],
    ['a prefix of one letter', 'one k*', /"k\*"/],
    ['a star in front', '*inside*', /"inside"/],
    ['punctuation alone', 'one ???', /"\?\?\?"/],
    ['too many words', Array.from({ length: 40 }, (_, n) => `w${n}`).join(' '), /first 32 words/],
    ['a word too long', 'x'.repeat(80), /first 64 characters/],
    ['a query too long', 'one '.repeat(5000), /first 10000 characters/],
  ])('%s', (_, query, warning) => {
    expect(warnings(query).join('\n')).toMatch(warning)
  })

  test.each(['one two', '"one two" -three', 'conf*', '库', 'getUserName', 'x'.repeat(64)])(
    '%j needs no warning',
    (query) => {
      expect(warnings(query)).toEqual([])
    },
  )
})

const countTerms = (node: QueryNode): number => {
  if (node.kind === 'not') return countTerms(node.node)
  return node.kind === 'and' ? node.nodes.reduce((sum, each) => sum + countTerms(each), 0) : node.terms.length
}

test('any string gives an expression that SQLite runs', () => {
  const db = openTestMirror()
  db.exec(`insert into message_terms (rowid, text) values (1, 'get user name 数据 据库 库')`)
  const statement = db.prepare('select count(*) from message_terms where message_terms match ?').pluck()
  const piece = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '"',
      '*',
      '-',
      ' ',
      '(',
      ')',
      'a',
      'OR',
      'NOT',
      'NEAR',
      '数据',
      '\u0000',
      '\ud800',
      '^',
      ':',
      '{',
      '+',
      '“',
    ),
  )
  const query = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(query, (text) => {
      const { clauses } = parseQuery(text)
      const plan = planQuery(clauses)
      expect(clauses.reduce((sum, clause) => sum + countTerms(clause.node), 0)).toBeLessThanOrEqual(32)
      const counts = [plan.match, plan.rankMatch].map((each) => (each === null ? null : statement.get(each)))
      expect(counts[1]).toBe(counts[0])
      if (plan.exclude !== null) statement.get(plan.exclude)
    }),
    { numRuns: 3000 },
  )
  db.close()
})
