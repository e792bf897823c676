import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SearchHit } from '../../../src/api/answers/search.ts'
import { called, Searched, type Asking, type SaidChat, type SaidMessage } from './searched.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2025, 0, 5)
/** More messages than are ranked. */
const MANY = 2100

let searched: Searched
let count = 0

/** Each message is a minute later than the one before. */
function say(id: string, text: string, more: Partial<SaidMessage> = {}): SaidMessage {
  count += 1
  return { id, text, atMs: START_MS + count * 60_000, ...more }
}
const times = (number: number, make: (at: number) => SaidMessage): SaidMessage[] =>
  Array.from({ length: number }, (_, at) => make(at))
const printed = (id: string, output: string, more: Partial<SaidMessage> = {}): SaidMessage =>
  say(id, '', { role: 'assistant', row: called('grep', {}, output), ...more })

/** A chat for each claim. No two have a word of their claims in common. */
const chats = (): SaidChat[] => [
  {
    id: 'toucan',
    messages: [
      say('text', `The toucan scheduler, which loses jobs. ${'And more of it. '.repeat(20)}`),
      ...times(300, (at) => printed(`log${at}`, 'toucan jobs=0\n'.repeat(100))),
    ],
  },
  {
    id: 'ibis',
    messages: [
      say('exact', 'How long does ibis_index take?'),
      ...times(40, (at) => say(`longer${at}`, 'ibisIndexBuilder, ibisIndexReader, ibisIndexWriter')),
    ],
  },
  {
    id: 'stork',
    messages: [
      say('together', 'We have many things here, of which the stork batch size is only one.'),
      ...times(MANY, (at) => say(`apart${at}`, 'A batch of one size for a stork.')),
    ],
  },
  {
    id: 'sentence',
    messages: [
      say('whole', 'We have many things here, and of all of them this can be used to feed a crane.'),
      ...times(MANY, (at) => say(`used${at}`, 'It can be that he used to do this.')),
    ],
  },
  {
    id: 'heron',
    messages: [
      say('all', 'A heron, an egret and a bittern stood there, and they talked for very long of this and that.'),
      ...times(100, (at) => say(`one${at}`, 'heron heron')),
    ],
  },
  {
    id: 'plover',
    messages: [
      say('short', 'Set plover to 5.'),
      ...times(20, (at) => say(`dump${at}`, `plover is one of them: ${'many words of a dump '.repeat(2000)}`)),
    ],
  },
  { id: 'mentions', messages: times(10, (at) => say(`mention${at}`, 'And then parseRobin was in our way.')) },
  {
    id: 'called',
    title: 'parseRobin',
    messages: [
      printed('printed', 'src/parse_robin.ts', { atMs: START_MS - DAY_MS }),
      printed('again', 'src/parse_robin.test.ts', { atMs: START_MS - 2 * DAY_MS }),
    ],
  },
  { id: 'rounding', title: 'Rounding of puffin invoices', messages: [say('opening', 'Have a look at these.')] },
  { id: 'exports', title: 'Puffin exports', messages: [say('own', 'The puffin invoices are late.')] },
  {
    id: 'invoices',
    messages: [
      ...times(10, (at) => say(`late${at}`, 'The puffin invoices are late.')),
      ...times(10, (at) => say(`passing${at}`, 'Invoices are printed, and later there is a puffin.')),
    ],
  },
  {
    id: 'avocet',
    messages: [
      say('better', 'avocet restarts', { atMs: START_MS }),
      say('old', 'avocet, which now and then restarts', { atMs: START_MS + 100 * DAY_MS }),
      say('new', 'avocet, which now and then restarts', { atMs: START_MS + 300 * DAY_MS }),
    ],
  },
]

describe('relevant hits come before frequent, new or long ones', () => {
  beforeAll(async () => {
    searched = await Searched.of(chats())
  }, 120_000)
  afterAll(() => searched.remove())

  test.each<[claim: string, q: string, first: string]>([
    ['text comes before tool output with a hundred occurrences', 'toucan jobs', 'text'],
    ['a name comes before longer names that begin with it', 'ibisIndex', 'exact'],
    ['adjacent words come before thousands of newer separate ones', 'stork batch size', 'together'],
    ['an exact sentence comes before thousands of newer messages with its words', 'this can be used to', 'whole'],
    ['also beside an exclusion', 'this can be used to -stork', 'whole'],
    ['also by the beginning of its last word', 'in:text this can be us*', 'whole'],
    ['with OR, messages with more of the words come first', 'heron OR egret OR bittern', 'all'],
    ['a short answer comes before a long output', 'plover', 'short'],
    ['a chat with a matching title comes before passing mentions', 'parseRobin', 'printed'],
  ])('%s: %s', async (_, q, first) => {
    expect((await searched.ids(q))[0]).toBe(first)
  })

  test('a title counts once for its chat, also with one item per chat', async () => {
    // Two hits of a chat stand among the first ten.
    expect((await searched.ids('parseRobin')).slice(0, 4)).toEqual(['printed', 'mention9', 'mention8', 'again'])
    expect((await searched.ids('parseRobin', { group: 'chat' }))[0]).toBe('printed')
  })

  test('a title comes before a mention, and messages of a chat with that title come before others', async () => {
    expect((await searched.ids('puffin invoices')).slice(0, 2)).toEqual(['opening', 'own'])
  })

  test('of equal messages the newer comes first, but a better old one comes before both', async () => {
    expect(await searched.ids('avocet restarts')).toEqual(['better', 'new', 'old'])
  })
})

describe('of many messages', () => {
  const CHATS = 300
  const MESSAGES = 3000
  const TITLED = 300
  /** In fewer titles than are checked one by one. */
  const PECANS = 100
  const SAYING = 4
  const SAID = 300 * SAYING

  const inFew = (chat: number): boolean => chat % 100 === 7
  const inMost = (chat: number): boolean => chat % 3 !== 0 && !inFew(chat)
  const isThird = (at: number): boolean => at % 3 === 0
  const isUser = (at: number): boolean => at % 2 === 0
  // Between two messages of one chat are messages of all others.
  const chatAt = (at: number): number => (at * 7) % CHATS

  function interleaved(): SaidChat[] {
    const said = Array.from({ length: CHATS }, (): SaidMessage[] => [])
    for (let at = 0; at < MESSAGES; at += 1) {
      said[chatAt(at)]?.push({
        id: `m${at}`,
        text: `common ${isThird(at) ? 'third' : 'other'} words${' and more'.repeat(at % 7)}`,
        role: isUser(at) ? 'user' : 'assistant',
        atMs: 1e12 + (at + 1) * 1000,
      })
    }
    return said.map((messages, chat) => {
      const project = inFew(chat) ? 'few' : inMost(chat) ? 'most' : null
      return { id: `c${chat}`, messages, ...(project === null ? {} : { project }) }
    })
  }

  /** Chats of January that only their titles name, and messages of February in chats with other titles. */
  function walnuts(): SaidChat[] {
    const titled = Array.from({ length: TITLED }, (_, at): SaidChat => ({
      id: `titled${at}`,
      title: at < PECANS ? `About walnuts and pecans ${at}` : `About walnuts ${at}`,
      messages: [{ id: `t${at}`, text: 'nothing of the kind', atMs: Date.UTC(2026, 0, 1) + at }],
    }))
    const saying = Array.from({ length: SAYING }, (_, chat): SaidChat => ({
      id: `said${chat}`,
      title: 'Bread',
      messages: times(300, (at) => ({
        id: `s${chat}-${at}`,
        text: 'bread with walnuts and pecans',
        atMs: Date.UTC(2026, 1, 1 + chat) + at,
      })),
    }))
    return [...titled, ...saying]
  }

  beforeAll(async () => {
    searched = await Searched.of([...interleaved(), ...walnuts()])
  }, 120_000)
  afterAll(() => searched.remove())

  /** All pages of a search. */
  async function all(q: string, more: Asking): Promise<readonly SearchHit[]> {
    const hits: SearchHit[] = []
    for (;;) {
      const { items } = await searched.ask(q, { ...more, limit: 200, offset: hits.length })
      hits.push(...items)
      if (items.length < 200) return hits
    }
  }

  const queries: Readonly<Record<string, (at: number) => boolean>> = {
    'common third': isThird,
    '"third words"': isThird,
    'common -third': (at) => !isThird(at),
    'thi*': isThird,
    'role:user common': isUser,
  }
  const scopes: readonly (readonly [Asking, (at: number) => boolean])[] = [
    [{}, () => true],
    [{ project: 'few' }, (at) => inFew(chatAt(at))],
    [{ project: 'most', to: '2001-09-09T02:10', tz: 'UTC' }, (at) => inMost(chatAt(at)) && at < 1399],
    [{ project: 'few', role: 'user' }, (at) => inFew(chatAt(at)) && isUser(at)],
  ]

  test.each(Object.entries(queries))(
    'each match of %s is found once and in order, with any filter',
    async (q, passes) => {
      for (const [filters, isWithin] of scopes) {
        const expected = Array.from({ length: MESSAGES }, (_, at) => at)
          .filter((at) => passes(at) && isWithin(at))
          .map((at) => `m${at}`)
        const ids = async (sort: string) => (await all(q, { ...filters, sort })).map(({ message }) => message.id)
        expect(await ids('oldest')).toEqual(expected)
        expect(await ids('newest')).toEqual(expected.toReversed())
      }
    },
  )

  test('scores decrease along the list, and pages have no overlaps and no gaps', async () => {
    const hits = await all('common', { sort: 'relevance' })
    expect(new Set(hits.map(({ message }) => message.id)).size).toBe(MESSAGES)
    expect(hits).toHaveLength(MESSAGES)
    const scores = hits.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((one, other) => other - one))
  })

  test.each(['relevance', 'newest', 'oldest'])('up to 1,000 hits are counted exactly, by %s', async (sort) => {
    const more = { sort, facets: 'part,role' }
    const third = await searched.ask('third', more)
    expect(third).toMatchObject({ total: 1000, totalIsExact: true })
    expect(third.facets['part']).toEqual([{ value: 'text', label: 'text', count: 1000, countIsExact: true }])
    const common = await searched.ask('common', more)
    expect(common).toMatchObject({ total: 1000, totalIsExact: false })
    expect(common.facets['part']?.[0]).toMatchObject({ count: 1000, countIsExact: false })
    expect(common.facets['role']?.map((each) => [each.count, each.countIsExact])).toEqual([
      [1500, true],
      [1500, true],
    ])
  })

  test.each([
    ['third', 'leave at least 1000 messages'],
    ['project:few', 'leave 30 messages'],
  ])('the number of messages that a rest leaves is exact, or a lower bound: %s', async (rest, warning) => {
    const filters = rest === 'third' ? { to: '2002' } : { project: 'few' }
    const { total, warnings } = await searched.ask('0xdeadbeefcafe', filters)
    expect([total, warnings.join()]).toEqual([0, expect.stringContaining(warning)])
  })

  test.each(['newest', 'oldest', 'relevance'])(
    'grouped by chat (%s), the chats that only their titles name are all counted beside many messages',
    async (sort) => {
      const answer = await searched.ask('walnuts', { group: 'chat', sort, offset: 200, limit: 200 })
      const chatCount = TITLED + SAYING
      expect([answer.total, answer.totalIsExact, answer.items.length]).toEqual([chatCount, true, chatCount - 200])
    },
  )

  test('facets count every title that is found beside many messages', async () => {
    const { facets } = await searched.ask('walnuts', { facets: 'role,month', tz: 'UTC' })
    expect(facets['role']).toEqual([{ value: 'user', label: 'user', count: TITLED + SAID, countIsExact: true }])
    expect(facets['month']?.map((each) => [each.value, each.count])).toEqual([
      ['2026-02', SAID],
      ['2026-01', TITLED],
    ])
  })

  test('title hits are sorted by time beside too many messages to count', async () => {
    expect(await searched.ids('pecans', { sort: 'oldest', limit: 3 })).toEqual(['t0', 't1', 't2'])
    const after = await searched.ids('pecans', { sort: 'newest', offset: SAID, limit: 1 })
    expect(after).toEqual([`t${PECANS - 1}`])
  })
})
