import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Suggestion, SuggestionKind } from '../../../src/api/answers/search.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { called, Searched, type SaidMessage } from './searched.ts'

const cases = casesBeside(import.meta.url)

let searched: Searched
const items = async (q: string, limit = 10): Promise<readonly Suggestion[]> => {
  const path = `/api/suggest?${new URLSearchParams({ q, limit: String(limit) }).toString()}`
  return (await searched.world.get<{ readonly items: readonly Suggestion[] }>(path)).items
}
const texts = async (q: string, kind: SuggestionKind): Promise<readonly string[]> =>
  (await items(q)).flatMap((item) => (item.kind === kind ? [item.text] : []))

const reading = (id: string, path: string): SaidMessage => ({
  id,
  role: 'assistant',
  row: called('read_file', { targetFile: path, target_file: path }, 'x'),
})

beforeAll(async () => {
  const said = [
    ...Array.from({ length: 5 }, () => 'the postgres migration keeps running'),
    ...Array.from({ length: 3 }, () => 'postage is due for the postgres box'),
    'getUserName fails in the quaternion',
    'the project shows no tool ready, and its path searches in cooperation',
  ].map((text, at) => ({ id: `m${at}`, text, atMs: 1e12 + at * 1000 }))
  const attached = { context: { fileSelections: [{ uri: { fsPath: 'src/api/orders.ts' } }] } }
  const files = [
    reading('read', 'src/daemon/search-pool.ts'),
    reading('readme', 'docs/README.md'),
    { id: 'attached', row: attached },
  ]
  const first = { id: 'first', title: 'Migrate the orders table', project: 'shop-frontend' }
  searched = await Searched.of([
    { ...first, messages: [...said, ...files] },
    {
      id: 'cjk',
      title: '用户登录的数据库问题',
      project: 'shop-frontend',
      messages: [{ id: 'c', text: '数据库 登录' }],
    },
    { id: 'hollow', title: 'Migrate nothing', messages: [] },
  ])
  searched.world.home.workspace('other', { folder: 'file:///cursordex' })
  await searched.world.sync()
})
afterAll(() => searched.remove())

describe('a text that is being typed', () => {
  test.each(cases<[q: string, kind: SuggestionKind, ...expected: string[]]>('suggestions'))(
    '%j as a %s becomes %j %j',
    async (q, kind, ...expected) => {
      expect(await texts(q, kind)).toEqual(expected)
    },
  )

  test('gets suggestions with ids to ask by', async () => {
    const idOf = async (q: string, kind: SuggestionKind) => (await items(q)).find((one) => one.kind === kind)?.id
    expect(await idOf('migr', 'chat')).toBe('first')
    expect(await idOf('read', 'tool')).toBe('read_file')
    expect(await idOf('orders', 'file')).toBe('src/api/orders.ts')
    expect(await idOf('running postg', 'term')).toBe('running postgres')
  })

  test.each(cases<[q: string, kind: SuggestionKind, text: string]>('values of fields'))(
    'is the value of a field, for which no words are suggested that nothing passes: %s',
    async (q, kind, text) => {
      expect(await items(q)).toMatchObject([{ kind, text }])
      const { warnings } = await searched.ask(`${kind === 'file' ? 'path' : kind}:${text}`)
      expect(warnings).toEqual([])
    },
  )

  test('is read as a word after an unknown field or a field without a value', async () => {
    expect(await items('in:coop')).toEqual([])
    expect(await texts('shows:to', 'term')).toEqual([])
    expect(await texts('project:', 'term')).toEqual(['project:'])
    expect(await texts('project::sho', 'term')).toEqual(['project::shows'])
  })

  test('is completed with words that occur together with the other words', async () => {
    expect(await texts('postage postgr', 'term')).toEqual(['postgres'])
    expect(await texts('quaternion post', 'term')).toEqual([])
  })

  test('gets at most the requested number of suggestions, best first', async () => {
    for (const limit of [1, 2, 5, 20]) {
      const scores = (await items('mi', limit)).map(({ score }) => score)
      expect(scores.length).toBeLessThanOrEqual(limit)
      expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    }
  })

  test('may contain anything', { timeout: 120_000 }, async () => {
    const signs = fc.constantFrom('postg', '"', '(', '*', '\u0000', '\ud800', '数')
    const piece = fc.oneof(fc.string({ unit: 'binary' }), signs)
    const asked = fc.tuple(fc.array(piece, { maxLength: 8 }), fc.integer({ min: 1, max: 20 }))
    await fc.assert(
      fc.asyncProperty(asked, async ([pieces, limit]) => {
        const found = await items(pieces.join(' '), limit)
        expect(found.length).toBeLessThanOrEqual(limit)
        expect(found.every(({ score, text }) => score > 0 && score <= 1 && text !== '')).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

test('a new word, chat or file is suggested at once', async () => {
  const added = { id: 'n1', text: 'an armadillo', atMs: 2e12 }
  const messages = [added, reading('n2', 'src/daemon/zeppelin.ts')]
  await searched.add([{ id: 'new', title: 'Zeppelin landing', messages }])
  expect(await texts('armad', 'term')).toEqual(['armadillo'])
  expect(await texts('zeppe', 'chat')).toEqual(['Zeppelin landing'])
  expect(await texts('daemon', 'file')).toContain('src/daemon/zeppelin.ts')
})
