import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { Cursordex } from '../../helpers/spawn-cursordex.ts'
import { called, Searched } from './searched.ts'

const cases = casesBeside(import.meta.url)

/** Text after the indexed part of an output. */
const beyond = `${'filler words '.repeat(6000)} outermostword`

const rows: Readonly<Record<string, Record<string, unknown>>> = {
  text: { text: 'The walrusfence leaks.' },
  thinking: { thinking: { text: 'Perhaps the ottermoat is at fault.' } },
  code: { codeBlocks: [{ content: 'const badgerdam = 1', languageId: 'ts', uri: { path: '/p/src/heronlock.ts' } }] },
  fenced: {
    text: 'Use a puffinhook here:\n\n```ts\nconst terncache = new LapwingMap()\n```\n\nThen the snipetest passes.',
  },
  tool: called('grep_stork', { pattern: 'ravenlevee' }, { lines: ['crowsluice found'] }),
  attachment: { context: { fileSelections: [{ uri: { fsPath: '/p/docs/gullpier.md' } }] } },
  capped: called('read_file', { path: '/p/long.txt' }, { contents: beyond }),
  folded: { text: 'Café ÉLAN, Straße, Ångström' },
  chinese: { text: '线上数据库里有重复的号码' },
  japanese: { text: '本番のデータベースが遅いです。鍵を替えました' },
  korean: { text: '데이터베이스를 옮겼습니다' },
  thai: { text: 'ฐานข้อมูลทำงานช้ามาก' },
  khmer: { text: 'មូលដ្ឋានទិន្នន័យយឺតណាស់' },
  emoji: { text: 'shipped 🚀 by 👩‍💻 from 🇩🇪' },
  hash: { text: 'commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432 broke it' },
  pointed: { text: 'شرح مُحَمَّد الخطأ بالتفصيل' },
  humps: called('read_file', { path: '/p/src/Lists/MapCard.test.tsx' }, {}),
  chineseName: { text: '用GitWalrus登录' },
  koreanName: { text: 'GitOtter에서 로그인' },
  spacedKhmer: { text: 'បើក\u200bឯកសារ\u200bថ្មី' },
  coloured: called(
    'run_egret',
    {},
    { output: '\u001b[31mbitternfailed\u001b[39m \u001b[36msrc/plover.ts\u001b[0m:12' },
  ),
  escaped: called('mcp_tern', {}, { result: JSON.stringify({ text: 'Steps:\nduneopen\tridgesave' }) }),
  asciiJson: called('mcp_knot', {}, { result: String.raw`{"text":"Pr\u00fcfknoten"}` }),
  uuid: { text: 'request 3fa85f64-5717-4562-b3fc-2c963f66afa6 failed' },
}

const MAX = 2_000_000
/** A text of this many characters: filler between a first and a last word. */
const filled = (first: string, characters: number, last = ''): string => {
  const filler = 'filler words '.repeat(Math.ceil(characters / 13))
  return `${first} ${filler}`.slice(0, characters - last.length - 1) + (last === '' ? '.' : ` ${last}`)
}
const codeOf = (content: string): object => ({ content, languageId: 'ts' })

const longRows: typeof rows = {
  // 2,000,001 characters in two parts of the same kind.
  over: { codeBlocks: [codeOf(filled('ottercove', 1_000_001)), codeOf(filled('heronpond', 1_000_000, 'wrenlast'))] },
  // The maximum length, and another part of a different kind.
  exact: { text: 'a walrusbay', codeBlocks: [codeOf(filled('plovermere', MAX - 9)), codeOf('ternrocks')] },
  // Counts characters, even if one takes two UTF-16 units.
  pairs: { text: `puffincliff ${'🦉'.repeat(MAX - 21)} gullquay` },
  error: { text: `gannetrock ${'x '.repeat(999_990)}`, errorDetails: { message: 'dunlinbeach' } },
}
const asked = {
  over: ['ottercove', 'heronpond'],
  exact: ['walrusbay', 'plovermere', 'ternrocks'],
  pairs: ['puffincliff', 'gullquay'],
}

let searched: Searched
beforeAll(async () => {
  const messagesOf = (each: typeof rows) =>
    Object.entries(each).map(([id, row]) => ({ id, role: 'assistant', row }) as const)
  searched = await Searched.of([
    { id: 'c', title: 'About the pelicanquay', messages: messagesOf(rows) },
    { id: 'long', messages: messagesOf(longRows) },
    { id: 'short', messages: [{ id: 's1', text: 'a small ottercove' }] },
  ])
})
afterAll(() => searched.remove())

const found = async (q: string): Promise<readonly string[]> =>
  (await searched.ask(q)).items.map(({ message, part }) => (part === 'title' ? 'title' : message.id))

describe('content of Cursor is found by', async () => {
  test.each(cases<[string, string, string[]]>('found'))('%s: %s', async (_, q, expected) => {
    expect(await found(q)).toEqual(expected)
  })

  test.each([
    ['other characters', '据数'],
    ['vowels left out', 'ขอมล'],
    ['a flag with the letters reversed', '🇪🇩'],
    ['another number', '3fa85f65*'],
  ])('and not by %s: %s', async (_, q) => {
    expect(await found(q)).toEqual([])
  })
})

describe('without corrections, content is found by', async () => {
  test.each(cases<[string, string, string[]]>('found without corrections'))('%s: %s', async (_, q, expected) => {
    const { items } = await searched.ask(q, { literal: true })
    expect(items.map(({ message }) => message.id)).toEqual(expected)
  })

  test('a snippet has no terminal colours', async () => {
    expect((await searched.ask('bitternfailed')).items[0]?.snippet).toBe(
      'run_egret\n<mark>bitternfailed</mark> src/plover.ts:12',
    )
  })
})

describe('text between code fences is code', async () => {
  test.each(cases<[string, string[]]>('text between code fences is code'))('%s', async (q, expected) => {
    const { items } = await searched.ask(q, { chat: 'c' })
    expect(items.map(({ message, part }) => `${message.id} ${part}`).toSorted()).toEqual(expected)
  })

  test('a snippet marks matches in the prose and in the code', async () => {
    const snippetOf = async (q: string): Promise<string | undefined> => (await searched.ask(q)).items[0]?.snippet
    const code = '\n\n```ts\nconst <mark>terncache</mark> = new LapwingMap()\n```\n\n'
    expect(await snippetOf('puffinhook terncache')).toBe(
      `Use a <mark>puffinhook</mark> here:${code}Then the snipetest passes.`,
    )
    expect(await snippetOf('in:code terncache')).toBe(`Use a puffinhook here:${code}Then the snipetest passes.`)
  })

  test('it counts in the facet of parts', async () => {
    const { facets } = await searched.ask('terncache', { facets: 'part' })
    expect(facets['part']?.map(({ value, count }) => `${value} ${count}`)).toEqual(['code 1'])
  })
})

const cappedOf = async (chat: string): Promise<readonly string[]> => {
  const { items } = await searched.world.get<Page<Message>>(`/api/chats/${chat}/messages?limit=200`)
  return items.filter(({ isIndexCapped }) => isIndexCapped).map(({ id }) => id)
}

test('only a limited length of tool output is indexed, and the message is marked', async () => {
  expect(await found('outermostword')).toEqual([])
  expect(await found('tool:read_file filler')).toEqual(['capped'])
  expect(await cappedOf('c')).toEqual(['capped'])
})

test('a message with one character too many of a kind is marked as capped, and one at the limit is not', async () => {
  expect(await cappedOf('long')).toEqual(['over'])
})

test.each(Object.entries(asked))('the first 2,000,000 characters of %s are found', async (id, words) => {
  for (const q of words) expect([q, await searched.ids(q, { chat: 'long' })]).toEqual([q, [id]])
})

const WARNING = expect.stringContaining('too long to be indexed whole')

test('a search limited to such a chat by field or filter warns, and others do not', async () => {
  const warningsOf = async (q: string, more = {}) => (await searched.ask(q, more)).warnings
  expect(await warningsOf('chat:long ottercove')).toContainEqual(WARNING)
  expect(await warningsOf('wrenfirst', { chat: 'long' })).toContainEqual(WARNING)
  for (const [q, more] of [
    ['ottercove', {}],
    ['ottercove', { chat: 'short' }],
    ['-chat:long ottercove', {}],
  ] as const)
    expect([q, await warningsOf(q, more)]).not.toEqual([q, expect.arrayContaining([WARNING])])
})

test('the command line shows it for the search and for the message', async () => {
  const places = ['--data-dir', searched.world.settings.dataDir, '--cursor-user-dir', '', '--cursor-home', '']
  const search = await new Cursordex(['search', 'chat:long ottercove', ...places]).ended
  expect(search.stderr).toContain('1 message of this chat is too long to be indexed whole')
  const show = await new Cursordex(['show', 'long', ...places]).ended
  expect(show.stdout).toContain('only partly indexed')
})
