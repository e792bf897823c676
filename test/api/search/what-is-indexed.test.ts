import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listMessages } from '../../../src/api/queries/messages/list-messages.ts'
import { search } from '../../../src/api/search/search.ts'
import { asChatId } from '../../../src/model/ids.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { CursorHome, headers } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { requestOf } from '../../helpers/mirror-rows.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const call = (name: string, params: unknown, result: unknown): object => ({
  toolFormerData: {
    name,
    toolCallId: `call-${name}`,
    status: 'completed',
    params: JSON.stringify(params),
    result: JSON.stringify(result),
  },
})

/** Text after the indexed part of an output. */
const beyond = `${'filler words '.repeat(6000)} outermostword`

const rows: Readonly<Record<string, object>> = {
  text: { text: 'The walrusfence leaks.' },
  thinking: { thinking: { text: 'Perhaps the ottermoat is at fault.' } },
  code: { codeBlocks: [{ content: 'const badgerdam = 1', languageId: 'ts', uri: { path: '/p/src/heronlock.ts' } }] },
  fenced: {
    text: 'Use a puffinhook here:\n\n```ts\nconst terncache = new LapwingMap()\n```\n\nThen the snipetest passes.',
  },
  tool: call('grep_stork', { pattern: 'ravenlevee' }, { lines: ['crowsluice found'] }),
  attachment: { context: { fileSelections: [{ uri: { fsPath: '/p/docs/gullpier.md' } }] } },
  capped: call('read_file', { path: '/p/long.txt' }, { contents: beyond }),
  folded: { text: 'Café ÉLAN, Straße, Ångström' },
  chinese: { text: '线上数据库里有重复的号码' },
  japanese: { text: '本番のデータベースが遅いです。鍵を替えました' },
  korean: { text: '데이터베이스를 옮겼습니다' },
  thai: { text: 'ฐานข้อมูลทำงานช้ามาก' },
  khmer: { text: 'មូលដ្ឋានទិន្នន័យយឺតណាស់' },
  emoji: { text: 'shipped 🚀 by 👩‍💻 from 🇩🇪' },
  hash: { text: 'commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432 broke it' },
  pointed: { text: 'شرح مُحَمَّد الخطأ بالتفصيل' },
  humps: call('read_file', { path: '/p/src/Lists/MapCard.test.tsx' }, {}),
  chineseName: { text: '用GitWalrus登录' },
  koreanName: { text: 'GitOtter에서 로그인' },
  spacedKhmer: { text: 'បើក\u200bឯកសារ\u200bថ្មី' },
  coloured: call('run_egret', {}, { output: '\u001b[31mbitternfailed\u001b[39m \u001b[36msrc/plover.ts\u001b[0m:12' }),
  escaped: call('mcp_tern', {}, { result: JSON.stringify({ text: 'Steps:\nduneopen\tridgesave' }) }),
  asciiJson: call('mcp_knot', {}, { result: String.raw`{"text":"Pr\u00fcfknoten"}` }),
  uuid: { text: 'request 3fa85f64-5717-4562-b3fc-2c963f66afa6 failed' },
}

const home = new CursorHome()
let indexer: Indexer
let db: Mirror
beforeAll(() => {
  const store = home.global()
  const ids = Object.keys(rows)
  for (const [id, row] of Object.entries(rows)) store.message('c', id, { type: 2, text: '', ...row })
  store.chat('c', { name: 'About the pelicanquay', fullConversationHeadersOnly: headers(ids) })
  home.close()
  indexer = new Indexer(home.userDir)
  indexer.pass('reconcile')
  db = indexer.mirror
})
afterAll(() => {
  indexer.remove()
  home.remove()
})

const found = (q: string): readonly string[] =>
  search(db, requestOf(q)).items.map(({ message, part }) => (part === 'title' ? 'title' : message.id))

describe('content of Cursor is found by', () => {
  test.each(cases<[string, string, string[]]>('found'))('%s: %s', (_, q, expected) => {
    expect(found(q)).toEqual(expected)
  })

  test.each([
    ['other characters', '据数'],
    ['vowels left out', 'ขอมล'],
    ['a flag with the letters reversed', '🇪🇩'],
    ['another number', '3fa85f65*'],
  ])('and not by %s: %s', (_, q) => {
    expect(found(q)).toEqual([])
  })
})

describe('without corrections, content is found by', () => {
  test.each(cases<[string, string, string[]]>('found without corrections'))('%s: %s', (_, q, expected) => {
    const { items } = search(db, requestOf(q, { isLiteral: true }))
    expect(items.map(({ message }) => message.id)).toEqual(expected)
  })

  test('a snippet has no terminal colours', () => {
    expect(search(db, requestOf('bitternfailed')).items[0]?.snippet).toBe(
      'run_egret\n<mark>bitternfailed</mark> src/plover.ts:12',
    )
  })
})

describe('text between code fences is code', () => {
  test.each(cases<[string, string[]]>('text between code fences is code'))('%s', (q, expected) => {
    const { items } = search(db, requestOf(q))
    expect(items.map(({ message, part }) => `${message.id} ${part}`).toSorted()).toEqual(expected)
  })

  test('a snippet marks only matches in the named part', () => {
    const snippetOf = (q: string): string | undefined => search(db, requestOf(q)).items[0]?.snippet
    const code = '\n\n```ts\nconst <mark>terncache</mark> = new LapwingMap()\n```\n\n'
    expect(snippetOf('puffinhook terncache')).toBe(
      `Use a <mark>puffinhook</mark> here:${code}Then the snipetest passes.`,
    )
    expect(snippetOf('in:code terncache')).toBe(`Use a puffinhook here:${code}Then the snipetest passes.`)
  })

  test('it counts in the facet of parts', () => {
    const { facets } = search(db, requestOf('terncache', { facets: ['part'] }))
    expect(facets['part']?.map(({ value, count }) => `${value} ${count}`)).toEqual(['code 1'])
  })
})

test('only a limited length of tool output is indexed, and the message is marked', () => {
  expect(found('outermostword')).toEqual([])
  expect(found('tool:read_file filler')).toEqual(['capped'])
  const request = { chatId: asChatId('c'), limit: 100, offset: 0, around: null, includeOrphans: false }
  const answer = listMessages(db, request)
  const items = answer.kind === 'page' ? answer.page.items : []
  expect(items.filter(({ isIndexCapped }) => isIndexCapped).map(({ id }) => id)).toEqual(['capped'])
})
