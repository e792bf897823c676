import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  emptyBatch,
  type Batch,
  type ChatFacts,
  type ChatWrite,
  type ChatMetadata,
} from '../../src/mirror/write/batch.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { placeByPaths } from '../../src/mirror/write/chats/chat-paths.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { HUB } from '../../src/mirror/sources/source-ranks.ts'
import { asChatId, asMessageId } from '../../src/model/ids.ts'
import { draftOf, noFacts } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
let opened: OpenMirror
let mirror: Mirror
let store: number
let inline: number
let transcript: number

beforeEach(() => {
  opened = new OpenMirror()
  mirror = opened.db
  store = opened.source('store', 0)
  inline = opened.source('inline', 2)
  transcript = opened.source('transcript', 3)
})

afterEach(() => opened.remove())

type Texts = readonly (readonly [id: string, text: string])[]

/** A chat of a source. Messages of the user and the assistant alternate. */
function chat(
  id: string,
  texts: Texts,
  facts: Partial<ChatFacts> = {},
  listed = texts.map(([name]) => name),
): ChatWrite {
  const outline = listed.map((name) => ({ id: asMessageId(name), role: null, createdAtMs: null, startedAtMs: null }))
  const messages = texts.map(([name, text], at) =>
    packMessage(draftOf(name, text, { role: at % 2 === 0 ? 'user' : 'assistant', isEmbedded: true })),
  )
  const embeddedIds = new Set(messages.map((message) => message.id))
  const ownRow = {
    kind: 'read',
    facts: { ...noFacts, createdAtMs: T0, ...facts },
    outline,
    embeddedIds,
    octets: 10,
  } as const
  return { id: asChatId(id), ownRow, messages, vanished: [] }
}

const gone = (id: string): ChatWrite => ({ id: asChatId(id), ownRow: { kind: 'gone' }, messages: [], vanished: [] })

const write = (source: number, chats: readonly ChatWrite[], more: Partial<Batch> = {}) =>
  writeBatch(mirror, { ...emptyBatch, source, nowMs: T0, chats, ...more })

/** `id:position`, `id:orphan` or `id:copy` of every message, and the texts of the thread in order. */
function placesOf(id: string): string[] {
  const sql = `
    select messages.id, position, is_orphan from messages join chats on chats.num = chat where chats.id = ?
    order by is_orphan, position, messages.id`
  const rows = mirror.prepare(sql).all(id) as { id: string; position: number | null; is_orphan: number }[]
  return rows.map((row) => `${row.id}:${['', 'orphan', 'copy'][row.is_orphan] || row.position}`)
}

const chatRow = (id: string): Record<string, unknown> =>
  mirror.prepare('select * from chats where id = ?').get(id) as Record<string, unknown>

const found = (term: string): number =>
  (mirror.prepare('select count(*) as n from message_terms where message_terms match ?').get(term) as { n: number }).n

const inStore: Texts = [
  ['b1', 'plant an apple tree'],
  ['b2', 'the tree is planted'],
]
const inTranscript: Texts = [
  ['t1', 'plant an  apple tree\n'],
  ['t2', 'the tree is planted'],
  ['t3', 'only the transcript knows this walnut'],
]

describe.each([
  ['the store first', false],
  ['the transcript first', true],
])('a chat in a store and in a transcript, %s', (_, isReversed) => {
  beforeEach(() => {
    const writes = [
      () => write(store, [chat('c', inStore, { name: 'Trees' })]),
      () => write(transcript, [chat('c', inTranscript, { format: 'transcript' })]),
    ]
    for (const act of isReversed ? writes.toReversed() : writes) act()
  })

  test('has the order of the store, and messages that only the transcript has are stored and found', () => {
    expect(placesOf('c')).toEqual(['b1:0', 'b2:1', 't3:orphan', 't1:copy', 't2:copy'])
    expect([found('apple'), found('planted'), found('walnut')]).toEqual([1, 1, 1])
    expect(chatRow('c')).toMatchObject({ title: 'Trees', format: 'split', source: store, message_count: 2, is_live: 1 })
  })

  test('a second pass over both changes nothing', () => {
    expect(write(store, [chat('c', inStore, { name: 'Trees' })])).toMatchObject({ added: 0, changed: 0, gone: 0 })
    expect(write(transcript, [chat('c', inTranscript, { format: 'transcript' })])).toMatchObject({
      added: 0,
      changed: 0,
    })
  })

  test('is live while one of them has it', () => {
    write(transcript, [gone('c')])
    expect(chatRow('c')).toMatchObject({ is_live: 1 })
    write(store, [gone('c')])
    expect(chatRow('c')).toMatchObject({ is_live: 0 })
  })

  test('keeps the facts of the store after the store deleted it and the transcript was read again', () => {
    const facts = { summary: 'an apple tree', model: 'claude', todos: [{ id: null, content: 'dig', status: null }] }
    write(store, [chat('c', inStore, { name: 'Trees', ...facts })])
    write(store, [gone('c')])
    const before = chatRow('c')
    write(transcript, [chat('c', inTranscript, { format: 'transcript' })])
    expect(chatRow('c')).toEqual(before)
    expect(before).toMatchObject({ source: store, format: 'split', summary: 'an apple tree', cursor_model: 'claude' })
  })

  test('does not index copies', () => {
    mirror.exec(`insert into message_terms (message_terms) values ('integrity-check')`)
    expect(mirror.prepare('select count(*) as n from message_terms_docsize').get()).toEqual({ n: 3 })
  })
})

test('a chat whose messages the store lost is read from the transcript, with the name in the store', () => {
  write(store, [chat('c', [], { name: 'Trees' }, ['b1', 'b2'])])
  write(transcript, [chat('c', inTranscript, { format: 'transcript' })])
  expect(placesOf('c')).toEqual(['t1:0', 't2:1', 't3:2'])
  expect(chatRow('c')).toMatchObject({ title: 'Trees', message_count: 3 })
})

test('a message that the store names but lacks comes from the workspace that still has it', () => {
  write(store, [chat('c', [['b1', 'one']], {}, ['b1', 'b2', 'b3'])])
  write(inline, [
    chat(
      'c',
      [
        ['b1', 'an older one'],
        ['b2', 'two'],
        ['b4', 'four'],
      ],
      { format: 'inline' },
    ),
  ])
  expect(placesOf('c')).toEqual(['b1:0', 'b2:1', 'b4:orphan', 'b1:copy'])
  expect([found('older'), found('two')]).toEqual([0, 1])
})

describe('prompts of lost chats', () => {
  const prompts = chat(
    'prompts-ws',
    [
      ['p1', 'plant an apple tree'],
      ['p2', 'unused'],
      ['p3', 'a lost pear'],
    ],
    {
      format: 'prompts',
    },
  )

  test.each([
    ['first', false],
    ['last', true],
  ])('count if no other chat contains them, read %s', (_, isReversed) => {
    const writes = [() => write(inline, [prompts]), () => write(store, [chat('c', inStore)])]
    for (const act of isReversed ? writes.toReversed() : writes) act()
    expect(placesOf('prompts-ws')).toEqual(['p2:1', 'p3:2', 'p1:copy'])
    expect([found('apple'), found('pear')]).toEqual([1, 1])
    expect(chatRow('prompts-ws')).toMatchObject({ message_count: 2 })
  })

  test('count although a chat of another machine contains them', () => {
    const hub = opened.source(HUB, 9)
    for (const act of [() => write(hub, [chat('c', inStore)]), () => write(inline, [prompts])]) act()
    expect(chatRow('prompts-ws')).toMatchObject({ message_count: 3 })
  })
})

describe('metadata of a chat in a list', () => {
  const head = (more: Partial<ChatMetadata>): ChatMetadata => ({
    chatId: asChatId('c'),
    list: 'list',
    name: null,
    createdAtMs: null,
    updatedAtMs: null,
    mode: null,
    branch: null,
    isArchived: null,
    isDraft: null,
    isSubagent: null,
    parentChatId: null,
    linesAdded: null,
    linesRemoved: null,
    filesChanged: null,
    ...more,
  })

  test('does not create a chat, and applies when the chat appears', () => {
    write(inline, [], { heads: [head({ name: 'Named by the list', isArchived: true })] })
    expect(chatRow('c')).toBeUndefined()
    write(store, [chat('c', inStore)])
    expect(chatRow('c')).toMatchObject({ title: 'Named by the list', title_source: 'cursor', is_archived: 1 })
  })

  test('completes the own row and overrides nothing', () => {
    write(store, [chat('c', inStore, { name: 'Own name', mode: 'agent' })])
    write(inline, [], { heads: [head({ name: 'Other', mode: 'chat', branch: 'main', linesAdded: 7 })] })
    expect(chatRow('c')).toMatchObject({ title: 'Own name', mode: 'agent', branch: 'main', lines_added: 7 })
  })

  test('can be reverted', () => {
    write(store, [chat('c', inStore)])
    write(inline, [], { heads: [head({ isArchived: true })] })
    expect(chatRow('c')).toMatchObject({ is_archived: 1 })
    write(inline, [], { heads: [head({ isArchived: false })] })
    expect(chatRow('c')).toMatchObject({ is_archived: 0 })
  })

  test('cannot hide a chat by calling it a draft', () => {
    write(store, [chat('c', inStore)])
    write(inline, [], { heads: [head({ isDraft: true })] })
    expect(chatRow('c')).toMatchObject({ is_draft: 0 })
  })
})

describe('the project of a chat', () => {
  const root = (name: string) => ({ uri: `file:///w/${name}`, path: `/w/${name}`, name, remote: null })
  const evidence = (chatId: string, name: string, rank: number) => ({
    chatId: asChatId(chatId),
    method: `method-${rank}`,
    rank,
    root: root(name),
    isOnly: false,
  })
  const projectOf = (id: string): unknown =>
    mirror
      .prepare('select projects.name from chats left join projects on projects.num = project where chats.id = ?')
      .pluck()
      .get(id)

  test('a subagent has the project of its parent, also after the parent moves', () => {
    write(store, [chat('child', inStore, { isSubagent: true, parentChatId: asChatId('c') }), chat('c', inStore)])
    expect(projectOf('child')).toBeNull()
    write(inline, [], { evidence: [evidence('c', 'one', 30)] })
    expect([projectOf('child'), chatRow('child')['project_source']]).toEqual(['one', 'parent'])
    write(inline, [], { evidence: [evidence('c', 'two', 10)] })
    expect(projectOf('child')).toBe('two')
  })

  test('two chats that are parents of each other cause no endless loop', () => {
    write(store, [
      chat('a', inStore, { parentChatId: asChatId('b') }),
      chat('b', inStore, { parentChatId: asChatId('a') }),
    ])
    write(inline, [], { evidence: [evidence('a', 'one', 30)] })
    expect([projectOf('a'), projectOf('b')]).toEqual(['one', 'one'])
  })

  test('files place a chat under the longest known root of most files, never under a guess', () => {
    const paths = (chatId: string, ...uris: string[]) => ({ chatId: asChatId(chatId), uris })
    write(store, [chat('c', inStore), chat('d', inStore), chat('e', inStore)], {
      paths: [
        paths('c', 'file:///w/one/a', 'file:///w/one/b/c', 'file:///tmp/x'),
        paths('d', 'file:///w/one/a', 'file:///w/two/b'),
        paths('e', 'file:///w/onerous/a'),
      ],
    })
    expect(placeByPaths(mirror, new Set())).toEqual([])
    write(inline, [], {
      workspaces: [
        { id: 'ws1', root: root('one') },
        { id: 'ws2', root: root('two') },
      ],
    })
    expect(placeByPaths(mirror, new Set())).toEqual(['c'])
    expect([projectOf('c'), projectOf('d'), projectOf('e')]).toEqual(['one', null, null])
    write(inline, [], { evidence: [evidence('c', 'two', 30)] })
    expect(projectOf('c')).toBe('two')
    expect(placeByPaths(mirror, new Set())).toEqual([])
  })
})
