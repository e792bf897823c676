import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { SearchRequest } from '../../../src/api/search/request.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { findByForce, write, type Asked } from './brute-force.ts'
import { NOW_MS, plainCorpus, vocabulary, type PlainCorpus } from './plain-corpus.ts'

let corpus: PlainCorpus
beforeAll(() => {
  corpus = plainCorpus()
})
afterAll(() => void corpus.db.close())

const values: Readonly<Record<string, readonly string[]>> = {
  project: ['red', '/blue', 'project-green', 'none'],
  role: ['user', 'assistant'],
  in: ['text', 'code', 'tool', 'thinking', 'attachment', 'title'],
  tool: ['edit', 'edit_file', 'grep', 'write', 'gre*', 'none'],
  model: ['gpt', 'gpt-5', 'GPT-5-Mini', 'cl*'],
  mode: ['agent', 'ask', 'none'],
  path: ['src', 'src/api', 'search.ts', 'src/ap*', 'readme'],
  machine: ['local', 'laptop', 'ada/laptop', 'grace/LAPTOP', 'build server', 'none'],
  chat: ['chat0', 'chat1', 'chat2', 'none'],
  before: ['today', '7d', '2026-01', '2026-01-10', 'last week'],
  after: ['today', '7d', '2026-01', '2026-01-10', 'last week'],
  on: ['today', '7d', '2026-01', '2026-01-10', 'last week'],
  is: ['archived', 'deleted', 'subagent', 'orphan'],
  has: ['code', 'error', 'thinking'],
}

const plainWord = (text: string): Asked => ({ is: 'word', text, star: '' })
const word = fc
  .oneof(
    {
      weight: 6,
      arbitrary: fc
        .constantFrom(
          ...vocabulary,
          'username',
          'java_script',
          'oauthToken',
          'o_auth',
          'oauth',
          'absent',
          '据',
          'apple user',
          'user name',
        )
        .map((text) => ({ text, star: '' as const })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('app', 'use', 'getUser', 'que', 'kw1', 'aa91', 'oauth_to')
        .map((text) => ({ text, star: 'end' as const })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('ppl', 'ser', 'tUserN', 'script', '91fe7', 'w1', 'uthTok')
        .map((text) => ({ text, star: 'both' as const })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('ple', 'Name', '77d0', 'w1x2', 'h_token')
        .map((text) => ({ text, star: 'start' as const })),
    },
  )
  .map((given): Asked => ({ is: 'word', ...given }))
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

const clock = { timeZone: 'UTC', nowMs: NOW_MS }

function found(q: string, changes: Partial<SearchRequest> = {}): readonly string[] {
  const answer = search(corpus.db, requestOf(q, { clock, limit: 1000, isLiteral: true, ...changes }))
  const items = answer.items.map(({ message, part }) =>
    part === 'title' ? `${message.chatId} ${message.id}` : message.id,
  )
  expect(answer).toMatchObject({ total: items.length, totalIsExact: true })
  return items.sort()
}

test('a search finds the same as a scan of all messages', () => {
  let withHits = 0
  fc.assert(
    fc.property(query, fc.constantFrom('relevance', 'newest', 'oldest'), (asked, sort) => {
      const expected = findByForce(corpus, asked)
      if (expected.length > 0 && expected.length < 200) withHits += 1
      expect(found(write(asked), { sort })).toEqual(expected)
    }),
    { numRuns: 2000 },
  )
  expect(withHits).toBeGreaterThan(600)
})

test('another spelling is used only if there are no hits, and its count is right', () => {
  let corrected = 0
  const misspelt = fc.constantFrom('aple', 'javascirpt', 'queu', 'pinaepple', 'getUserNmae').map(plainWord)
  const pair = fc.tuple(misspelt, query).map(([one, other]): Asked => ({ is: 'and', all: [one, other] }))
  fc.assert(
    fc.property(fc.oneof(query, misspelt, pair), (asked) => {
      const request = requestOf(write(asked), { clock, limit: 1000 })
      const answer = search(corpus.db, request)
      const literal = search(corpus.db, { ...request, isLiteral: true })
      const { correctedQuery } = answer
      const shown =
        correctedQuery === null ? literal : search(corpus.db, { ...request, q: correctedQuery, isLiteral: true })
      expect(answer).toMatchObject({ items: shown.items, total: shown.total })
      const offered = { text: correctedQuery ?? '', reason: 'spelling', count: answer.total } as const
      const first = correctedQuery === null ? [] : [offered]
      expect([literal.total, answer.suggestions.slice(0, first.length)]).toEqual([
        correctedQuery === null ? answer.total : 0,
        first,
      ])
      corrected += first.length
    }),
    { numRuns: 400 },
  )
  expect(corrected).toBeGreaterThan(50)
})

test('an exclusion finds all messages that the query itself does not find', () => {
  const messagesOf = (q: string): readonly string[] => found(q).filter((id) => !id.includes(' '))
  const all = corpus.messages.map((message) => message.id).sort()
  fc.assert(
    fc.property(query, (asked) => {
      const parts = [messagesOf(`-(${write(asked)})`), messagesOf(write(asked))]
      expect(parts.flat().sort()).toEqual(all)
    }),
    { numRuns: 300 },
  )
})
