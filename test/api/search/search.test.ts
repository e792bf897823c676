import * as fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDeadline } from '../../../src/api/search/deadline.ts'
import type { SearchFilters, SearchRequest } from '../../../src/api/search/request.ts'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import { insertChat, insertMessage, insertProject, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const DAY_MS = 86_400_000
const MONDAY_MS = Date.UTC(2026, 0, 5)

let db: Mirror
const ids = (q: string, changes: Partial<SearchRequest> = {}): string[] =>
  search(db, requestOf(q, changes)).items.map((item) => item.message.id)
const found = (q: string, changes: Partial<SearchRequest> = {}): string[] => ids(q, changes).sort()

/** A mirror with one chat and one message per text, a day apart. */
function mirrorOf(texts: readonly (string | readonly Part[])[]): Mirror {
  const mirror = openTestMirror()
  const chat = insertChat(mirror, { id: 'chat' })
  for (const [index, parts] of texts.entries()) {
    insertMessage(mirror, chat, { id: `m${index}`, parts, position: index, createdAtMs: MONDAY_MS + index * DAY_MS })
  }
  return mirror
}

const closeAfterEach = (): (() => void) => () => void db.close()

describe('words', () => {
  beforeAll(() => {
    db = mirrorOf([
      'the getUserName function',
      'the get_user_name function',
      'the GetUserName class',
      'the get-user-name slug',
      'get user name, in words',
      'the name of the user to get',
      'kw12x2',
      'kw1x2',
      '我的数据库很大',
      '数据 in a sentence',
      '据说如此',
      'naïve Straße',
      'cut -k 2 and more',
      'configuration of the thing',
      'データベースとガス',
      'JavaScript on GitHub',
      'javascript on github',
      'new OAuthTokenStore, isIPv6Loopback',
      'oauth_token_store, is_ipv6_loopback',
      'GraphQLSchema',
      'graphql_schema',
      'commit 62b996dfe0a1',
    ])
  })
  afterAll(closeAfterEach())

  test.each(cases<[string, string, string[]]>('words'))('%s: %s', (_, query, expected) => {
    expect(found(query)).toEqual([...expected].sort())
  })

  test('exclusions alone list the newest other messages', () => {
    expect(ids('-name -kw -数', { limit: 3 })).toEqual(['m21', 'm20', 'm19'])
    expect(search(db, requestOf('-name'))).toMatchObject({ total: 16, totalIsExact: true })
    expect(ids('-name', { sort: 'oldest', limit: 2 })).toEqual(['m6', 'm7'])
  })

  test('an empty query lists with a filter, and warns without one', () => {
    expect(ids('', { filters: { role: ['user'] }, limit: 2 })).toEqual(['m21', 'm20'])
    const [first] = search(db, requestOf('', { filters: { role: ['user'] } })).items
    expect(first).toMatchObject({ part: 'text', snippet: 'commit 62b996dfe0a1', score: 0 })
    const nothing = search(db, requestOf(''))
    expect(nothing).toMatchObject({ total: 0, items: [] })
    expect(nothing.warnings).toHaveLength(1)
  })

  test('any string gets an answer', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '*', '-', ' ', '(', 'name', 'user', 'OR', '数据', '\u0000', '\ud800', 'k*'),
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom('relevance', 'newest', 'oldest'),
        (pieces, sort) => {
          const answer = search(db, requestOf(pieces.join(''), { sort }))
          expect(answer.total).toBeGreaterThanOrEqual(answer.items.length)
          expect(answer.totalIsExact).toBe(true)
          expect(answer.items).toHaveLength(Math.min(answer.total, 20))
        },
      ),
      { numRuns: 3000 },
    )
  })
})

describe('filters', () => {
  beforeAll(() => {
    db = openTestMirror()
    const one = insertChat(db, { id: 'one', project: insertProject(db, 'red') })
    const two = insertChat(db, { id: 'two', project: insertProject(db, 'blue') })
    const three = insertChat(db, { id: 'three' })
    for (const [index, chat] of [one, two, three, one, two, three].entries()) {
      const role = index < 3 ? 'user' : 'assistant'
      insertMessage(db, chat, { id: `m${index}`, parts: 'needle', role, createdAtMs: MONDAY_MS + index * DAY_MS })
    }
    insertMessage(db, three, { id: 'timeless', parts: 'needle', role: 'user' })
    insertMessage(db, one, { id: 'shadowed', parts: 'needle', isOrphan: true, isShadowed: true })
  })
  afterAll(closeAfterEach())

  test.each(cases<[string, SearchFilters, string[]]>('filters'))('%s', (_, filters, expected) => {
    for (const sort of ['relevance', 'newest', 'oldest'] as const) {
      const answer = search(db, requestOf('needle', { filters, sort }))
      expect(answer.items.map((item) => item.message.id).sort()).toEqual(expected)
      expect(answer).toMatchObject({ total: expected.length, totalIsExact: true })
    }
    expect(found('-absent', { filters })).toEqual(expected)
    // An empty query without a filter finds nothing.
    expect(found('', { filters })).toEqual(Object.keys(filters).length > 0 ? expected : [])
  })

  test('a search that finds nothing suggests what finds something', () => {
    expect(search(db, requestOf('needle', { filters: { project: ['green'] } })).suggestions).toEqual([
      { text: 'project', reason: 'without-filter', count: 7 },
    ])
    expect(search(db, requestOf('needle haystack', { filters: { role: ['user'] } })).suggestions).toEqual([
      { text: 'needle', reason: 'without-word', count: 4 },
    ])
    expect(search(db, requestOf('needle -needle')).suggestions).toContainEqual({
      text: 'needle',
      reason: 'without-word',
      count: 7,
    })
    expect(search(db, requestOf('haystack', { filters: { role: ['user'] } })).warnings).toEqual([
      expect.stringContaining('4 messages'),
    ])
  })
})

describe('order and pages', () => {
  beforeAll(() => {
    db = mirrorOf(Array.from({ length: 25 }, (_, index) => `needle ${'needle '.repeat(index % 5)} number n${index}`))
  })
  afterAll(closeAfterEach())

  test('newest and oldest sort by time', () => {
    expect(ids('needle', { sort: 'newest', limit: 3 })).toEqual(['m24', 'm23', 'm22'])
    expect(ids('needle', { sort: 'oldest', limit: 3 })).toEqual(['m0', 'm1', 'm2'])
  })

  test.each(['relevance', 'newest', 'oldest'] as const)('pages by %s have no overlaps and no gaps', (sort) => {
    const pages = [0, 7, 14, 21, 28].flatMap((offset) => ids('needle', { sort, limit: 7, offset }))
    expect(pages).toEqual(ids('needle', { sort, limit: 200 }))
    expect(new Set(pages).size).toBe(25)
  })

  test('equal scores are sorted by time, newest first', () => {
    const answer = ids('needle', { limit: 200 })
    const often = new Set(['m24', 'm19', 'm14', 'm9', 'm4'])
    expect(answer.filter((id) => often.has(id))).toEqual([...often])
    expect(answer.slice(0, 5)).toEqual([...often])
  })
})

describe('relevance', () => {
  beforeAll(() => {
    db = mirrorOf([
      'retry queue',
      'retry the whole of it, then look at the queue',
      'queue, and then retry it all over',
      [
        {
          kind: 'tool',
          name: 'grep',
          status: 'completed',
          callId: null,
          input: null,
          output: 'zebra',
          error: null,
          paths: [],
        },
      ],
      'zebra',
      ...Array.from({ length: 30 }, (_, index) => `filler text ${index} about nothing in particular`),
    ])
  })
  afterAll(closeAfterEach())

  test('adjacent words come first, even if other messages are newer', () => {
    expect(ids('retry queue')[0]).toBe('m0')
  })

  test('text outranks tool output', () => {
    expect(ids('zebra')).toEqual(['m4', 'm3'])
  })
})

describe('a hit', () => {
  beforeEach(() => {
    db = openTestMirror()
    return closeAfterEach()
  })

  test('names message, chat and project', () => {
    const chat = insertChat(db, { id: 'chat\n1', title: 'A <title>', project: insertProject(db, 'red') })
    const parts = '<script>alert("needle")</script>'
    insertMessage(db, chat, { id: 'm', parts, role: 'assistant', position: 4, model: 'gpt', createdAtMs: MONDAY_MS })
    const [item] = search(db, requestOf('needle')).items
    expect(item).toEqual({
      message: {
        id: 'm',
        chatId: 'chat\n1',
        position: 4,
        role: 'assistant',
        createdAt: '2026-01-05T00:00:00.000Z',
        model: 'gpt',
        isOrphan: false,
      },
      part: 'text',
      toolName: null,
      chat: { id: 'chat\n1', title: 'A <title>', machine: null },
      project: { id: 'project-red', name: 'red' },
      snippet: '&lt;script&gt;alert(&quot;<mark>needle</mark>&quot;)&lt;/script&gt;',
      score: expect.any(Number),
    })
  })

  test('is one per message, with the best matching part', () => {
    const chat = insertChat(db, { id: 'chat' })
    const call = { kind: 'tool', status: 'completed', callId: null, input: null, error: null, paths: [] } as const
    insertMessage(db, chat, {
      id: 'm',
      parts: [
        { kind: 'text', text: 'alpha alone' },
        { kind: 'thinking', text: 'gamma', durationMs: null },
        { ...call, name: 'list_dir', output: 'alpha' },
        { ...call, name: 'grep', output: { lines: ['alpha and beta'] } },
      ],
    })
    const one = search(db, requestOf('alpha beta'))
    expect(one.total).toBe(1)
    expect(one.items[0]).toMatchObject({ part: 'tool', toolName: 'grep' })
    expect(one.items[0]?.snippet).toContain('<mark>alpha</mark> and <mark>beta</mark>')
    expect(search(db, requestOf('alpha')).items[0]).toMatchObject({ part: 'text', toolName: null })
    expect(search(db, requestOf('alpha gamma')).total).toBe(1)
  })

  test('shows the part that in: names', () => {
    insertMessage(db, insertChat(db, { id: 'chat' }), {
      id: 'm',
      parts: [
        { kind: 'text', text: 'the needle, and a thread' },
        { kind: 'code', language: 'ts', path: null, text: 'const needle = 1 // thread' },
      ],
    })
    const shown = (q: string): object => {
      const [item] = search(db, requestOf(q)).items
      return { part: item?.part, snippet: item?.snippet }
    }
    expect(shown('needle')).toEqual({ part: 'text', snippet: 'the <mark>needle</mark>, and a thread' })
    const inCode = { part: 'code', snippet: 'const <mark>needle</mark> = 1 // thread' }
    expect(shown('in:code needle')).toEqual(inCode)
    expect(shown('in:code (needle OR absent)')).toEqual(inCode)
    const both = { part: 'code', snippet: 'const <mark>needle</mark> = 1 // <mark>thread</mark>' }
    expect(shown('(in:code needle) thread')).toEqual(both)
  })

  test('may be an orphan or deleted', () => {
    const chat = insertChat(db, { id: 'chat' })
    insertMessage(db, chat, { id: 'orphan', parts: 'needle', isOrphan: true })
    insertMessage(db, chat, { id: 'deleted', parts: 'needle', isLive: false })
    const items = search(db, requestOf('needle', { sort: 'oldest' })).items
    expect(items.map(({ message }) => [message.id, message.position, message.isOrphan])).toEqual([
      ['orphan', null, true],
      ['deleted', 0, false],
    ])
  })

  test('by title represents a chat without a matching message', () => {
    const titled = insertChat(db, { id: 'titled', title: 'About the needle & thread' })
    insertMessage(db, titled, { id: 'second', parts: 'of it', role: 'assistant', position: 1, createdAtMs: MONDAY_MS })
    insertMessage(db, titled, { id: 'first', parts: 'hello', position: 0, createdAtMs: MONDAY_MS })
    const both = insertChat(db, { id: 'both', title: 'Another needle' })
    insertMessage(db, both, { id: 'said', parts: 'the needle', createdAtMs: MONDAY_MS + DAY_MS })
    const summed = insertChat(db, { id: 'summed', title: 'Haystack', summary: 'Where the needle was' })
    insertMessage(db, summed, { id: 'old', parts: 'hay', createdAtMs: MONDAY_MS - DAY_MS })
    insertChat(db, { id: 'draft', title: 'A needle, never sent' })

    const answer = search(db, requestOf('needle', { sort: 'newest' }))
    expect(answer.total).toBe(3)
    expect(answer.items.map(({ message, part, snippet }) => [message.id, part, snippet])).toEqual([
      ['said', 'text', 'the <mark>needle</mark>'],
      ['first', 'title', 'About the <mark>needle</mark> &amp; thread'],
      ['old', 'title', 'Where the <mark>needle</mark> was'],
    ])
    expect(ids('needle', { sort: 'oldest' })).toEqual(['old', 'first', 'said'])
    expect(found('needle')).toEqual(['first', 'old', 'said'])
    expect(found('needl*')).toEqual(['first', 'old', 'said'])
    // Filters decide which message is shown for a title, and whether a message of the chat matches at all.
    expect(ids('needle', { filters: { role: ['assistant'] } })).toEqual(['second'])
    expect(found('needle', { filters: { from: ['2026-01-05'], to: ['2026-01-06'] } })).toEqual(['first'])
    expect(found('needle', { filters: { chat: ['summed'] } })).toEqual(['old'])
    expect([0, 1, 2].flatMap((offset) => ids('needle', { offset, limit: 1, sort: 'newest' }))).toEqual([
      'said',
      'first',
      'old',
    ])
  })
})

const keyOf = (index: number): bigint => BigInt((MONDAY_MS + index) * 1024)

describe('time and size', () => {
  test('counting stops at 1,000 hits, and an answer out of time says so', () => {
    db = openTestMirror()
    const chat = insertChat(db, { id: 'chat' })
    db.transaction(() => {
      const message = db.prepare(`
        insert into messages (key, chat, source, body, id, role, is_orphan, is_shadowed, is_simulated, is_embedded, is_live,
          tool_calls, octets, content_hash, is_index_capped)
        values (?, ?, 1, 1, ?, 'user', 0, 0, 0, 0, 1, 0, 0, '', 0)
      `)
      const terms = db.prepare('insert into message_terms (rowid, text) values (?, ?)')
      for (let index = 0; index < 100_010; index += 1) {
        message.run(keyOf(index), chat, `m${index}`)
        terms.run(keyOf(index), index % 50_000 === 0 ? 'needle rare' : 'needle')
      }
    })()
    expect(search(db, requestOf('needle'))).toMatchObject({ total: 1000, totalIsExact: false, isPartial: false })
    expect(search(db, requestOf('needle', { filters: { role: ['user'] } }))).toMatchObject({
      total: 1000,
      totalIsExact: false,
    })
    expect(search(db, requestOf('needle -rare', { sort: 'newest' })).items[9]?.message.id).toBe('m99999')
    expect(ids('-rare', { sort: 'newest', limit: 11 }).at(-1)).toBe('m99998')
    // Pages after the ranked matches are sorted by time.
    const pages = [1990, 2000].flatMap((offset) => ids('needle', { offset, limit: 10 }))
    expect(new Set(pages).size).toBe(20)
    expect(pages.slice(10)).toEqual(Array.from({ length: 10 }, (_, index) => `m${98_009 - index}`))

    const late = search(db, requestOf('needle', { deadlineMs: 0, group: 'chat' }))
    expect(late).toMatchObject({ totalIsExact: false, isPartial: true })
    expect(late.items.length).toBeGreaterThan(0)
    expect(late.warnings).toEqual([expect.stringContaining('ran out of time')])
    db.close()
  })

  test('a deadline checks the clock every 256 rows, and stays passed', () => {
    let nowMs = 0
    const deadline = createDeadline(10, () => nowMs)
    nowMs = 10
    expect(Array.from({ length: 257 }, () => deadline.isPassedAtRow()).indexOf(true)).toBe(255)
    nowMs = 0
    expect(deadline.isPassed()).toBe(true)
  })
})

test('while older messages wait to be indexed, a search says that it did not search them', () => {
  db = mirrorOf(['apple pie', 'apple tart'])
  db.exec('insert into unindexed (key) values (1), (2)')
  const answer = search(db, requestOf('apple'))
  expect(answer).toMatchObject({ total: 2, totalIsExact: false })
  expect(answer.warnings).toEqual(['2 older messages are still being indexed and were not searched.'])
  db.close()
})
