import * as fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { FoundInChat } from '../../../src/api/answers/search.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { called, chatOf, MONDAY_MS, Searched, type Asking, type SaidChat } from './searched.ts'

const cases = casesBeside(import.meta.url)

const DAY_MS = 86_400_000

let searched: Searched
const removeAfterAll = (): (() => Promise<void>) => () => searched.remove()

describe('words', () => {
  beforeAll(async () => {
    searched = await Searched.of([chatOf(cases<string>('texts'))])
  })
  afterAll(removeAfterAll())

  test.each(cases<[string, string, string[]]>('words'))('%s: %s', async (_, query, expected) => {
    expect(await searched.found(query)).toEqual([...expected].sort())
  })

  test('exclusions alone list the newest other messages', async () => {
    expect(await searched.ids('-name -kw -数', { limit: 3 })).toEqual(['m21', 'm20', 'm19'])
    expect(await searched.ask('-name')).toMatchObject({ total: 16, totalIsExact: true })
    expect(await searched.ids('-name', { sort: 'oldest', limit: 2 })).toEqual(['m6', 'm7'])
  })

  test('an empty query lists with a filter, and warns without one', async () => {
    const { items } = await searched.ask('', { role: 'user', limit: 2 })
    expect(items.map(({ message }) => message.id)).toEqual(['m21', 'm20'])
    expect(items[0]).toMatchObject({ part: 'text', snippet: 'commit 62b996dfe0a1', score: 0 })
    const nothing = await searched.ask('')
    expect(nothing).toMatchObject({ total: 0, items: [] })
    expect(nothing.warnings).toHaveLength(1)
  })

  test('any string gets an answer', { timeout: 120_000 }, async () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"', '*', '-', ' ', '(', 'name', 'nmae', 'user', 'OR', '数据', '\u0000', '\ud800', 'k*'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom('relevance', 'newest', 'oldest'),
        async (pieces, sort) => {
          const answer = await searched.ask(pieces.join(''), { sort })
          expect(answer.totalIsExact).toBe(true)
          expect(answer.items).toHaveLength(Math.min(answer.total, 20))
          expect(answer.suggestions.every(({ count }) => count > 0)).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('filters', () => {
  beforeAll(async () => {
    const chats = ['one', 'two', 'three'].map((id, chat): SaidChat => ({
      id,
      ...(chat < 2 ? { project: ['red', 'blue'][chat] ?? '' } : {}),
      messages: [chat, chat + 3].map((index) => ({
        id: `m${index}`,
        text: 'needle',
        role: index < 3 ? 'user' : 'assistant',
        atMs: MONDAY_MS + index * DAY_MS,
      })),
    }))
    searched = await Searched.of([...chats, { id: 'four', messages: [{ id: 'timeless', text: 'needle' }] }])
  })
  afterAll(removeAfterAll())

  test.each(cases<[string, Asking, string[]]>('filters'))('%s', async (_, filters, expected) => {
    for (const sort of ['relevance', 'newest', 'oldest']) {
      const answer = await searched.ask('needle', { ...filters, sort })
      expect(answer.items.map((item) => item.message.id).sort()).toEqual(expected)
      expect(answer).toMatchObject({ total: expected.length, totalIsExact: true })
    }
    expect(await searched.found('-absent', filters)).toEqual(expected)
    // An empty query without a filter finds nothing.
    expect(await searched.found('', filters)).toEqual(Object.keys(filters).length > 0 ? expected : [])
  })

  test('a search that finds nothing suggests what finds something', async () => {
    expect((await searched.ask('needle', { project: 'green' })).suggestions).toEqual([
      { text: 'project', reason: 'without-filter', count: 7 },
    ])
    expect((await searched.ask('needle haystack', { role: 'user', sort: 'newest' })).suggestions).toEqual([
      { text: 'needle', reason: 'without-word', count: 4 },
    ])
    const dropped = { text: 'project:green', reason: 'without-filter', count: 7, query: 'needle' }
    expect((await searched.ask('needle project:green')).suggestions).toContainEqual(dropped)
    // Nearly everything matches an exclusion alone, which is not suggested.
    const without = { text: 'needle', reason: 'without-word', count: 7 }
    expect((await searched.ask('needle -needle', { sort: 'newest' })).suggestions).toEqual([without])
    expect((await searched.ask('haystack', { role: 'user' })).warnings).toEqual([expect.stringContaining('4 messages')])
  })
})

describe('a hit', () => {
  afterEach(removeAfterAll())

  test('names message, chat and project', async () => {
    const text = '<script>alert("needle")</script>'
    const row = { modelInfo: { modelName: 'gpt' } }
    const messages = [{ id: 'm', text, role: 'assistant', atMs: MONDAY_MS, row }] as const
    searched = await Searched.of([{ id: 'chat\n1', title: 'A <title>', project: 'red', messages }])
    const [item] = (await searched.ask('needle')).items
    expect(item).toEqual({
      message: {
        id: 'm',
        chatId: 'chat\n1',
        position: 0,
        role: 'assistant',
        createdAt: '2026-01-05T00:00:00.000Z',
        model: 'gpt',
        isOrphan: false,
      },
      part: 'text',
      toolName: null,
      chat: { id: 'chat\n1', title: 'A <title>', machine: null },
      project: { id: expect.any(String), name: 'red' },
      snippet: '&lt;script&gt;alert(&quot;<mark>needle</mark>&quot;)&lt;/script&gt;',
      score: expect.any(Number),
    })
  })

  test('is one per message, with the best matching part', async () => {
    const row = { thinking: { text: 'gamma' }, ...called('grep', {}, { lines: ['alpha and beta'] }) }
    const messages = [{ id: 'm', text: 'alpha alone', role: 'assistant', row }] as const
    searched = await Searched.of([{ id: 'chat', messages }])
    const one = await searched.ask('alpha beta')
    expect(one.total).toBe(1)
    expect(one.items[0]).toMatchObject({ part: 'tool', toolName: 'grep' })
    expect(one.items[0]?.snippet).toContain('<mark>alpha</mark> and <mark>beta</mark>')
    expect((await searched.ask('alpha')).items[0]).toMatchObject({ part: 'text', toolName: null })
    expect((await searched.ask('alpha gamma')).total).toBe(1)
  })

  test('shows the part that in: names', async () => {
    const row = { codeBlocks: [{ content: 'const needle = 1 // thread', languageId: 'ts' }] }
    searched = await Searched.of([{ id: 'chat', messages: [{ id: 'm', text: 'the needle, and a thread', row }] }])
    const shown = async (q: string): Promise<object> => {
      const [item] = (await searched.ask(q)).items
      return { part: item?.part, snippet: item?.snippet }
    }
    expect(await shown('needle')).toEqual({ part: 'text', snippet: 'the <mark>needle</mark>, and a thread' })
    const inCode = { part: 'code', snippet: 'const <mark>needle</mark> = 1 // thread' }
    expect(await shown('in:code needle')).toEqual(inCode)
    expect(await shown('in:code (needle OR absent)')).toEqual(inCode)
    const both = { part: 'code', snippet: 'const <mark>needle</mark> = 1 // <mark>thread</mark>' }
    expect(await shown('(in:code needle) thread')).toEqual(both)
  })

  test('may be an orphan or deleted', async () => {
    const orphan = { id: 'orphan', text: 'a dropped needle', isOrphan: true, atMs: MONDAY_MS }
    const deleted = { id: 'deleted', text: 'needle', atMs: MONDAY_MS + 1 }
    searched = await Searched.of([{ id: 'chat', messages: [orphan, deleted] }])
    searched.world.home.global().delete('bubbleId:chat:deleted')
    await searched.world.sync(true)
    const { items } = await searched.ask('needle', { sort: 'oldest' })
    expect(items.map(({ message }) => [message.id, message.position, message.isOrphan])).toEqual([
      ['orphan', null, true],
      ['deleted', 0, false],
    ])
  })

  test('by title represents a chat without a matching message', async () => {
    const summary = { latestConversationSummary: { summary: 'Where the needle was' } }
    searched = await Searched.of([
      {
        id: 'titled',
        title: 'About the needle & thread',
        messages: [
          { id: 'first', text: 'hello', atMs: MONDAY_MS },
          { id: 'second', text: 'of it', role: 'assistant', atMs: MONDAY_MS },
        ],
      },
      { id: 'both', title: 'Another needle', messages: [{ id: 'said', text: 'the needle', atMs: MONDAY_MS + DAY_MS }] },
      {
        id: 'summed',
        title: 'Haystack',
        row: summary,
        messages: [{ id: 'old', text: 'hay', atMs: MONDAY_MS - DAY_MS }],
      },
      { id: 'draft', title: 'A needle, never sent', messages: [] },
    ])
    const answer = await searched.ask('needle', { sort: 'newest' })
    expect(answer.total).toBe(3)
    expect(answer.items.map(({ message, part, snippet }) => [message.id, part, snippet])).toEqual([
      ['said', 'text', 'the <mark>needle</mark>'],
      ['first', 'title', 'About the <mark>needle</mark> &amp; thread'],
      ['old', 'title', 'Where the <mark>needle</mark> was'],
    ])
    expect(await searched.ids('needle', { sort: 'oldest' })).toEqual(['old', 'first', 'said'])
    for (const q of ['needle', 'needl*']) expect(await searched.found(q)).toEqual(['first', 'old', 'said'])
    // Filters decide which message is shown for a title, and whether a message of the chat matches at all.
    expect(await searched.ids('needle', { role: 'assistant' })).toEqual(['second'])
    expect(await searched.found('needle', { from: '2026-01-05', to: '2026-01-06' })).toEqual(['first'])
    expect(await searched.found('needle', { chat: 'summed' })).toEqual(['old'])
    const pages = []
    for (const offset of [0, 1, 2]) pages.push(...(await searched.ids('needle', { offset, limit: 1, sort: 'newest' })))
    expect(pages).toEqual(['said', 'first', 'old'])
  })
})

describe('what was meant is suggested', () => {
  beforeAll(async () => {
    const messages = [
      { id: 'a', text: 'a walnut and a pecan', atMs: Date.now() - DAY_MS },
      { id: 'b', text: 'a walnut', role: 'assistant', atMs: Date.UTC(2025, 5, 3) },
    ] as const
    searched = await Searched.of([{ id: 'nuts', title: 'Almonds', messages }])
  })
  afterAll(removeAfterAll())

  test.each(cases<[q: string, reason: string, text: string, warned: string]>('meant'))(
    '%s is %s %s',
    async (q, reason, text, warned) => {
      const { suggestions, warnings } = await searched.ask(q, { tz: 'UTC' })
      expect(suggestions).toContainEqual({ text, reason, count: 1 })
      expect(warnings.join()).toContain(warned)
    },
  )
})

test('of a chat with many hits, two are among the first ten, and pages lose nothing', async () => {
  const chats = ['one', 'two', 'three', 'four', 'five', 'six'].map((id, chat): SaidChat => ({
    id,
    messages: Array.from({ length: chat === 0 ? 30 : 3 }, (_, at) => ({
      id: `${id}${at}`,
      text: chat === 0 ? 'walnut' : 'a walnut, and more words',
      atMs: MONDAY_MS + at,
    })),
  }))
  searched = await Searched.of(chats)
  const first = (await searched.ask('walnut', { limit: 10 })).items
  for (const { id } of chats) expect(first.filter(({ chat }) => chat.id === id).length).toBeLessThanOrEqual(2)
  const all = await searched.ids('walnut', { limit: 200 })
  const pages = []
  for (const offset of [0, 7, 14, 21, 28, 35, 42, 49])
    pages.push(...(await searched.ids('walnut', { offset, limit: 7 })))
  expect([pages, new Set(pages).size]).toEqual([all, 45])
  expect(await searched.ids('walnut', { chat: 'one', limit: 3 })).toEqual(['one29', 'one28', 'one27'])
  await searched.remove()
})

describe('in one chat', () => {
  const find = async (path: string) => searched.world.get<FoundInChat>(`/api/chats/${path}`)
  beforeAll(async () => {
    const messages = Array.from({ length: 1500 }, (_, at) => ({
      id: `m${at}`,
      text: at % 3 === 0 ? 'a walnut' : 'bread',
      // In the order of the chat, times go back.
      atMs: MONDAY_MS - at,
    }))
    searched = await Searched.of([
      { id: 'nuts-1', messages },
      { id: 'nuts-2', title: 'A walnut', messages: [{ id: 'other', text: 'a walnut' }] },
    ])
  })
  afterAll(removeAfterAll())

  test('every hit is found in its order, with an exact count', async () => {
    const { items, ...rest } = await find('nuts-1/find?q=walnut&limit=2&offset=1')
    expect(items.map(({ message, snippet }) => [message.id, snippet])).toEqual([
      ['m3', 'a <mark>walnut</mark>'],
      ['m6', 'a <mark>walnut</mark>'],
    ])
    expect(rest).toEqual({ total: 500, totalIsExact: true, warnings: [], limit: 2, offset: 1 })
    expect(await find('nuts-1/find?q=')).toMatchObject({ items: [], total: 0 })
    expect(await searched.world.request('/api/chats/none/find?q=walnut')).toMatchObject({ status: 404 })
  })

  test('the beginning of its id is enough, unless other ids begin like this', async () => {
    await searched.add([{ id: 'alone', messages: [{ id: 'x', text: 'a walnut' }] }])
    expect(await searched.ids('walnut chat:alon')).toEqual(['x'])
    expect(await searched.ids('walnut', { chat: 'nuts-2' })).toEqual(['other'])
    const response = await searched.world.request('/api/search?q=walnut+chat:nuts')
    expect([response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining('nuts-1, nuts-2'),
    ])
  })
})

test('a facet is counted without its own filter, and the others with it', async () => {
  const message = (id: string, role: 'user' | 'assistant') => ({ id, role, text: 'walnut', atMs: MONDAY_MS })
  searched = await Searched.of([
    { id: 'red', project: 'red', messages: [message('a', 'user'), message('b', 'assistant')] },
    { id: 'blue', project: 'blue', messages: [message('c', 'user')] },
  ])
  const { facets, total } = await searched.ask('walnut', { project: 'red', facets: 'project,role' })
  const counts = (name: string) => facets[name]?.map(({ label, count }) => [label, count])
  expect([total, counts('project'), counts('role')]).toEqual([
    2,
    [
      ['red', 2],
      ['blue', 1],
    ],
    [
      ['assistant', 1],
      ['user', 1],
    ],
  ])
  await searched.remove()
})

test('a month begins with its first moment in the zone', async () => {
  searched = await Searched.of([{ id: 'c', messages: [{ id: 'm', text: 'x', atMs: Date.UTC(2026, 0, 31, 23, 30) }] }])
  for (const [tz, month] of [
    ['UTC', '2026-01'],
    ['Europe/Berlin', '2026-02'],
  ] as const) {
    const { facets } = await searched.ask('x', { tz, facets: 'month' })
    expect(facets['month']).toEqual([{ value: month, label: month, count: 1, countIsExact: true }])
  }
  await searched.remove()
})

test('*inside* with very many words searches only some of them and warns', async () => {
  const letter = (n: number): string => String.fromCharCode(97 + (Math.floor(n) % 26))
  const words = Array.from({ length: 300 }, (_, n) => `${letter(n)}${letter(n / 26)}midd${letter(n / 7)}`)
  searched = await Searched.of([chatOf([words.join(' ')])])
  const answer = await searched.ask('*midd*')
  expect(answer.total).toBe(1)
  expect(answer.warnings).toEqual([expect.stringContaining('only some of them')])
  await searched.remove()
})

describe('what was pasted', () => {
  const json = String.raw`{"status":"broken\nfailed","at":"walnut\ttree"}`
  const sentences = cases<[id: string, text: string]>('sentences')

  beforeAll(async () => {
    const said = sentences.map(([id, text]) => ({ id, text: `"${text}"` }))
    const given = (id: string, output: string) => ({ id, role: 'assistant', row: called('run', {}, output) }) as const
    const pasted = [
      given('tool', json),
      given('behind', `Result: ${json}`),
      { id: 'text', text: `It says ${json}` },
      { id: 'other', text: 'status: broken at a walnut tree' },
    ]
    searched = await Searched.of([
      { id: 'sentences', messages: said },
      { id: 'json', messages: pasted },
    ])
  })
  afterAll(removeAfterAll())

  test.each(sentences)('a sentence with more than 32 unspaced characters is found: %s', async (id, text) => {
    for (const q of [text, `"${text}"`, `${text}。${text}`]) {
      const { items, warnings } = await searched.ask(q, { literal: true })
      const warning = 'Only the first 32 words were searched for.'
      expect([items.map(({ message }) => message.id), warnings]).toEqual([[id], [warning]])
    }
  })

  test('an exclusion beyond the limit of words excludes nothing', async () => {
    expect(await searched.ids(`数据库 -${sentences[1]?.[1]}`)).toEqual(['chinese'])
  })
})

describe('help when nothing is found', () => {
  const march = Date.UTC(2026, 2, 1)

  beforeAll(async () => {
    searched = await Searched.of([
      {
        id: 'plum',
        messages: [
          { id: 'early', text: 'a plum', atMs: march },
          { id: 'map', text: 'a HashMap<String, Vec<u8>>', atMs: march + 1 },
        ],
      },
      {
        id: 'pear',
        project: 'orchard',
        messages: [20, 21].map((at) => ({
          id: `p${at}`,
          role: 'assistant',
          text: 'a pear',
          atMs: march + at * DAY_MS,
        })),
      },
    ])
  })
  afterAll(removeAfterAll())

  test('a warning names the only word if the fields and filters alone find something', async () => {
    const filters = { project: 'orchard', chat: 'pear', role: 'assistant' }
    const beside = await searched.ask('plum after:2026-03-15', filters)
    expect([beside.total, beside.suggestions, beside.warnings]).toEqual([
      0,
      [],
      ['Nothing matches "plum"; without it, the rest leaves 2 messages.'],
    ])
    const either = await searched.ask('(plum OR "a plum") after:2026-03-15 -fig', filters)
    expect(either.warnings).toEqual([`Nothing matches "plum OR "a plum""; without it, the rest leaves 2 messages.`])
  })

  test('dropping any one filter or word that prevents a match is suggested, or named in a warning', async () => {
    const words = ['plum', 'pear', 'quux', 'a']
    const pairs = words.flatMap((one) => words.map((other) => [...new Set([one, other])]))
    let asked = 0
    for (const filter of [{}, { project: 'orchard' }, { project: 'nowhere' }, { role: 'user' }]) {
      const totalOf = async (q: string, more: Asking): Promise<number> => (await searched.ask(q, more)).total
      for (const pair of pairs) {
        const q = pair.join(' ')
        const answer = await searched.ask(q, { ...filter, literal: true })
        if (answer.total > 0) continue
        const rests = pair.length === 1 ? [''] : pair
        const totals = [await totalOf(q, {}), ...(await Promise.all(rests.map(async (rest) => totalOf(rest, filter))))]
        asked += 1
        const isHelped = answer.related.length + answer.suggestions.length + answer.warnings.length > 0
        expect([q, filter, isHelped]).toEqual([q, filter, totals.some((total) => total > 0)])
      }
    }
    expect(asked).toBeGreaterThan(20)
  })
})
