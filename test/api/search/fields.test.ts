import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FilterName, SearchFilters, SearchRequest } from '../../../src/api/search/request.ts'
import { search } from '../../../src/api/search/search.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'
import { NOW_MS, plainCorpus, vocabulary, type PlainCorpus } from './plain-corpus.ts'
import type { FacetValue, SearchAnswer } from '../../../src/api/http/schemas/search.ts'

let corpus: PlainCorpus
beforeAll(() => {
  corpus = plainCorpus()
})
afterAll(() => void corpus.db.close())

const clock = { timeZone: 'UTC', nowMs: NOW_MS }
const ask = (q: string, changes: Partial<SearchRequest> = {}): SearchAnswer =>
  search(corpus.db, requestOf(q, { clock, limit: 500, ...changes }))
const outcome = (q: string, changes: Partial<SearchRequest> = {}) => {
  const { items, total } = ask(q, changes)
  return { total, items: items.map(({ message, part }) => [message.id, part]) }
}

const filters: readonly [FilterName, string, readonly string[]][] = [
  ['project', 'project', ['red', 'project-blue', '/green', 'none']],
  ['role', 'role', ['user', 'assistant']],
  ['in', 'in', ['text', 'code', 'tool', 'thinking', 'attachment', 'title']],
  ['tool', 'tool', ['edit_file', 'edit', 'gr*']],
  ['model', 'model', ['gpt-5', 'gpt', 'claude']],
  ['mode', 'mode', ['agent', 'ask']],
  ['path', 'path', ['src/api', 'search.ts', 'src/ap*']],
  ['machine', 'machine', ['local', 'laptop', 'grace/laptop', 'none']],
  ['chat', 'chat', ['chat3', 'chat4']],
  ['from', 'after', ['7d', '2026-01-03', '2026-01-12T09:30Z']],
  ['to', 'before', ['yesterday', '2026-01', '2026-01-12T09:30Z']],
]

test('a filter and the same field in the query find the same', () => {
  const chosen = fc
    .constantFrom(...filters)
    .chain(([name, field, values]) =>
      fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 }).map((some) => ({ name, field, some })),
    )
  fc.assert(
    fc.property(chosen, fc.constantFrom('', ...vocabulary), ({ name, field, some }, word) => {
      const written = some.map((value) => `${field}:${value}`).join(' ')
      expect(outcome(`${written} ${word}`)).toEqual(outcome(word, { filters: { [name]: some } }))
    }),
    { numRuns: 200 },
  )
})

test('a filter narrows the query, even if the query has the same field', () => {
  const ids = (q: string, narrowed: Partial<SearchRequest> = {}) => outcome(q, narrowed).items.map(([id]) => id)
  const grepping = new Set(ids('-in:title tool:grep (apple OR user)'))
  const beside = ids('-in:title tool:edit (apple OR user)', { filters: { tool: ['grep'] }, sort: 'newest' })
  expect(beside).toEqual(
    ids('-in:title tool:edit (apple OR user)', { sort: 'newest' }).filter((id) => grepping.has(id)),
  )
  expect(beside.length).toBeGreaterThan(0)
})

test('filters without a query list the newest first', () => {
  const times = ask('has:error').items.map((item) => item.message.createdAt ?? '')
  expect(times).toEqual(times.toSorted().toReversed())
  expect(ask('has:error').items.every((item) => item.score === 0)).toBe(true)
})

describe('one item per chat', () => {
  test.each(['relevance', 'newest', 'oldest'] as const)(
    'by %s: the best message of the chat, and the number of its matches',
    (sort) => {
      const single = ask('apple', { sort })
      const grouped = ask('apple', { sort, group: 'chat' })
      const firsts = single.items.filter(
        (item, index) => single.items.findIndex((other) => other.chat.id === item.chat.id) === index,
      )
      expect(grouped.items.map((item) => item.message.id)).toEqual(firsts.map((item) => item.message.id))
      expect(grouped.total).toBe(firsts.length)
      expect(grouped.items.reduce((sum, item) => sum + (item.matchCount ?? 0), 0)).toBe(single.total)
      const pages = [0, 3, 6].flatMap((offset) => ask('apple', { sort, group: 'chat', offset, limit: 3 }).items)
      expect(pages).toEqual(grouped.items.slice(0, 9))
    },
  )
})

describe('facets', () => {
  const names = ['project', 'role', 'part', 'tool', 'model', 'machine', 'month'] as const
  const filterOf = (name: (typeof names)[number], value: string): SearchFilters => {
    if (name !== 'month') return { [name === 'part' ? 'in' : name]: [value] }
    const [year = 0, month = 0] = value.split('-').map(Number)
    return { from: [value], to: [month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}`] }
  }

  // Titles are left out: a title may represent its chat when a filter removes the chat's messages.
  test.each(['-in:title apple', '-in:title (apple OR "user name" -retry)', 'has:error', 'in:text user role:user'])(
    'for %j have the count that a filter with each value gives',
    (q) => {
      const { facets, total } = ask(q, { facets: names })
      expect(Object.keys(facets).sort()).toEqual([...names].sort())
      for (const name of names) {
        const values = facets[name] as readonly FacetValue[]
        const narrowed = values.map(({ value }) => ask('', { filters: filterOf(name, value), q }).total)
        expect([name, values.map(({ count }) => count)]).toEqual([name, narrowed])
      }
      expect(facets['role']?.reduce((sum, { count }) => sum + count, 0)).toBe(total)
    },
  )

  test('a project has its id as value and its name as label', () => {
    const { facets } = ask('apple', { facets: ['project'] })
    expect(facets['project']).toContainEqual({
      value: 'project-red',
      label: 'red',
      count: expect.any(Number),
      countIsExact: true,
    })
    expect(ask('', { facets: ['project'] }).facets).toEqual({ project: [] })
  })

  test('a machine has its user and name as value, and its name as label', () => {
    expect(
      ask('apple OR user', { facets: ['machine'] }).facets['machine']?.map(({ value, label }) => [value, label]),
    ).toEqual(
      expect.arrayContaining([
        ['local', 'local'],
        ['ada/laptop', 'laptop'],
        ['grace/Laptop', 'Laptop'],
      ]),
    )
  })

  test('a month begins with its first moment in the zone', () => {
    const db = openTestMirror()
    insertMessage(db, insertChat(db, { id: 'c' }), { id: 'm', parts: 'x', createdAtMs: Date.UTC(2026, 0, 31, 23, 30) })
    const months = (timeZone: string) =>
      search(db, requestOf('x', { clock: { timeZone, nowMs: NOW_MS }, facets: ['month'] })).facets['month']
    expect(months('UTC')).toEqual([{ value: '2026-01', label: '2026-01', count: 1, countIsExact: true }])
    expect(months('Europe/Berlin')).toEqual([{ value: '2026-02', label: '2026-02', count: 1, countIsExact: true }])
    db.close()
  })
})

test('explain shows how the query was understood and run', () => {
  const { plan } = ask('(tool:grep OR in:code apple) -user', { explain: true, filters: { role: ['user'] } })
  expect(plan).toMatchObject({
    query: '(tool:grep OR in:code apple) -user',
    tree: ['and', '  or', '    tool:grep', '    and', '      in:code', '      apple', '  not', '    user'],
    filters: ['role:user'],
    ways: [{ tests: ['role is user'], match: expect.stringContaining('{code} : ("apple")') }],
    steps: [
      expect.stringContaining('walk the index'),
      expect.stringContaining('rank the newest'),
      expect.stringContaining('count'),
    ],
  })
  expect(ask('apple').plan).toBeUndefined()
})

describe('help when nothing is found', () => {
  const suggestions = (q: string, changes: Partial<SearchRequest> = {}) => ask(q, changes).suggestions

  test('a field or a filter that matches nothing', () => {
    const count = outcome('apple').total
    expect(suggestions('apple tool:none')).toContainEqual({
      text: 'tool:none',
      reason: 'without-filter',
      count,
      query: 'apple',
    })
    expect(suggestions('apple', { filters: { tool: ['none'] } })).toEqual([
      { text: 'tool', reason: 'without-filter', count },
    ])
  })

  test('a word next to a field, a word inside parentheses, and both ends of a time range', () => {
    expect(suggestions('haystack role:user')).toEqual([])
    expect(ask('haystack role:user').warnings).toEqual([
      expect.stringMatching(/^Nothing matches "haystack"; without it, the rest leaves \d+ messages\.$/),
    ])
    expect(suggestions('(apple haystack) OR haystack')).toContainEqual(
      expect.objectContaining({ text: 'apple OR haystack', reason: 'without-word' }),
    )
    expect(suggestions('apple after:2030 before:2020')).toContainEqual(
      expect.objectContaining({ text: 'after:2030 before:2020', reason: 'without-filter', query: 'apple' }),
    )
  })

  test('exclusions alone are not suggested, because nearly everything matches them', () => {
    expect(suggestions('apple -apple').map(({ text }) => text)).toEqual(['apple'])
  })
})

test('*inside* with very many words searches only some of them and warns', () => {
  const db = openTestMirror()
  const chat = insertChat(db, { id: 'c' })
  const letter = (n: number): string => String.fromCharCode(97 + (n % 26))
  const words = Array.from({ length: 300 }, (_, n) => `${letter(n)}${letter(n / 26)}midd${letter(n / 7)}`)
  insertMessage(db, chat, { id: 'm', parts: words.join(' ') })
  const answer = search(db, requestOf('*midd*'))
  expect(answer.total).toBe(1)
  expect(answer.warnings).toEqual([expect.stringContaining('only some of them')])
  db.close()
})

test('words that are in no message any more do not displace one that is', () => {
  const db = openTestMirror()
  const chat = insertChat(db, { id: 'c' })
  const letter = (n: number): string => String.fromCharCode(97 + (n % 26))
  const words = Array.from({ length: 300 }, (_, n) => `${letter(n)}${letter(n / 26)}midd${letter(n / 7)}`)
  const key = insertMessage(db, chat, { id: 'streamed', parts: words.join(' ') })
  db.prepare('delete from message_terms where rowid = ?').run(BigInt(key))
  insertMessage(db, chat, { id: 'm', parts: 'a longer one is pyramiddle' })
  expect(search(db, requestOf('*midd*'))).toMatchObject({ total: 1, warnings: [] })
  db.close()
})

test('more than 32 alternatives by OR are cut with a warning', () => {
  const q = Array.from({ length: 6 }, (_, n) => `(apple${n} OR role:user)`).join(' ')
  expect(ask(q).warnings).toContainEqual(expect.stringContaining('more than 32'))
})
