import Database from 'better-sqlite3'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Piece, WholeChat } from '../../../src/indexer/open-safely/whole-store.ts'
import { decodeWorkspaceRoot } from '../../../src/indexer/sources/items/decode.ts'
import { decodeItems } from '../../../src/indexer/sources/items/decode.ts'
import { findLayout, readItem } from '../../../src/indexer/sources/items/read.ts'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

type Fields = Record<string, unknown>

const keys = {
  tabs: 'workbench.panel.aichat.view.aichat.chatdata',
  oldTabs: 'workbench.panel.chat.view.chat.chatdata',
  composers: 'composer.composerData',
  pane: 'workbench.panel.composerChatViewPane',
  prompts: 'aiService.prompts',
} as const
const inMill: { id: string; rootUri: string | null } = { id: 'w1', rootUri: 'file:///yard/mill' }

const bytes = (value: unknown): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))

function pieceOf(key: string, value: unknown, workspace = inMill): Piece {
  const given = bytes(value)
  const [piece] = decodeItems([{ key, octets: given.length, value: given }], workspace)
  if (piece === undefined) throw new Error('an item has a piece')
  return piece
}

const chatsOf = (key: string, value: unknown): readonly WholeChat[] => pieceOf(key, value).chats
const idsOf = (chat: WholeChat | undefined): string[] => (chat?.messages ?? []).map(({ id }) => id)

/** Text parts only, as a person would read them. */
const saidIn = (chat: WholeChat | undefined): string[] =>
  (chat?.messages ?? []).map(({ role, parts }) => {
    const texts = parts.flatMap((part) => (part.kind === 'text' ? part.text : []))
    return `${role}: ${texts.join(' ')}`
  })

const evidenceOf = (piece: Piece): string[] =>
  piece.evidence.map(({ chatId, method, root }) => `${chatId} ${method} ${root.uri}`)

describe('what is read of a store', () => {
  test('is exact keys, and ranges of the two families with chats', () => {
    const asked: string[] = []
    const db = new Database(':memory:', { verbose: (sql) => asked.push(String(sql)) })
    for (const table of ['ItemTable', 'cursorDiskKV']) {
      db.exec(`create table ${table} (key text unique on conflict replace, value blob)`)
    }
    db.exec(`insert into ItemTable values ('cursorAuth/accessToken', 'canary'), ('composer.composerData', '[]')`)
    asked.length = 0
    const read = findLayout(db, false).items.flatMap((ref) => readItem(db, ref) ?? [])
    expect(read.map(({ key }) => key)).toEqual(['composer.composerData'])
    expect(asked.length).toBeGreaterThan(5)
    const ofRows = asked.filter((sql) => !/sqlite_master|pragma/i.test(sql))
    for (const sql of ofRows) {
      expect(sql).not.toMatch(/select\s+\*|\blike\b|\bglob\b/i)
      expect(sql).toMatch(/where key = '|where key > '[^]* and key < '/)
    }
    const plans = ofRows.flatMap((sql) => db.prepare<[], { detail: string }>(`explain query plan ${sql}`).all())
    expect(plans.filter(({ detail }) => !detail.startsWith('SEARCH'))).toEqual([])
    db.close()
  })
})

describe('an item', () => {
  test.each(cases<[string, string, string, string]>('items that cannot be read'))(
    'of %s is an issue',
    (_, key, text, issue) => {
      expect(pieceOf(key, text)).toMatchObject({ key, issue, chats: [], metadata: [], evidence: [] })
    },
  )

  const anyKey = fc.constantFrom(...Object.values(keys), `${keys.pane}.0b9c`)

  test('is decoded whatever its bytes are', () => {
    const anyBytes = fc.oneof(
      fc.uint8Array().map((array) => Buffer.from(array)),
      fc.json().map(bytes),
    )
    fc.assert(
      fc.property(anyKey, anyBytes, (key, value) => {
        expect(pieceOf(key, value)).toMatchObject({ key, octets: value.length })
      }),
    )
  })

  test('is decoded whatever the types of its fields are', () => {
    const any = fc.jsonValue({ maxDepth: 2 })
    const type = fc.constantFrom('user', 'ai', 1)
    const bubble = fc.record({ type, id: any, text: any, rawText: any }, { requiredKeys: [] })
    const bubbles = fc.oneof(any, fc.array(fc.oneof(bubble, any)))
    const composerId = fc.oneof(any, fc.constant('__proto__'))
    const fields = { tabId: any, composerId, text: any, bubbles, conversation: bubbles, conversationMap: any }
    const entry = fc.record({ ...fields, subagentInfo: any }, { requiredKeys: [] })
    const list = fc.array(fc.oneof(entry, any))
    const value = fc.oneof(list, fc.record({ tabs: list, allComposers: list, selectedComposerIds: any }))
    fc.assert(
      fc.property(anyKey, value, (key, given) => {
        const { chats } = pieceOf(key, given)
        for (const ids of [chats.map(({ id }) => id), ...chats.map(idsOf)]) expect(new Set(ids).size).toBe(ids.length)
      }),
    )
  })
})

test.each(cases<[string, string, string | null]>('roots'))('the root of a workspace is %s', (_, text, root) => {
  expect(decodeWorkspaceRoot(text)).toBe(root)
})

const tabsWith = (...bubbles: readonly unknown[]) => ({ tabs: [{ tabId: 't1', bubbles }] })
const only = (...bubbles: readonly unknown[]) => chatsOf(keys.tabs, tabsWith(...bubbles))[0]

describe('a tab', () => {
  test('is a chat with its title and its only time', () => {
    const atMs = Date.UTC(2024, 10, 1)
    const tab = { tabId: 't1', chatTitle: 'Grind', lastSendTime: atMs, bubbles: [{ type: 'user', id: 'u', text: 'a' }] }
    expect(chatsOf(keys.tabs, { tabs: [tab] })).toMatchObject([
      {
        id: 't1',
        facts: { format: 'tab', name: 'Grind', createdAtMs: null, updatedAtMs: atMs, isDraft: false, model: null },
        outline: [{ id: 'u', createdAtMs: null, startedAtMs: null }],
        messages: [{ id: 'u', sentAtMs: null, timingAtMs: null, isEmbedded: true, octets: 0 }],
      },
    ])
  })

  test('that occurs twice is read where it has more messages, and may have none', () => {
    const full = { tabId: 't1', bubbles: [{ type: 'user', text: 'a' }] }
    const empty = { tabId: 't1', bubbles: [] }
    const pairs = [
      [full, empty],
      [empty, full],
    ]
    for (const tabs of pairs) expect(chatsOf(keys.tabs, { tabs }).map(saidIn)).toEqual([['user: a']])
    expect(only()).toMatchObject({ facts: { format: 'tab' }, outline: null, messages: [] })
  })

  test('without an id is an issue only if it has content, and does not affect others', () => {
    const sound = { tabId: 't1', bubbles: [{ type: 'user', text: 'a' }] }
    expect(pieceOf(keys.tabs, { tabs: [null, 7, { bubbles: [] }, sound] })).toMatchObject({ issue: null })
    const piece = pieceOf(keys.tabs, { tabs: [{ bubbles: [{ text: 'lost' }] }, sound] })
    expect(piece).toMatchObject({ issue: 'bad-key', chats: [{ id: 't1' }] })
  })

  test.each(cases<[string, Fields, string]>('the text of a tab'))('has %s', (_, bubble, said) => {
    expect(saidIn(only(bubble))).toEqual([said])
  })

  test('keeps model and code of an answer, and attachments of a question', () => {
    const selections = [{ uri: { fsPath: '/m/a.c' }, rawText: 'int x;' }]
    const asked = { type: 'user', id: 'u', text: 'a', selections, fileSelections: [{ uri: { path: '/m/b.c' } }] }
    const codeBlocks = [{ content: 'int y;', languageId: 'c' }]
    const answered = { type: 'ai', id: 'a', rawText: 'b', modelType: 'claude-3.5-sonnet', codeBlocks }
    const [question, answer] = only(asked, answered)?.messages ?? []
    expect(question?.parts).toMatchObject([
      { kind: 'text' },
      { kind: 'attachment', path: '/m/b.c', text: null },
      { kind: 'attachment', path: '/m/a.c', text: 'int x;' },
    ])
    const parts = [
      { kind: 'text', text: 'b' },
      { kind: 'code', language: 'c', path: null, text: 'int y;' },
    ]
    expect(answer).toMatchObject({ model: 'claude-3.5-sonnet', parts })
  })

  test('keeps the place of an element that is no message', () => {
    const [asked, answered] = [
      { type: 'user', id: 'u', text: 'a' },
      { type: 'ai', id: 'a', text: 'b' },
    ]
    const chat = only(asked, null, { type: 'ai', id: 'e' }, answered)
    expect([chat?.outline?.length, idsOf(chat)]).toEqual([4, ['u', 'a']])
  })
})

describe('an unsent draft', () => {
  const said = { type: 'ai', id: 'a', text: 'b' }

  test.each(cases<[string, Fields]>('no message and no issue'))('%s is no message and no issue', (_, bubble) => {
    const chat = only(said, bubble)
    expect([idsOf(chat), chat?.outline?.length, idsOf(only(bubble))]).toEqual([['a'], 1, []])
  })

  test.each(cases<[string, Fields[], string[]]>('drafts that are none'))('%s', (_, bubbles, ids) => {
    expect(idsOf(only(...bubbles))).toEqual(ids)
  })

  test.each(writtenOut(cases<[string, Fields]>('damaged drafts')))(
    'that is damaged does not affect the messages: %s',
    (_, bubble) => {
      const piece = pieceOf(keys.tabs, tabsWith(said, bubble))
      expect(piece.issue).toBeNull()
      expect(piece.chats[0]?.messages[0]).toMatchObject({ id: 'a', parts: [{ kind: 'text', text: 'b' }] })
    },
  )
})

const conversation = [
  { bubbleId: 'b1', type: 1, text: 'a' },
  { bubbleId: 'b2', type: 2, text: 'b' },
]
const whole = { composerId: 'c1', name: 'Mill', createdAt: Date.UTC(2024, 10, 1), conversation }

describe('a whole composer', () => {
  test.each<[string, unknown]>([
    ['in the list', { allComposers: [whole] }],
    ['in a bare array', [whole]],
  ])('%s is a chat with its messages, in this workspace', (_, value) => {
    const piece = pieceOf(keys.composers, value)
    const facts = { format: 'inline', name: 'Mill', createdAtMs: whole.createdAt }
    expect(piece).toMatchObject({ chats: [{ id: 'c1', facts }], metadata: [], issue: null })
    expect(saidIn(piece.chats[0])).toEqual(['user: a', 'assistant: b'])
    expect(piece.chats[0]?.outline?.map(({ id }) => id)).toEqual(['b1', 'b2'])
    expect(evidenceOf(piece)).toEqual(['c1 workspace-heads file:///yard/mill'])
  })

  test('with a map of messages is one, too', () => {
    const [chat] = chatsOf(keys.composers, [{ composerId: 'c1', conversationMap: { b1: { type: 1, text: 'a' } } }])
    expect(chat).toMatchObject({ facts: { format: 'map' }, messages: [{ id: 'b1' }] })
  })

  test('names its own place, if it has one', () => {
    const piece = pieceOf(keys.composers, [{ ...whole, workspaceIdentifier: { uri: { external: 'file:///own' } } }])
    expect(evidenceOf(piece)).toEqual(['c1 workspace-identifier file:///own', 'c1 workspace-heads file:///yard/mill'])
  })

  test.each(cases<[string, Fields, Fields]>('composers without messages'))(
    '%s is a chat without messages',
    (_, composer, facts) => {
      expect(chatsOf(keys.composers, [composer])).toMatchObject([{ facts, messages: [], outline: null }])
    },
  )

  test('without an id is an issue and does not affect others', () => {
    const piece = pieceOf(keys.composers, [{ conversation }, whole])
    expect(piece).toMatchObject({ issue: 'bad-key', chats: [{ id: 'c1' }] })
  })
})

describe('a head', () => {
  test.each(cases<[string, Fields, Fields]>('the facts of a head'))('has %s', (_, fields, expected) => {
    const piece = pieceOf(keys.composers, { allComposers: [{ type: 'head', composerId: 'c1', ...fields }] })
    expect(piece).toMatchObject({ chats: [], metadata: [{ chatId: 'c1', list: 'workspace-heads', ...expected }] })
    expect(evidenceOf(piece)).toEqual(['c1 workspace-heads file:///yard/mill'])
  })

  test.each(cases<[string, Fields]>('heads'))('is an entry with %s', (_, fields) => {
    const piece = pieceOf(keys.composers, [{ composerId: 'c1', ...fields }])
    expect(piece).toMatchObject({ chats: [], metadata: [{ chatId: 'c1' }] })
  })

  test('counts once, and without an id not at all', () => {
    const piece = pieceOf(keys.composers, [{ composerId: 'c1', name: 'a' }, { composerId: 'c1' }, {}, null, 'c2'])
    expect(piece).toMatchObject({ metadata: [{ chatId: 'c1', name: 'a' }], issue: null })
  })
})

test.each(cases<[string, string, unknown, string[]]>('open chats'))(
  'open chats, %s, are weak evidence',
  (_, key, value, ids) => {
    const piece = pieceOf(key, value)
    expect(piece).toMatchObject({ chats: [], metadata: [], issue: null })
    expect(evidenceOf(piece)).toEqual(ids.map((id) => `${id} open-tab file:///yard/mill`))
  },
)

describe('the prompts of a workspace', () => {
  const promptsOf = (...texts: readonly string[]) =>
    chatsOf(
      keys.prompts,
      texts.map((text) => ({ text, commandType: 4 })),
    )[0]

  test('are one chat without a name or a time, in the order in which they were typed', () => {
    const chat = promptsOf('a', 'b', 'a')
    const facts = { format: 'prompts', name: null, createdAtMs: null, updatedAtMs: null }
    expect(chat).toMatchObject({ id: 'prompts-w1', facts })
    expect(saidIn(chat)).toEqual(['user: a', 'user: b', 'user: a'])
    expect(chat?.outline?.map(({ id }) => id)).toEqual(idsOf(chat))
    expect(chat?.messages.every(({ sentAtMs, timingAtMs }) => sentAtMs === null && timingAtMs === null)).toBe(true)
  })

  test('keep their ids when the oldest drop out, and those with the same text have different ones', () => {
    const [, b, c] = idsOf(promptsOf('a', 'b', 'c'))
    expect(idsOf(promptsOf('b', 'c', 'd')).slice(0, 2)).toEqual([b, c])
    const ids = idsOf(promptsOf('a', 'b', 'a', 'a'))
    expect(new Set(ids).size).toBe(4)
    expect(ids).toEqual(expect.arrayContaining(idsOf(promptsOf('b', 'a', 'a'))))
  })

  test('without text are left out, and an empty list is no chat', () => {
    expect(saidIn(chatsOf(keys.prompts, [{ text: ' ' }, null, 'a', {}, { text: 'b' }])[0])).toEqual(['user: b'])
    expect([...chatsOf(keys.prompts, []), ...chatsOf(keys.prompts, [{ text: '' }])]).toEqual([])
  })
})
