import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import { CountedWords, WordGatherer } from '../../../src/api/search/suggest/counted-words.ts'
import { frequentWords, gatherWords } from '../../../src/api/search/suggest/frequent-words.ts'
import { suggest } from '../../../src/api/search/suggest/suggest.ts'
import { openReader, type Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import { insertChat, insertMessage, insertProject, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'
import type { Suggestion, SuggestionKind } from '../../../src/api/http/schemas/search.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const never = (): boolean => false
const reading = (...paths: string[]): readonly Part[] => [
  { kind: 'tool', name: 'read_file', status: 'completed', callId: null, input: null, output: 'x', error: null, paths },
]

let writer: Mirror
let db: Mirror
const items = (q: string, limit = 10): readonly Suggestion[] => suggest(db, { q, limit }).items
const texts = (q: string, kind: SuggestionKind): readonly string[] =>
  items(q).flatMap((item) => (item.kind === kind ? [item.text] : []))

beforeAll(() => {
  writer = openTestMirror()
  const shop = insertProject(writer, 'shop-frontend')
  insertProject(writer, 'cursordex')
  const first = insertChat(writer, { id: 'first', title: 'Migrate the orders table', project: shop })
  const cjk = insertChat(writer, { id: 'cjk', title: '用户登录的数据库问题', project: shop })
  insertChat(writer, { id: 'hollow', title: 'Migrate nothing' })
  let at = 0
  const add = (chat: number, parts: string | readonly Part[]): number =>
    insertMessage(writer, chat, { id: `m${(at += 1)}`, parts, createdAtMs: 1e12 + at * 1000 })
  for (let times = 0; times < 5; times += 1) add(first, 'the postgres migration keeps running')
  for (let times = 0; times < 3; times += 1) add(first, 'postage is due for the postgres box')
  add(first, 'getUserName fails in the quaternion')
  add(first, reading('src/daemon/search-pool.ts', 'docs/README.md'))
  add(first, [{ kind: 'attachment', path: 'src/api/orders.ts', text: 'select' }])
  add(cjk, '数据库 登录')
  add(first, 'the project shows no tool ready, and its path searches in cooperation')
  db = openReader(writer.name)
})
afterAll(() => {
  db.close()
  writer.close()
})

describe('a text that is being typed', () => {
  test.each(cases<[q: string, kind: SuggestionKind, ...expected: string[]]>('suggestions'))(
    '%j as a %s becomes %j %j',
    (q, kind, ...expected) => {
      expect(texts(q, kind)).toEqual(expected)
    },
  )

  test('gets suggestions with ids to ask by', () => {
    const idOf = (q: string, kind: SuggestionKind): string | undefined => items(q).find((one) => one.kind === kind)?.id
    expect(idOf('migr', 'chat')).toBe('first')
    expect(idOf('shop', 'project')).toBe('project-shop-frontend')
    expect(idOf('read', 'tool')).toBe('read_file')
    expect(idOf('orders', 'file')).toBe('src/api/orders.ts')
    expect(idOf('running postg', 'term')).toBe('running postgres')
  })

  test.each([
    ['project:sh', 'project', 'shop-frontend'],
    ['running -project:fornt', 'project', 'shop-frontend'],
    ['tool:rea', 'tool', 'read_file'],
    ['path:sea', 'file', 'src/daemon/search-pool.ts'],
    ['path:docs/rea', 'file', 'docs/README.md'],
  ])('is the value of a field, for which no words are suggested that nothing passes: %s', (q, kind, text) => {
    expect(items(q)).toMatchObject([{ kind, text }])
    expect(search(db, requestOf(`${kind === 'file' ? 'path' : kind}:${text}`)).warnings).toEqual([])
  })

  test('is read as a word after an unknown field or a field without a value', () => {
    expect(items('in:coop')).toEqual([])
    expect(texts('shows:to', 'term')).toEqual([])
    expect(texts('project:', 'term')).toEqual(['project:'])
    expect(texts('project::sho', 'term')).toEqual(['project::shows'])
  })

  test('is completed with words that occur together with the other words', () => {
    expect(texts('postage postgr', 'term')).toEqual(['postgres'])
    expect(texts('quaternion post', 'term')).toEqual([])
  })

  test('gets at most the requested number of suggestions, best first', () => {
    for (const limit of [1, 2, 5, 20]) {
      const scores = items('mi', limit).map(({ score }) => score)
      expect(scores.length).toBeLessThanOrEqual(limit)
      expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    }
  })

  test('may contain anything', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('postg', '"', '(', '*', '\u0000', '\ud800', '数'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.integer({ min: 1, max: 20 }), (pieces, limit) => {
        const found = items(pieces.join(' '), limit)
        expect(found.length).toBeLessThanOrEqual(limit)
        expect(found.every(({ score, text }) => score > 0 && score <= 1 && text !== '')).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

test('a new word, chat or file is suggested at once, and a removed word is not', () => {
  const chat = insertChat(writer, { id: 'new', title: 'Zeppelin landing' })
  const key = insertMessage(writer, chat, { id: 'n1', parts: 'an armadillo', createdAtMs: 2e12 })
  insertMessage(writer, chat, { id: 'n2', parts: reading('src/daemon/zeppelin.ts'), createdAtMs: 2e12 + 1 })
  expect(texts('armad', 'term')).toEqual(['armadillo'])
  expect(texts('zeppe', 'chat')).toEqual(['Zeppelin landing'])
  expect(texts('daemon', 'file')).toContain('src/daemon/zeppelin.ts')
  const call = insertMessage(writer, chat, {
    id: 'n3',
    parts: [
      {
        kind: 'tool',
        name: 'web_find',
        status: 'error',
        callId: null,
        input: null,
        output: null,
        error: 'x',
        paths: [],
      },
    ],
    createdAtMs: 2e12 + 2,
  })
  expect(texts('web', 'tool')).toEqual(['web_find'])
  for (const gone of [key, call]) writer.prepare('delete from message_terms where rowid = ?').run(BigInt(gone))
  expect(texts('armad', 'term')).toEqual([])
  expect(texts('web', 'tool')).toEqual([])
})

describe('the most frequent words', () => {
  test('are gathered in steps, and again only after a change and some time', () => {
    const own = openReader(writer.name)
    let nowMs = 0
    const gather = (): number => {
      for (let steps = 1; ; steps += 1)
        if (
          !gatherWords(
            own,
            () => true,
            () => (nowMs += 1),
          )
        )
          return steps
    }
    expect(frequentWords(own)).toMatchObject({ isComplete: false })
    expect(gather()).toBeGreaterThan(20)
    expect(frequentWords(own).words.startingWith('postg', 5)).toEqual([{ word: 'postgres', count: 8 }])
    insertMessage(writer, 1, { id: 'later', parts: 'postgres postgraduate', createdAtMs: 3e12 })
    expect(gather()).toBe(1)
    expect(frequentWords(own).words.startingWith('postgra', 5)).toEqual([])
    nowMs += 3_600_000
    expect(gather()).toBeGreaterThan(20)
    expect(frequentWords(own).words.startingWith('postg', 5)).toEqual([
      { word: 'postgres', count: 9 },
      { word: 'postgraduate', count: 1 },
    ])
    nowMs += 3_600_000
    expect(gather()).toBe(1)
    own.close()
  })

  test('are the right ones, in order, however many words there are', () => {
    const words = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1, maxLength: 4 }), fc.nat({ max: 5 })), {
      selector: ([word]) => word,
    })
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 20 }), (given, max) => {
        const gatherer = new WordGatherer(max)
        const sorted = given.toSorted(([a], [b]) => (a < b ? -1 : 1))
        for (const [word, count] of sorted) gatherer.add(word, count)
        const kept = gatherer.finish().startingWith('', Infinity)
        const most = sorted.map(([, count]) => count).toSorted((a, b) => b - a)
        expect(kept.map(({ count }) => count)).toEqual(most.slice(0, max))
      }),
    )
  })

  test('are found by a prefix and by a near prefix', () => {
    const words = new CountedWords(['bar', 'bark', 'barn', 'cart'], [1, 5, 3, 9])
    expect(words.startingWith('bar', 2).map(({ word }) => word)).toEqual(['bark', 'barn'])
    expect(words.near('bxr', 1, 9).map(({ word }) => word)).toEqual(['bark', 'barn', 'bar'])
  })
})

test('a rare word outside of the 50,000 most frequent is also suggested and corrected', () => {
  const large = openTestMirror()
  const chat = insertChat(large, { id: 'chat' })
  const letters = 'abcdefghijklmnopqrst'
  const word = (at: number): string =>
    Array.from({ length: 6 }, (_, place) => letters.charAt(Math.floor(at / 7 ** place) % 20)).join('') +
    letters.charAt(at % 20)
  const many = [...new Set(Array.from({ length: 60_000 }, (_, at) => word(at * 13)))]
  expect(many.length).toBeGreaterThan(50_000)
  large.transaction(() => {
    for (const id of ['one', 'two']) insertMessage(large, chat, { id, parts: many.join(' '), createdAtMs: 1e12 })
  })()
  insertMessage(large, chat, { id: 'rare', parts: 'rhododendron', createdAtMs: 1e12 })
  const reader = openReader(large.name)
  while (gatherWords(reader, never)) continue
  const { words } = frequentWords(reader)
  expect(words.size).toBe(50_000)
  expect(words.startingWith('rhodo', 5)).toEqual([])
  const termsFor = (q: string): readonly string[] => suggest(reader, { q, limit: 5 }).items.map(({ text }) => text)
  expect(termsFor('rhodo')).toEqual(['rhododendron'])
  expect(termsFor('rhodonendron')).toEqual(['rhododendron'])
  expect(search(reader, requestOf('rhodonendron'))).toMatchObject({ correctedQuery: 'rhododendron', total: 1 })
  reader.close()
  large.close()
})
