import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SearchRequest } from '../../../src/api/search/request.ts'
import { search } from '../../../src/api/search/search.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { createRandom } from '../../../bench/words.ts'
import { insertChat, insertMessage, insertProject, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'
import type { SearchAnswer } from '../../../src/api/http/schemas/search.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

let db: Mirror
const ask = (q: string, changes: Partial<SearchRequest> = {}): SearchAnswer => search(db, requestOf(q, changes))
const ids = ({ items }: SearchAnswer): string[] => items.map(({ message }) => message.id).sort()
const spellings = ({ suggestions }: SearchAnswer): string[] =>
  suggestions.filter(({ reason }) => reason === 'spelling').map(({ text }) => text)

const texts: readonly (readonly [id: string, text: string])[] = [
  ['pool', 'the postgres connection pool is exhausted'],
  ['once', 'quaternion, said once and in no other message'],
  ['name', 'export function getUserName() {}'],
  ['snake', 'def read_retry_budget(): pass'],
  ['usr', 'look into /usr/bin'],
  ['cjk', '我们的数据库很大 データベース 데이터베이스'],
  ['short', 'the cat sat on a mat'],
  ['digits', 'port 15432 and hash deadbeefcafe1234'],
  ['slip', 'somebody wrote migraton here'],
  ['accent', 'die Zwischensumme ist größer'],
  ['nearest', 'a chrome plated chrono chrono'],
  ['card', 'open src/Lists/UserCard.test.tsx'],
  ['umlaut', 'rufe größeÄndern und überPrüfen auf'],
  ['sha', 'reverted 62b996dfe0a1c3d5e7f9012345678901234567ab'],
  ['sevenDigits', 'reverted 6138154d692eab5fe60526abc27222571b2c1716, see ticket 61381577'],
  ['abbreviated', 'git show 4e1d2b7 tells what broke it'],
  ['longer', 'git show 91ab03fe2c does not'],
  ['code', 'ended with 0xC000041D'],
  ['address', 'at 7fff5fbff8c8 in start'],
  ['uuid', 'request 550e8400-e29b-41d4-a716-446655440000 failed'],
  ...Array.from({ length: 200 }, (_, at) => [`m${at}`, `the migration of table ${at}`] as const),
]

beforeAll(() => {
  db = openTestMirror()
  const chat = insertChat(db, { id: 'chat', title: 'Rewriting the dispatcher', project: insertProject(db, 'shop') })
  const other = insertChat(db, { id: 'other', title: 'Another', project: insertProject(db, 'van') })
  for (const [at, [id, parts]] of texts.entries()) insertMessage(db, chat, { id, parts, createdAtMs: 1e12 + at * 1000 })
  insertMessage(db, other, { id: 'else', parts: 'nothing but words', createdAtMs: 2e12 })
})
afterAll(() => void db.close())

describe('a misspelled word that finds nothing', () => {
  test.each(cases<[string, string, string, string[]]>('corrected'))(
    '%s: %s shows the hits for %s',
    (_, q, meant, found) => {
      const answer = ask(q)
      expect(answer).toMatchObject({ query: q, correctedQuery: meant, total: found.length })
      expect(ids(answer)).toEqual(found)
      expect(answer.suggestions[0]).toEqual({ text: meant, reason: 'spelling', count: found.length })
      expect(answer.warnings.join()).toMatch(/^Nothing was found for ".+"; these are the hits for ".+"\.$/)
    },
  )

  test('is named in a warning with its replacement', () => {
    expect(ask('pool postgers').warnings).toEqual([
      'Nothing was found for "postgers"; these are the hits for "postgres".',
    ])
  })

  test.each(cases<[string, string]>('left as it is'))('%s is left as it is: %s', (_, q) => {
    expect(ask(q)).toMatchObject({ correctedQuery: null, total: 0, items: [] })
    expect(spellings(ask(q))).toEqual([])
  })

  test.each(cases<[string, string, string, string[]]>('typed as one word'))(
    'is found though it was typed as one word or in part: %s: %s shows the hits for %s',
    (_, q, meant, found) => {
      const answer = ask(q)
      expect(answer).toMatchObject({ correctedQuery: meant, total: found.length })
      expect(ids(answer)).toEqual(found)
      expect(ids(ask(meant, { isLiteral: true }))).toEqual(found)
      expect(answer.items[0]?.snippet).toContain('<mark>')
    },
  )

  test.each([
    ['the whole of a short hash', `git show 4e1d2b7${'c0ffee11'.repeat(4)}9`, 'git show 4e1d2b7', ['abbreviated']],
    ['the whole of a longer one', `91ab03fe2c${'0badf00d'.repeat(3)}beef19`, '91ab03fe2c', ['longer']],
    ['a code without its 0x', 'C000041D', '0xC000041D', ['code']],
    ['in small letters', 'c000041d', '0xc000041d', ['code']],
    ['an address with it', '0x7fff5fbff8c8', '7fff5fbff8c8', ['address']],
  ])('is found though it is written in another way: %s: %s shows the hits for %s', (_, q, meant, found) => {
    const answer = ask(q)
    expect(answer).toMatchObject({ correctedQuery: meant, total: found.length })
    expect(ids(answer)).toEqual(found)
    expect(answer.items[0]?.snippet).toContain('<mark>')
    // Of another hash nobody spoke.
    expect(ask(`4e1d2b8${'c0ffee11'.repeat(4)}9`).items).toEqual([])
  })

  test('is not split into words that are not side by side', () => {
    expect(ask('poolpostgres')).toMatchObject({ correctedQuery: null, total: 0 })
    expect(ask('exhaustedpool')).toMatchObject({ correctedQuery: null, total: 0 })
  })

  test('is suggested, but not replaced, in a literal search', () => {
    const answer = ask('postgers', { isLiteral: true })
    expect(answer).toMatchObject({ correctedQuery: null, total: 0, items: [] })
    expect(spellings(answer)).toEqual(['postgres'])
  })

  test('gets suggestions ordered by distance, then by frequency', () => {
    expect(spellings(ask('chromo'))).toEqual(['chrome', 'chrono'])
    expect(spellings(ask('migratino'))).toEqual(['migration', 'migraton'])
  })

  test('with missing letters matches a word with these letters before one with two other letters', () => {
    const letters = openTestMirror()
    const chat = insertChat(letters, { id: 'chat' })
    for (const [id, parts] of [
      ['said', 'too many connections'],
      ['else', 'an inverted condition'],
      ['again', 'the condition holds'],
    ] as const)
      insertMessage(letters, chat, { id, parts })
    const answer = search(letters, requestOf('conection'))
    expect([ids(answer), spellings(answer)]).toEqual([['said'], ['connections', 'condition']])
    letters.close()
  })

  test('is suggested alone if no word is near the other one', () => {
    const answer = ask('conection xqz')
    expect(answer).toMatchObject({ total: 0, correctedQuery: null })
    expect(spellings(answer)).toEqual(['connection'])
  })

  test('has the same pages, groups and facets as the right word', () => {
    const wrong = ask('migratiom', { limit: 5, offset: 10, group: 'chat', facets: ['project'] })
    const right = ask('migration', { limit: 5, offset: 10, group: 'chat', facets: ['project'] })
    expect(wrong).toMatchObject({ total: right.total, items: right.items, facets: right.facets })
    expect(ask('migratiom', { limit: 5, offset: 10 }).items).toEqual(ask('migration', { limit: 5, offset: 10 }).items)
  })

  test('is not replaced by a word whose last message is gone', () => {
    const chat = insertChat(db, { id: 'brief', title: 'Brief' })
    const key = insertMessage(db, chat, { id: 'gone', parts: 'an armadillo', createdAtMs: 3e12 })
    expect(ids(ask('armadilo'))).toEqual(['gone'])
    db.prepare('delete from message_terms where rowid = ?').run(BigInt(key))
    expect(ask('armadilo')).toMatchObject({ correctedQuery: null, items: [] })
    expect(spellings(ask('armadilo'))).toEqual([])
  })
})

test('a word with few hits is not replaced, and the more frequent near word is suggested', () => {
  const answer = ask('migraton')
  expect(answer).toMatchObject({ correctedQuery: null, total: 1 })
  expect(ids(answer)).toEqual(['slip'])
  expect(answer.suggestions).toEqual([{ text: 'migration', reason: 'spelling', count: 200 }])
  expect(ask('migration').suggestions).toEqual([])
  expect(ask('postgres').suggestions).toEqual([])
})

test('every text gets an answer', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('postgers', 'getUsrName', '"', '(', 'OR', '*', '-'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const answer = ask(pieces.join(' '), { limit: 3 })
      expect(answer.suggestions.every(({ count }) => count > 0)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

const slipKinds = {
  insert: (word: string, at: number, letter: string) => word.slice(0, at) + letter + word.slice(at),
  delete: (word: string, at: number) => word.slice(0, at) + word.slice(at + 1),
  substitute: (word: string, at: number, letter: string) => word.slice(0, at) + letter + word.slice(at + 1),
  transpose: (word: string, at: number) =>
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
} as const

test('planted typos of all four kinds are corrected in rare and frequent words', () => {
  const random = createRandom(5)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const syllables = 'bar ced din fol gus lam mer nip rot sut tev wis xon kap jel hir lot nud'.split(' ')
  const makeWord = (): string => Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join('')
  const words = [...new Set(Array.from({ length: 3000 }, makeWord))]
  const planted = openTestMirror()
  const chat = insertChat(planted, { id: 'chat' })
  planted.transaction(() => {
    // The first of them in many messages, most in one.
    for (const [at, word] of words.entries()) {
      insertMessage(planted, chat, { id: `m${at}`, parts: `${word} ${words[at % 50] ?? ''}`, createdAtMs: 1e12 + at })
    }
  })()
  const known = new Set(words)
  for (const [kind, slip] of Object.entries(slipKinds)) {
    let asked = 0
    let first = 0
    let among = 0
    while (asked < 150) {
      const word = pick(words)
      const typed = slip(word, Math.floor(random() * (word.length - 1)), pick(Array.from('abcdefghijklmnopqrst')))
      if (typed.length < 4 || known.has(typed)) continue
      asked += 1
      const offered = spellings(search(planted, requestOf(typed, { limit: 1 })))
      if (offered[0] === word) first += 1
      if (offered.includes(word)) among += 1
    }
    console.log(`${kind}: ${first} of ${asked} words are offered first, ${among} at all`)
    expect(among).toBeGreaterThanOrEqual(0.97 * asked)
    expect(first).toBeGreaterThanOrEqual(0.9 * asked)
  }
  planted.close()
})
