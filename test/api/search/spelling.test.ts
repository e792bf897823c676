import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom } from '../../../bench/words.ts'
import type { SearchAnswer } from '../../../src/api/answers/search.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { Searched, type Asking } from './searched.ts'

const cases = casesBeside(import.meta.url)

let searched: Searched
const ask = async (q: string, more: Asking = {}): Promise<SearchAnswer> => searched.ask(q, more)
const ids = ({ items }: SearchAnswer): string[] => items.map(({ message }) => message.id).sort()
const spellings = ({ suggestions }: SearchAnswer): string[] =>
  suggestions.filter(({ reason }) => reason === 'spelling').map(({ text }) => text)

const texts: readonly (readonly [id: string, text: string])[] = [
  ...cases<[id: string, text: string]>('texts'),
  ...Array.from({ length: 200 }, (_, at) => [`m${at}`, `the migration of table ${at}`] as const),
]

beforeAll(async () => {
  const messages = texts.map(([id, text], at) => ({ id, text, atMs: 1e12 + at * 1000 }))
  const other = { id: 'else', text: 'nothing but words', atMs: 2e12 }
  searched = await Searched.of([
    { id: 'chat', title: 'Rewriting the dispatcher', project: 'shop', messages },
    { id: 'other', title: 'Another', project: 'van', messages: [other] },
  ])
})
afterAll(() => searched.remove())

describe('a misspelled word that finds nothing', () => {
  test.each(cases<[string, string, string, string[]]>('corrected'))(
    '%s: %s shows the hits for %s',
    async (_, q, meant, found) => {
      const answer = await ask(q)
      expect(answer).toMatchObject({ query: q, correctedQuery: meant, total: found.length })
      expect(ids(answer)).toEqual(found)
      expect(answer.suggestions[0]).toEqual({ text: meant, reason: 'spelling', count: found.length })
      expect(answer.warnings.join()).toMatch(/^Nothing was found for ".+"; these are the hits for ".+"\.$/)
    },
  )

  test('is named in a warning with its replacement', async () => {
    expect((await ask('pool postgers')).warnings).toEqual([
      'Nothing was found for "postgers"; these are the hits for "postgres".',
    ])
  })

  test.each(cases<[string, string]>('left as it is'))('%s is left as it is: %s', async (_, q) => {
    expect(await ask(q)).toMatchObject({ correctedQuery: null, total: 0, items: [] })
    expect(spellings(await ask(q))).toEqual([])
  })

  test.each(cases<[string, string, string, string[]]>('beginnings of hashes'))(
    'is found though it is only the beginning of a hash: %s: %s shows the hits for %s',
    async (_, q, meant, found) => {
      const answer = await ask(q)
      expect(answer).toMatchObject({ correctedQuery: meant, total: found.length })
      expect(ids(answer)).toEqual(found)
      expect(ids(await ask(meant, { literal: true }))).toEqual(found)
      expect(answer.items[0]?.snippet).toContain('<mark>')
    },
  )

  test('is suggested, but not replaced, in a literal search', async () => {
    const answer = await ask('postgers', { literal: true })
    expect(answer).toMatchObject({ correctedQuery: null, total: 0, items: [] })
    expect(spellings(answer)).toEqual(['postgres'])
  })

  test('gets suggestions ordered by distance, then by frequency', async () => {
    expect(spellings(await ask('chromo'))).toEqual(['chrome', 'chrono'])
  })

  test('has the same pages, groups and facets as the right word', async () => {
    const wrong = await ask('migratiom', { limit: 5, offset: 10, group: 'chat', facets: 'project' })
    const right = await ask('migration', { limit: 5, offset: 10, group: 'chat', facets: 'project' })
    expect(wrong).toMatchObject({ total: right.total, items: right.items, facets: right.facets })
  })
})

const slipKinds = {
  insert: (word: string, at: number, letter: string) => word.slice(0, at) + letter + word.slice(at),
  delete: (word: string, at: number) => word.slice(0, at) + word.slice(at + 1),
  substitute: (word: string, at: number, letter: string) => word.slice(0, at) + letter + word.slice(at + 1),
  transpose: (word: string, at: number) =>
    word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
} as const

test('planted typos of all four kinds are corrected in rare and frequent words', { timeout: 120_000 }, async () => {
  const random = createRandom(5)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const syllables = 'bar ced din fol gus lam mer nip rot sut tev wis xon kap jel hir lot nud'.split(' ')
  const makeWord = (): string => Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join('')
  const words = [...new Set(Array.from({ length: 3000 }, makeWord))]
  // The first of them in many messages, most in one.
  const messages = words.map((word, at) => ({ id: `m${at}`, text: `${word} ${words[at % 50] ?? ''}`, atMs: 1e12 + at }))
  const planted = await Searched.of([{ id: 'chat', messages }])
  const known = new Set(words)
  for (const [kind, slip] of Object.entries(slipKinds)) {
    let asked = 0
    let first = 0
    let among = 0
    while (asked < 100) {
      const word = pick(words)
      const typed = slip(word, Math.floor(random() * (word.length - 1)), pick(Array.from('abcdefghijklmnopqrst')))
      if (typed.length < 4 || known.has(typed)) continue
      asked += 1
      const offered = spellings(await planted.ask(typed, { limit: 1 }))
      if (offered[0] === word) first += 1
      if (offered.includes(word)) among += 1
    }
    console.log(`${kind}: ${first} of ${asked} words are offered first, ${among} at all`)
    expect(among).toBeGreaterThanOrEqual(0.97 * asked)
    expect(first).toBeGreaterThanOrEqual(0.9 * asked)
  }
  await planted.remove()
})
