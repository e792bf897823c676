import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FacetValue, SearchAnswer } from '../../../src/api/answers/search.ts'
import { findByForce, write, type Asked } from './brute-force.ts'
import { NOW_MS, plainCorpus, vocabulary, type PlainCorpus } from './plain-corpus.ts'
import type { Asking } from './searched.ts'

let corpus: PlainCorpus
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS })
  corpus = await plainCorpus()
})
afterAll(async () => {
  await corpus.searched.remove()
  vi.useRealTimers()
})

const values: Readonly<Record<string, readonly string[]>> = {
  project: ['red', '/blue', 'green', 'none'],
  role: ['user', 'assistant'],
  in: ['text', 'code', 'tool', 'thinking', 'attachment', 'title'],
  tool: ['edit', 'edit_file', 'grep', 'write', 'gre*', 'none'],
  model: ['gpt', 'gpt-5', 'GPT-5-Mini', 'cl*'],
  mode: ['agent', 'ask', 'none'],
  branch: ['main', 'fix/login', 'mai'],
  path: ['src', 'src/api', 'search.ts', 'src/ap*', 'readme'],
  chat: ['chat0', 'chat1', 'chat2', 'none'],
  before: ['today', '7d', '2026-01', '2026-01-10', 'last week'],
  after: ['today', '7d', '2026-01', '2026-01-10', 'last week'],
  on: ['today', '7d', '2026-01', '2026-01-10', 'last week'],
  is: ['archived', 'deleted', 'subagent', 'orphan'],
  has: ['code', 'error', 'thinking'],
}

const plainWord = (text: string): Asked => ({ is: 'word', text, star: '' })
const otherSpellings = ['username', 'java_script', 'oauthToken', 'o_auth', 'oauth', 'absent', '据']
const words = {
  '': [...vocabulary, ...otherSpellings, 'apple user', 'user name'],
  end: ['app', 'use', 'getUser', 'que', 'kw1', 'aa91', 'oauth_to'],
  both: ['ppl', 'ser', 'tUserN', 'script', '91fe7', 'w1', 'uthTok'],
  start: ['ple', 'Name', '77d0', 'w1x2', 'h_token'],
} as const
const wordOf = (star: keyof typeof words, weight: number) => {
  const arbitrary = fc.constantFrom(...words[star]).map((text): Asked => ({ is: 'word', text, star }))
  return { weight, arbitrary }
}
const word = fc.oneof(wordOf('', 6), wordOf('end', 1), wordOf('both', 1), wordOf('start', 1))
const field = fc
  .constantFrom(...Object.keys(values))
  .chain((name) => fc.constantFrom(...(values[name] ?? [])).map((value): Asked => ({ is: 'field', name, value })))
const { query } = fc.letrec<{ query: Asked; group: Asked }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: word },
    { weight: 3, arbitrary: field },
    { weight: 2, arbitrary: tie('query').map((of): Asked => ({ is: 'not', of })) },
    { weight: 5, arbitrary: tie('group') },
  ),
  group: fc
    .tuple(
      fc.constantFrom('and' as const, 'and' as const, 'or' as const),
      fc.array(tie('query'), { minLength: 1, maxLength: 3 }),
    )
    .map(([is, all]): Asked => ({ is, all })),
}))

/** Every item of a search. */
async function askAll(q: string, more: Asking = {}): Promise<SearchAnswer> {
  const first = await corpus.searched.ask(q, { limit: 200, ...more })
  if (first.items.length < 200 || more['limit'] !== undefined) return first
  const { items } = await corpus.searched.ask(q, { limit: 200, ...more, offset: 200 })
  return { ...first, items: [...first.items, ...items] }
}

async function found(q: string, more: Asking = {}): Promise<readonly string[]> {
  const answer = await askAll(q, { literal: true, ...more })
  const items = answer.items.map(({ message, part }) =>
    part === 'title' ? `${message.chatId} ${message.id}` : message.id,
  )
  expect(answer).toMatchObject({ total: items.length, totalIsExact: true })
  return items.sort()
}

test('a search finds the same as a scan of all messages', { timeout: 120_000 }, async () => {
  let withHits = 0
  await fc.assert(
    fc.asyncProperty(query, fc.constantFrom('relevance', 'newest', 'oldest'), async (asked, sort) => {
      const expected = findByForce(corpus, asked)
      if (expected.length > 0 && expected.length < 200) withHits += 1
      expect(await found(write(asked), { sort })).toEqual(expected)
    }),
    { numRuns: 1000 },
  )
  expect(withHits).toBeGreaterThan(250)
})

test('another spelling is used only if there are no hits, and its count is right', { timeout: 120_000 }, async () => {
  let corrected = 0
  const misspelt = fc.constantFrom('aple', 'javascirpt', 'queu', 'pinaepple', 'getUserNmae').map(plainWord)
  const pair = fc.tuple(misspelt, query).map(([one, other]): Asked => ({ is: 'and', all: [one, other] }))
  await fc.assert(
    fc.asyncProperty(fc.oneof(query, misspelt, pair), async (asked) => {
      const answer = await askAll(write(asked))
      const literal = await askAll(write(asked), { literal: true })
      const { correctedQuery } = answer
      const shown = correctedQuery === null ? literal : await askAll(correctedQuery, { literal: true })
      expect(answer).toMatchObject({ items: shown.items, total: shown.total })
      const offered = { text: correctedQuery ?? '', reason: 'spelling', count: answer.total } as const
      const first = correctedQuery === null ? [] : [offered]
      expect([literal.total, answer.suggestions.slice(0, first.length)]).toEqual([
        correctedQuery === null ? answer.total : 0,
        first,
      ])
      corrected += first.length
    }),
    { numRuns: 200 },
  )
  expect(corrected).toBeGreaterThan(25)
})

test('an exclusion finds all messages that the query itself does not find', { timeout: 120_000 }, async () => {
  const messagesOf = async (q: string): Promise<readonly string[]> => (await found(q)).filter((id) => !id.includes(' '))
  const all = corpus.messages.map((message): string => message.id).sort()
  expect(all.length).toBeGreaterThan(150)
  await fc.assert(
    fc.asyncProperty(query, async (asked) => {
      const parts = [await messagesOf(`-(${write(asked)})`), await messagesOf(write(asked))]
      expect(parts.flat().sort()).toEqual(all)
    }),
    { numRuns: 150 },
  )
})

const outcome = async (q: string, more: Asking = {}) => {
  const { items, total } = await askAll(q, more)
  return { total, items: items.map(({ message, part }) => [message.id, part]) }
}

const filters: readonly [name: string, written: string, some: readonly string[]][] = [
  ['project', 'project', ['red', '/green', 'none']],
  ['role', 'role', ['user', 'assistant']],
  ['in', 'in', ['text', 'code', 'tool', 'thinking', 'attachment', 'title']],
  ['tool', 'tool', ['edit_file', 'edit', 'gr*']],
  ['model', 'model', ['gpt-5', 'gpt', 'claude']],
  ['mode', 'mode', ['agent', 'ask']],
  ['branch', 'branch', ['main', 'fix/login', 'mai']],
  ['path', 'path', ['src/api', 'search.ts', 'src/ap*']],
  ['machine', 'machine', ['local', 'none']],
  ['chat', 'chat', ['chat3', 'chat4']],
  ['from', 'after', ['7d', '2026-01-03', '2026-01-12T09:30Z']],
  ['to', 'before', ['yesterday', '2026-01', '2026-01-12T09:30Z']],
]

test('a filter and the same field in the query find the same', { timeout: 120_000 }, async () => {
  const chosen = fc
    .constantFrom(...filters)
    .chain(([name, written, all]) => fc.constantFrom(...all).map((value) => ({ name, written, value })))
  await fc.assert(
    fc.asyncProperty(chosen, fc.constantFrom('', ...vocabulary), async ({ name, written, value }, other) => {
      expect(await outcome(`${written}:${value} ${other}`)).toEqual(await outcome(other, { [name]: value }))
    }),
    { numRuns: 150 },
  )
})

test('a filter narrows the query, even if the query has the same field', async () => {
  const ids = async (q: string, more: Asking = {}) => (await outcome(q, more)).items.map(([id]) => id)
  const grepping = new Set(await ids('-in:title tool:grep (apple OR user)'))
  const beside = await ids('-in:title tool:edit (apple OR user)', { tool: 'grep', sort: 'newest' })
  const editing = await ids('-in:title tool:edit (apple OR user)', { sort: 'newest' })
  expect(beside).toEqual(editing.filter((id) => grepping.has(id)))
})

test('filters without a query list the newest first', async () => {
  const { items } = await askAll('has:error')
  const times = items.map((item) => item.message.createdAt ?? '')
  expect(times.length).toBeGreaterThan(3)
  expect(times).toEqual(times.toSorted().toReversed())
  expect(items.every((item) => item.score === 0)).toBe(true)
})

test.each(['relevance', 'newest', 'oldest'])(
  'one item per chat, by %s: the best message of the chat, and the number of its matches',
  async (sort) => {
    const single = await askAll('apple', { sort })
    const grouped = await askAll('apple', { sort, group: 'chat' })
    const firsts = single.items.filter(
      (item, index) => single.items.findIndex((other) => other.chat.id === item.chat.id) === index,
    )
    expect(grouped.items.map((item) => item.message.id)).toEqual(firsts.map((item) => item.message.id))
    expect(grouped.total).toBe(firsts.length)
    expect(grouped.items.reduce((sum, item) => sum + (item.matchCount ?? 0), 0)).toBe(single.total)
    const pages = await Promise.all(
      [0, 3, 6].map(async (offset) => (await askAll('apple', { sort, group: 'chat', offset, limit: 3 })).items),
    )
    expect(pages.flat()).toEqual(grouped.items.slice(0, 9))
  },
)

describe('facets', () => {
  const names = ['project', 'role', 'part', 'tool', 'model', 'machine', 'month'] as const
  const filterOf = (name: (typeof names)[number], value: string): Asking => {
    if (name !== 'month') return { [name === 'part' ? 'in' : name]: value }
    const [year = 0, month = 0] = value.split('-').map(Number)
    return { from: value, to: month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}` }
  }

  // Titles are left out: a title may represent its chat when a filter removes the chat's messages.
  test.each(['-in:title apple', '-in:title (apple OR "user name" -retry)', 'has:error', 'in:text user role:user'])(
    'for %j have the count that a filter with each value gives',
    async (q) => {
      const { facets, total } = await askAll(q, { facets: names })
      expect(Object.keys(facets).sort()).toEqual([...names].sort())
      for (const name of names) {
        const all = facets[name] as readonly FacetValue[]
        const narrowed = await Promise.all(all.map(async ({ value }) => (await askAll(q, filterOf(name, value))).total))
        expect([name, all.map(({ count }) => count)]).toEqual([name, narrowed])
      }
      expect(facets['role']?.reduce((sum, { count }) => sum + count, 0)).toBe(total)
    },
  )

  test('a project has its id as value and its name as label, and an empty query has no values', async () => {
    const { facets } = await askAll('apple', { facets: ['project'] })
    expect(facets['project']?.find(({ label }) => label === 'red')).toMatchObject({ countIsExact: true })
    expect((await askAll('', { facets: ['project'] })).facets).toEqual({ project: [] })
  })
})

test('explain shows how the query was understood and run', async () => {
  const { plan } = await askAll('(tool:grep OR in:code apple) -user', { explain: true, role: 'user' })
  expect(plan?.query).toBe('(tool:grep OR in:code apple) -user')
  expect(plan?.statement).toContain('message_terms match ?')
  expect(plan?.values).toContain('["user"]')
  expect((await askAll('apple')).plan).toBeUndefined()
})
