import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SearchRequest } from '../../../src/api/search/request.ts'
import { answerQuestion } from '../../../src/api/questions.ts'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { createTestApi } from '../http/test-api.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { indexChats, type JudgedChat, type JudgedMessage } from '../../search/judged/judged-set.ts'
import type { RelatedChat, SearchAnswer } from '../../../src/api/http/schemas/search.ts'

const user = (text: string): JudgedMessage => ({ role: 'user', text })
const agent = (text: string): JudgedMessage => ({ role: 'assistant', text })
const chat = (id: string, title: string, ...messages: readonly JudgedMessage[]): JudgedChat => ({
  id,
  title,
  project: 'shop',
  messages,
})

const chats = [
  chat(
    'login',
    'Debugging session',
    user('Signing in takes forever, people give up.'),
    agent('The session store times out. I fixed the timeout.'),
    user('Thanks, the login works.'),
  ),
  chat('cookies', 'Quick question', user('How long does a session cookie live?'), agent('Thirty days.')),
  chat('pool', 'Help', user('Too many connections.'), agent('`createConnectionPool` never releases. Fixing it.')),
  chat('titled', 'Cactus garden', user('Which soil?'), agent('Sand.')),
  chat('shell', 'Run it', user('run `docker run -d -p 8080:80 -v /data:/srv registry:2`')),
  chat('redis', 'Caches', user('The cache of redis is stale.'), agent('We flush the caches.')),
  chat('chinese', '小问题', user('登录以后页面一直超时。'), agent('已经修复了会话。')),
  chat('german', 'Frage', user('Die Anmeldungen hängen.'), agent('Der Sitzungsspeicher war voll.')),
  chat('name', 'Users', user('Why does getUserName return null?'), agent('See https://shop.example/cart?page=2 too.')),
  chat('names', 'List', agent('`get_user_names` lists them.')),
  chat('parts', 'Form', user('The user leaves the name empty on page 2 of the cart.'), user('Edit src/app too.')),
  chat('route', 'Route', agent('Edited src/app/[id]/page.tsx.')),
  chat('postgres', 'Database', user('postgres is slow'), agent('The pool is exhausted.'), user('Who is leaking it?')),
  ...Array.from({ length: 12 }, (_, at) => chat(`walnut${at}`, `Note ${at}`, user('A walnut cake'), agent('Bake it.'))),
]

let db: Mirror
let remove: () => void
beforeAll(() => {
  const indexed = indexChats(chats)
  db = indexed.indexer.mirror
  remove = indexed.remove
})
afterAll(() => remove())

const ask = (q: string, changes: Partial<SearchRequest> = {}): SearchAnswer => search(db, requestOf(q, changes))
/** Over HTTP. */
async function askApi(q: string, more = ''): Promise<SearchAnswer> {
  const api = createTestApi({ ask: async (question) => answerQuestion(db, question, 60_000) })
  const response = await api.ask(`/api/search?q=${encodeURIComponent(q)}${more}`)
  api.dispose()
  return (await response.json()) as SearchAnswer
}
const idsOf = (related: readonly RelatedChat[]): readonly string[] => related.map((item) => item.chat.id)

describe('a question typed as a sentence', () => {
  test('finds the chat with its words in several messages and in other forms', () => {
    const { total, related } = ask('how did we fix the login timeouts')
    expect(total).toBe(0)
    expect(related[0]).toMatchObject({
      chat: { id: 'login' },
      matched: ['fix', 'login', 'timeouts'],
      missing: [],
      snippet: 'The session store times out. I <mark>fixed</mark> the <mark>timeout</mark>.',
    })
  })

  test('lists the words that a chat lacks, without function words', () => {
    const [first] = ask('why is the session of the walrus so long').related
    expect(first).toMatchObject({ chat: { id: 'cookies' }, matched: ['session', 'long'], missing: ['walrus'] })
  })

  test.each([
    ['登录超时怎么修复的', 'chinese'],
    ['warum hängt die Anmeldung', 'german'],
  ])('finds its chat in other languages: %s', (q, id) => {
    expect(idsOf(ask(q).related)[0]).toBe(id)
  })

  test('with only function words finds the chats that have them', () => {
    expect(ask('how the of').related.length).toBeGreaterThan(0)
  })
})

describe('a related chat', () => {
  test.each([
    ['is found by parts of an identifier', 'connectionPool leaks', 'pool', ['connectionPool'], ['leaks']],
    ['is found by its title', 'cactus pot', 'titled', ['cactus'], ['pot']],
  ])('%s', (_, q, id, matched, missing) => {
    expect(ask(q).related[0]).toMatchObject({ chat: { id }, matched, missing })
  })

  test('is not among the items and is not counted', () => {
    const { total, items, related } = ask('session')
    expect([total, items.map((item) => item.chat.id).toSorted()]).toEqual([2, ['cookies', 'login']])
    expect(idsOf(related)).toEqual([])
    expect(idsOf(ask('session', { limit: 1 }).related)).toHaveLength(1)
  })

  test.each([
    ['fixed', ['login'], ['pool']],
    ['thirty', ['cookies'], []],
  ])('of a single word has it in another form: %s', (q, found, related) => {
    const answer = ask(q)
    expect([answer.items.map((item) => item.chat.id), idsOf(answer.related)]).toEqual([found, related])
  })

  test('is the same for the same query', () => {
    expect(ask('fixing a cache').related).toEqual(ask('fixing a cache').related)
  })
})

describe('below the hits for one thing there is no chat without it', () => {
  test.each([
    ['an identifier, but one in another form is shown', 'getUserName', 'name', ['names']],
    ['a part of an identifier', 'userName', 'name', ['names']],
    ['an identifier beside a field and an exclusion', 'role:user getUserName -walrus', 'name', []],
    ['a misspelt identifier', 'getUsrName', 'name', ['names']],
    ['a path', 'src/app/[id]/page.tsx', 'route', []],
    ['a URL', 'https://shop.example/cart?page=2', 'name', []],
  ])('%s: %s', async (_, q, found, related) => {
    const answer = await askApi(q)
    expect([answer.items.map((item) => item.chat.id), idsOf(answer.related)]).toEqual([[found], related])
  })

  test('but without a hit, the chats with its parts are shown', async () => {
    expect(idsOf((await askApi('getCartName')).related)).toContain('parts')
  })
})

describe('a misspelt word of a question', () => {
  const WARNING = expect.stringContaining('these are the closest chats for')

  test.each([
    ['a wrong letter', 'who leaks postgras', ['leaks', 'postgres'], '"postgres"'],
    ['two words', 'postgers exhuasted leak', ['postgres', 'exhausted', 'leak'], '"postgres exhausted"'],
    ['a space left out', 'postgresis leak', ['postgres is', 'leak'], '"postgres is"'],
  ])('does not hide its chat: %s: %s', async (_, q, matched, meant) => {
    const { total, correctedQuery, related, warnings } = await askApi(q)
    expect([total, correctedQuery]).toEqual([0, null])
    expect(related[0]).toMatchObject({ chat: { id: 'postgres' }, matched, missing: [] })
    expect(warnings).toContainEqual(expect.stringMatching(new RegExp(`these are the closest chats for ${meant}`)))
  })

  test.each([
    ['in a literal search', 'postgers leak', '&literal=true', ['postgers']],
    ['of four letters', 'roal leak', '', ['roal']],
    ['that is another form of a known word', 'exhausting leak', '', []],
  ])('is not replaced %s: %s', async (_, q, more, missing) => {
    const { related, warnings } = await askApi(q, more)
    expect(related[0]).toMatchObject({ chat: { id: 'postgres' }, missing })
    expect(warnings).not.toContainEqual(WARNING)
  })
})

test('many messages with one word of a question do not outrank the chat with most of its words', () => {
  const often = chat('often', 'One', ...Array.from({ length: 12 }, () => user('The marmot sleeps.')))
  const once = chat('once', 'Two', user('A marmot.'), agent('It hears an otter.'), user('And the beaver.'))
  const indexed = indexChats([often, once, ...chats])
  const { related } = search(indexed.indexer.mirror, requestOf('marmot otter beaver walrus'))
  indexed.remove()
  expect(idsOf(related)).toEqual(['once', 'often'])
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
  ])('%s', (_, q, ids) => {
    expect(idsOf(ask(q).related).toSorted()).toEqual(ids)
  })

  test('a filter', () => {
    expect(idsOf(ask('session walrus', { filters: { chat: ['cookies'] } }).related)).toEqual(['cookies'])
  })
})

describe('a command with flags', () => {
  const WARNING = expect.stringContaining('this was read as words')

  test('finds its chat: flags are read as words if excluding them leaves nothing', () => {
    const { total, related, warnings } = ask('docker run -d -p 8080:80 -v /data:/srv registry:2')
    expect(total).toBe(0)
    expect(idsOf(related)[0]).toBe('shell')
    expect(warnings).toContainEqual(WARNING)
  })

  test('excludes the flags if that leaves something', () => {
    const { related, warnings } = ask('caches walrus -docker')
    expect(idsOf(related)).toEqual(['redis'])
    expect(warnings).not.toContainEqual(WARNING)
  })
})

test.each([
  ['by time', 'session walrus', { sort: 'newest' as const }],
  ['on the second page', 'session walrus', { offset: 20 }],
  ['if ten chats have all words', 'walnut cake', {}],
])('%s there are no related chats', (_, q, changes) => {
  expect(ask(q, changes).related).toEqual([])
})

test('a search that runs out of time says so', () => {
  const { related, warnings } = ask('fix the login timeout', { deadlineMs: 0 })
  expect([related, warnings]).toEqual([[], [expect.stringContaining('no time left')]])
})

test('every query with a word of some chat finds something', () => {
  const words = chats.flatMap(({ messages }) =>
    messages.flatMap(({ text = '' }) => text.match(/[\p{L}\p{N}]+/gu) ?? []),
  )
  const strange = fc.stringMatching(/^[a-z]{3,9}$/)
  const everyQuery = fc.check(
    fc.property(fc.constantFrom(...words), fc.array(strange, { maxLength: 9 }), fc.nat(), (word, others, at) => {
      const { items, related } = ask(others.toSpliced(at % (others.length + 1), 0, word).join(' '))
      return items.length + related.length > 0
    }),
    { numRuns: 300 },
  )
  expect(everyQuery.counterexample).toBeNull()
})
