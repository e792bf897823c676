import { describe, expect, it, test } from 'vitest'
import { chatsOf, evidenceOf, keys, pieceOf, saidIn } from './items.ts'

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
    expect(piece).toMatchObject({
      chats: [{ id: 'c1', facts: { format: 'inline', name: 'Mill', createdAtMs: whole.createdAt } }],
      heads: [],
      issue: null,
    })
    expect(saidIn(piece.chats[0])).toEqual(['user: a', 'assistant: b'])
    expect(piece.chats[0]?.outline?.map(({ id }) => id)).toEqual(['b1', 'b2'])
    expect(evidenceOf(piece)).toEqual(['c1 workspace-heads file:///yard/mill'])
  })

  it('with a map of messages is one, too', () => {
    const [chat] = chatsOf(keys.composers, [{ composerId: 'c1', conversationMap: { b1: { type: 1, text: 'a' } } }])
    expect(chat).toMatchObject({ facts: { format: 'map' }, messages: [{ id: 'b1' }] })
  })

  it('names its own place, if it has one', () => {
    const piece = pieceOf(keys.composers, [{ ...whole, workspaceIdentifier: { uri: { external: 'file:///own' } } }])
    expect(evidenceOf(piece)).toEqual(['c1 workspace-identifier file:///own', 'c1 workspace-heads file:///yard/mill'])
  })

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['never sent', { composerId: 'c1', conversation: [] }, { format: 'inline', isDraft: false }],
    ['marked a draft', { composerId: 'c1', isDraft: true, conversation: [] }, { isDraft: true }],
    ['the empty draft', { composerId: 'empty-state-draft', conversation: [] }, { isDraft: true }],
  ])('%s is a chat without messages', (_, composer, facts) => {
    expect(chatsOf(keys.composers, [composer])).toMatchObject([{ facts, messages: [], outline: null }])
  })

  it('without an id is an issue and does not affect others', () => {
    expect(pieceOf(keys.composers, [{ conversation }, whole])).toMatchObject({
      issue: 'bad-key',
      chats: [{ id: 'c1' }],
    })
  })

  it('never shows the text in its input box', () => {
    const piece = pieceOf(keys.composers, [
      { ...whole, text: 'unsent', richText: 'unsent', context: { notes: 'unsent' } },
    ])
    expect(JSON.stringify(piece)).not.toContain('unsent')
  })
})

describe('a head', () => {
  const atMs = Date.UTC(2025, 5, 1)

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['its name', { name: 'Mill' }, { name: 'Mill' }],
    ['a blank name is none', { name: ' ' }, { name: null }],
    ['its times', { createdAt: atMs, lastUpdatedAt: `${atMs}` }, { createdAtMs: atMs, updatedAtMs: atMs }],
    ['its mode', { unifiedMode: 'agent', forceMode: 'edit' }, { mode: 'agent' }],
    ['its forced mode', { forceMode: 'edit' }, { mode: 'edit' }],
    ['its branch', { createdOnBranch: 'main' }, { branch: 'main' }],
    ['its branch, as an object', { createdOnBranch: { name: 'main' } }, { branch: 'main' }],
    ['its flags', { isArchived: false, isDraft: true }, { isArchived: false, isDraft: true }],
    ['its silence', {}, { isArchived: null, isDraft: null, isSubagent: null, parentChatId: null, linesAdded: null }],
    ['its parent', { subagentInfo: { parentComposerId: 'p' } }, { isSubagent: true, parentChatId: 'p' }],
    ['its lines', { totalLinesAdded: 2, totalLinesRemoved: 0 }, { linesAdded: 2, linesRemoved: 0 }],
    ['its files', { filesChangedCount: 4 }, { filesChanged: 4 }],
  ])('has %s', (_, fields, expected) => {
    const piece = pieceOf(keys.composers, { allComposers: [{ type: 'head', composerId: 'c1', ...fields }] })
    expect(piece).toMatchObject({ chats: [], heads: [{ chatId: 'c1', list: 'workspace-heads', ...expected }] })
    expect(evidenceOf(piece)).toEqual(['c1 workspace-heads file:///yard/mill'])
  })

  test.each<[string, Record<string, unknown>]>([
    ['an empty list of messages', { type: 'head', conversation: [] }],
    ['messages that are elsewhere', { conversation: [], fullConversationHeadersOnly: [{ bubbleId: 'b1', type: 1 }] }],
    ['nothing', {}],
  ])('is an entry with %s', (_, fields) => {
    const piece = pieceOf(keys.composers, [{ composerId: 'c1', ...fields }])
    expect(piece).toMatchObject({ chats: [], heads: [{ chatId: 'c1' }] })
  })

  it('counts once, and without an id not at all', () => {
    const piece = pieceOf(keys.composers, [{ composerId: 'c1', name: 'a' }, { composerId: 'c1' }, {}, null, 'c2'])
    expect(piece.heads).toMatchObject([{ chatId: 'c1', name: 'a' }])
    expect(piece.issue).toBeNull()
  })
})

describe('open chats', () => {
  test.each<[string, string, unknown, readonly string[]]>([
    [
      'the chosen and the focused',
      keys.composers,
      { selectedComposerIds: ['a'], lastFocusedComposerIds: ['a', 'b', 3, ''] },
      ['a', 'b'],
    ],
    ['a pane’s views', keys.pane, { 'workbench.panel.aichat.view.a': {}, 'workbench.view.b': {} }, ['a']],
    ['the views of a pane with a name', `${keys.pane}.0b9c`, { 'workbench.panel.aichat.view.a': {} }, ['a']],
    ['a view without a chat', keys.pane, { 'workbench.panel.aichat.view.': {} }, []],
  ])('%s are weak evidence', (_, key, value, ids) => {
    const piece = pieceOf(key, value)
    expect(piece).toMatchObject({ chats: [], heads: [], issue: null })
    expect(evidenceOf(piece)).toEqual(ids.map((id) => `${id} open-tab file:///yard/mill`))
  })
})

describe('a row of the global store in a workspace’s store', () => {
  it('is a chat if it contains messages, with the id in its key', () => {
    const piece = pieceOf(keys.chatRow, { composerId: 'other', conversation })
    expect(piece).toMatchObject({ chats: [{ id: 'c1', facts: { format: 'inline' } }], issue: null })
    expect(evidenceOf(piece)).toEqual(['c1 workspace-heads file:///yard/mill'])
  })

  it('is nothing if it contains none', () => {
    expect(pieceOf(keys.chatRow, { fullConversationHeadersOnly: [{ bubbleId: 'b1' }] })).toMatchObject({
      chats: [],
      evidence: [],
      issue: null,
    })
  })
})
