import { describe, expect, it, test } from 'vitest'
import { chatsOf, evidenceOf, keys, pieceOf, saidIn } from './items.ts'

const tabsWith = (...bubbles: readonly unknown[]) => ({ tabs: [{ tabId: 't1', bubbles }] })
const only = (...bubbles: readonly unknown[]) => chatsOf(keys.tabs, tabsWith(...bubbles))[0]

describe('a tab', () => {
  it('is a chat with its title and its only time', () => {
    const atMs = Date.UTC(2024, 10, 1)
    const tab = { tabId: 't1', chatTitle: 'Grind', lastSendTime: atMs, bubbles: [{ type: 'user', id: 'u', text: 'a' }] }
    const [chat] = chatsOf(keys.tabs, { tabs: [tab] })
    expect(chat).toMatchObject({
      id: 't1',
      facts: { format: 'tab', name: 'Grind', createdAtMs: null, updatedAtMs: atMs, isDraft: false, model: null },
      outline: [{ id: 'u', createdAtMs: null, startedAtMs: null }],
      messages: [{ id: 'u', sentAtMs: null, timingAtMs: null, isEmbedded: true, octets: 0 }],
    })
  })

  test.each<[string, string]>([
    ['the key of its time', keys.tabs],
    ['the older key', keys.oldTabs],
  ])('is read under %s', (_, key) => {
    const piece = pieceOf(key, tabsWith({ type: 'user', id: 'u', text: 'a' }))
    expect(piece).toMatchObject({ key, issue: null, chats: [{ id: 't1', messages: [{ id: 'u' }] }] })
    expect(evidenceOf(piece)).toEqual(['t1 workspace-heads file:///yard/mill'])
  })

  it('without messages is a chat without messages, in the same format', () => {
    expect(only()).toMatchObject({ facts: { format: 'tab' }, outline: null, messages: [] })
  })

  it('that occurs twice is read where it has more messages', () => {
    const full = { tabId: 't1', bubbles: [{ type: 'user', text: 'a' }] }
    const empty = { tabId: 't1', bubbles: [] }
    for (const tabs of [
      [full, empty],
      [empty, full],
    ]) {
      const chats = chatsOf(keys.tabs, { tabs })
      expect(chats.map(saidIn)).toEqual([['user: a']])
    }
  })

  it('without an id is an issue only if it has content, and does not affect others', () => {
    const sound = { tabId: 't1', bubbles: [{ type: 'user', text: 'a' }] }
    expect(pieceOf(keys.tabs, { tabs: [null, 7, { bubbles: [] }, sound] })).toMatchObject({ issue: null })
    const piece = pieceOf(keys.tabs, { tabs: [{ bubbles: [{ text: 'lost' }] }, sound] })
    expect(piece).toMatchObject({ issue: 'bad-key', chats: [{ id: 't1' }] })
  })
})

describe('the text of a tab', () => {
  const lexical = JSON.stringify({
    root: { children: [{ type: 'paragraph', children: [{ type: 'text', text: 'rich' }] }] },
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['a user’s text', { type: 'user', text: 'a', rawText: 'b' }, 'user: a'],
    ['a user’s editor state where there is no text', { type: 'user', text: '', richText: lexical }, 'user: rich'],
    ['a user’s delegate, in the oldest', { type: 'user', delegate: { a: 'told' } }, 'user: told'],
    ['a user’s first editor state, in the oldest', { type: 'user', initText: lexical }, 'user: rich'],
    ['an answer’s raw text before its text', { type: 'ai', text: 'a', rawText: 'b' }, 'assistant: b'],
    ['an answer’s text where the raw one is blank', { type: 'ai', text: 'a', rawText: ' ' }, 'assistant: a'],
    ['an answer’s text alone', { type: 'ai', text: 'a' }, 'assistant: a'],
  ])('%s', (_, bubble, said) => {
    expect(saidIn(only(bubble))).toEqual([said])
  })

  it('an answer keeps its model and its code, and a question its attachments', () => {
    const chat = only(
      {
        type: 'user',
        id: 'u',
        text: 'a',
        selections: [{ uri: { fsPath: '/m/a.c' }, rawText: 'int x;' }],
        fileSelections: [{ uri: { path: '/m/b.c' } }],
      },
      {
        type: 'ai',
        id: 'a',
        rawText: 'b',
        modelType: 'claude-3.5-sonnet',
        codeBlocks: [{ content: 'int y;', languageId: 'c' }],
      },
    )
    expect(chat?.messages).toMatchObject([
      {
        parts: expect.arrayContaining([
          { kind: 'attachment', path: '/m/a.c', text: 'int x;' },
          { kind: 'attachment', path: '/m/b.c', text: null },
        ]),
      },
      {
        model: 'claude-3.5-sonnet',
        parts: [
          { kind: 'text', text: 'b' },
          { kind: 'code', language: 'c', path: null, text: 'int y;' },
        ],
      },
    ])
  })

  it('a message without an id gets the same id in every pass, and not that of another chat', () => {
    const bubbles = [
      { type: 'user', text: 'a' },
      { type: 'ai', text: 'b' },
    ]
    const ids = (tabId: string) =>
      chatsOf(keys.tabs, { tabs: [{ tabId, bubbles }] }).flatMap(({ messages }) => messages.map(({ id }) => id))
    expect(ids('t1')).toEqual(ids('t1'))
    expect(new Set([...ids('t1'), ...ids('t2')]).size).toBe(4)
  })

  it('an element that is no message keeps its place in the order', () => {
    const chat = only(
      { type: 'user', id: 'u', text: 'a' },
      null,
      { type: 'ai', id: 'e' },
      { type: 'ai', id: 'a', text: 'b' },
    )
    expect(chat?.outline).toHaveLength(4)
    expect(chat?.messages.map(({ id }) => id)).toEqual(['u', 'a'])
  })
})

describe('an unsent draft', () => {
  const said = { type: 'ai', id: 'a', text: 'b' }
  const files = { fileSelections: [{ uri: { fsPath: '/m/a.c' } }] }
  const draft = { type: 'user', id: 'd', messageType: 2, text: '', followup: true, ...files }

  test.each<[string, unknown]>([
    ['that names files', draft],
    ['that names nothing', { type: 'user', followup: true }],
    ['with an empty editor state', { ...draft, initText: '{"root":{"children":[]}}' }],
    ['with text in an unknown field', { ...draft, scribble: 'typed and not sent' }],
    ['of blanks', { ...draft, text: ' \n' }],
  ])('%s is no message and no issue', (_, bubble) => {
    const chat = only(said, bubble)
    expect(chat?.messages.map(({ id }) => id)).toEqual(['a'])
    expect(chat?.outline).toHaveLength(1)
    expect(only(bubble)).toMatchObject({ messages: [] })
  })

  test.each<[string, readonly Record<string, unknown>[], readonly string[]]>([
    ['with a text was sent', [said, { ...draft, text: 'sent' }], ['a', 'd']],
    ['before an answer was sent', [draft, said], ['d', 'a']],
    ['of another type than true is none', [said, { ...draft, followup: 'true' }], ['a', 'd']],
    ['of the assistant is an answer', [{ ...draft, type: 'ai' }], ['d']],
  ])('%s', (_, bubbles, ids) => {
    expect(only(...bubbles)?.messages.map(({ id }) => id)).toEqual(ids)
  })

  const huge = 'x'.repeat(2_000_000)
  const odd: readonly unknown[] = [null, 0, '', [], {}, 'true', 1, huge, [true], { true: true }]
  test.each<[string, Record<string, unknown>]>([
    ...odd.map((value, at): [string, Record<string, unknown>] => [`followup ${at}`, { ...draft, followup: value }]),
    ...odd.map((value, at): [string, Record<string, unknown>] => [`files ${at}`, { ...draft, fileSelections: value }]),
    ['cut off', { followup: true }],
  ])('that is damaged does not affect the messages: %s', (_, bubble) => {
    const piece = pieceOf(keys.tabs, { tabs: [{ tabId: 't1', bubbles: [said, bubble] }] })
    expect(piece.issue).toBeNull()
    expect(piece.chats[0]?.messages[0]).toMatchObject({ id: 'a', parts: [{ kind: 'text', text: 'b' }] })
  })
})
