import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RelatedChat, SearchAnswer } from '../../../src/api/answers/search.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { Searched, type Asking, type SaidChat } from './searched.ts'

const cases = casesBeside(import.meta.url)

type Said = readonly [role: 'user' | 'assistant', text: string]

const chat = (id: string, title: string, ...said: readonly Said[]): SaidChat => ({
  id,
  title,
  project: 'shop',
  messages: said.map(([role, text], at) => ({ id: `${id}-${at}`, role, text })),
})
const user = (text: string): Said => ['user', text]
const agent = (text: string): Said => ['assistant', text]

const chats = [
  ...cases<Parameters<typeof chat>>('chats').map((each) => chat(...each)),
  ...Array.from({ length: 12 }, (_, at) => chat(`walnut${at}`, `Note ${at}`, user('A walnut cake'), agent('Bake it.'))),
]

let searched: Searched
let forms: Searched
beforeAll(async () => {
  searched = await Searched.of(chats)
  forms = await Searched.of(cases<[string, string]>('forms of words').map(([id, text]) => chat(id, '', user(text))))
})
afterAll(async () => {
  await searched.remove()
  await forms.remove()
})

const ask = async (q: string, more: Asking = {}): Promise<SearchAnswer> => searched.ask(q, more)
const idsOf = (related: readonly RelatedChat[]): readonly string[] => related.map((item) => item.chat.id)

describe('a question typed as a sentence', () => {
  test('finds the chat with its words in several messages and in other forms', async () => {
    const { total, related } = await ask('how did we fix the login timeouts')
    expect(total).toBe(0)
    expect(related[0]).toMatchObject({
      chat: { id: 'login' },
      matched: ['fix', 'login', 'timeouts'],
      missing: [],
      snippet: 'The session store times out. I <mark>fixed</mark> the <mark>timeout</mark>.',
    })
  })

  test('lists the words that a chat lacks, without function words', async () => {
    const [first] = (await ask('why is the session of the walrus so long')).related
    expect(first).toMatchObject({ chat: { id: 'cookies' }, matched: ['session', 'long'], missing: ['walrus'] })
  })

  test.each([
    ['登录超时怎么修复的', 'chinese'],
    ['warum hängt die Anmeldung', 'german'],
  ])('finds its chat in other languages: %s', async (q, id) => {
    expect(idsOf((await ask(q)).related)[0]).toBe(id)
  })

  test('with only function words finds the chats that have them', async () => {
    expect((await ask('how the of')).related.length).toBeGreaterThan(0)
  })
})

describe('a related chat', () => {
  test.each([
    ['is found by parts of an identifier', 'connectionPool leaks', 'pool', ['connectionPool'], ['leaks']],
    ['is found by its title', 'cactus pot', 'titled', ['cactus'], ['pot']],
  ])('%s', async (_, q, id, matched, missing) => {
    expect((await ask(q)).related[0]).toMatchObject({ chat: { id }, matched, missing })
  })

  test('is not among the items and is not counted', async () => {
    const { total, items, related } = await ask('session')
    expect([total, items.map((item) => item.chat.id).toSorted()]).toEqual([2, ['cookies', 'login']])
    expect(idsOf(related)).toEqual([])
  })

  test('holds at least one of the words, and of one thing that nothing holds all its parts', async () => {
    const { items, related } = await ask('getCartName')
    expect([items, idsOf(related).toSorted()]).toEqual([[], ['name', 'parts']])
    for (const { matched, missing } of related) expect([matched, missing]).toEqual([['getCartName'], []])
    for (const q of ['cartWalrus', 'src/walrus/[id]/page.tsx']) expect((await ask(q)).related).toEqual([])
  })

  test('of a question does not lack its date, nor what is looked for', async () => {
    const [first] = (await ask('which chat about the session cookie was it last week')).related
    expect(first).toMatchObject({ chat: { id: 'cookies' }, matched: ['session', 'cookie'], missing: [] })
  })

  test('is the same for the same query', async () => {
    expect((await ask('fixing a cache')).related).toEqual((await ask('fixing a cache')).related)
  })
})

test.each(cases<[string, string, string, string]>('forms'))(
  'the chat below the hit for one word has another form of it: %s: %s',
  async (_, q, hit, below) => {
    const { items, related } = await forms.ask(q)
    expect([items.map((item) => item.chat.id), idsOf(related)]).toEqual([[hit], [below]])
  },
)

describe('below the hits for one thing there is no chat without it', () => {
  test.each([
    ['an identifier', 'getUserName', ['name']],
    ['a part of an identifier', 'userName', ['name']],
    ['an identifier beside a field and an exclusion', 'role:user getUserName -walrus', ['name']],
    ['a misspelt identifier', 'getUsrName', ['name']],
    ['a path', 'src/app/[id]/page.tsx', ['route']],
    ['a URL', 'https://shop.example/cart?page=2', ['name']],
  ])('%s: %s', async (_, q, found) => {
    const answer = await ask(q)
    expect([answer.items.map((item) => item.chat.id), answer.related]).toEqual([found, []])
  })
})

describe('a misspelt word of a question', () => {
  const WARNING = expect.stringContaining('these are the closest chats for')

  test.each([
    ['a wrong letter', 'who leaks postgras', ['leaks', 'postgres'], '"postgres"'],
    ['two words', 'postgers exhuasted leak', ['postgres', 'exhausted', 'leak'], '"postgres exhausted"'],
  ])('does not hide its chat: %s: %s', async (_, q, matched, meant) => {
    const { total, correctedQuery, related, warnings } = await ask(q)
    expect([total, correctedQuery]).toEqual([0, null])
    expect(related[0]).toMatchObject({ chat: { id: 'postgres' }, matched, missing: [] })
    expect(warnings).toContainEqual(expect.stringMatching(new RegExp(`these are the closest chats for ${meant}`)))
  })

  test.each([
    ['in a literal search', 'postgers leak', { literal: true }, ['postgers']],
    ['that is another form of a known word', 'exhausting leak', {}, []],
  ])('is not replaced %s: %s', async (_, q, more, missing) => {
    const { related, warnings } = await ask(q, more)
    expect(related[0]).toMatchObject({ chat: { id: 'postgres' }, missing })
    expect(warnings).not.toContainEqual(WARNING)
  })
})

test('many messages with one word of a question do not outrank the chat with most of its words', async () => {
  const often = chat('often', 'One', ...Array.from({ length: 12 }, () => user('The marmot sleeps.')))
  const once = chat('once', 'Two', user('A marmot.'), agent('It hears an otter.'), user('And the beaver.'))
  await searched.add([often, once])
  expect(idsOf((await ask('marmot otter beaver walrus')).related)).toEqual(['once', 'often'])
})

describe('related chats must match', () => {
  test.each([
    ['a phrase', '"session store" walrus', ['login']],
    ['a phrase, even if no chat has it', '"store session" login', []],
    ['a prefix', 'sess* walrus', ['cookies', 'login']],
    ['an alternative', '(redis OR docker) walrus', ['redis', 'shell']],
    ['a field', 'role:assistant session walrus', ['login']],
    ['the part that in: names', 'in:title session cactus', ['login', 'titled']],
    ['an exclusion', 'session walrus -cookie', ['login']],
    ['an excluded phrase', 'session walrus -"session store"', ['cookies']],
  ])('%s', async (_, q, ids) => {
    expect(idsOf((await ask(q)).related).toSorted()).toEqual(ids)
  })

  test('a filter', async () => {
    expect(idsOf((await ask('session walrus', { chat: 'cookies' })).related)).toEqual(['cookies'])
  })
})

describe('a command with flags', () => {
  const WARNING = expect.stringContaining('this was read as words')

  test('finds its chat: flags are read as words if excluding them leaves nothing', async () => {
    const { total, related, warnings } = await ask('docker run -d -p 8080:80 -v /data:/srv registry:2')
    expect(total).toBe(0)
    expect(idsOf(related)[0]).toBe('shell')
    expect(warnings).toContainEqual(WARNING)
  })

  test('excludes the flags if that leaves something', async () => {
    const { related, warnings } = await ask('caches walrus -docker')
    expect(idsOf(related)).toEqual(['redis'])
    expect(warnings).not.toContainEqual(WARNING)
  })
})

test.each([
  ['by time', 'session walrus', { sort: 'newest' }],
  ['on the second page', 'session walrus', { offset: 20 }],
  ['if ten chats have all words', 'walnut cake', {}],
])('%s there are no related chats', async (_, q, changes) => {
  expect((await ask(q, changes)).related).toEqual([])
})

test('every query with a word of some chat finds something', { timeout: 120_000 }, async () => {
  const words = chats.flatMap(({ messages }) =>
    messages.flatMap(({ text = '' }) => text.match(/[\p{L}\p{N}]+/gu) ?? []),
  )
  const strange = fc.stringMatching(/^[a-z]{3,9}$/)
  const anyQuery = fc.tuple(fc.constantFrom(...words), fc.array(strange, { maxLength: 9 }), fc.nat())
  await fc.assert(
    fc.asyncProperty(anyQuery, async ([word, others, at]) => {
      const { items, related } = await ask(others.toSpliced(at % (others.length + 1), 0, word).join(' '))
      expect(items.length + related.length).toBeGreaterThan(0)
    }),
    { numRuns: 200 },
  )
})
