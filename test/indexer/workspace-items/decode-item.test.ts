import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { decodeItem } from '../../../src/indexer/sources/workspace-items/decode-item.ts'
import { decodeWorkspaceRoot } from '../../../src/indexer/sources/records/chat/user-folder.ts'
import { bytes, keys, pieceOf, workspace } from './items.ts'

const anyKey = fc.constantFrom(...Object.values(keys), `${keys.pane}.0b9c`)

describe('an item', () => {
  test.each<[string, string, string, string]>([
    ['torn JSON', keys.tabs, '{"tabs":[', 'bad-json'],
    ['no bytes', keys.composers, '', 'bad-json'],
    ['tabs that are a list', keys.tabs, '[]', 'not-an-object'],
    ['composers that are text', keys.composers, '"a"', 'not-an-object'],
    ['prompts that are no list', keys.prompts, '{}', 'not-an-object'],
    ['a pane that is null', keys.pane, 'null', 'not-an-object'],
    ['a row that is a list', keys.chatRow, '[]', 'not-an-object'],
  ])('of %s is an issue', (_, key, text, issue) => {
    expect(pieceOf(key, text)).toMatchObject({ key, issue, chats: [], heads: [], evidence: [] })
  })

  it('that is too large is an issue with its size', () => {
    const piece = decodeItem({ key: keys.tabs, octets: 40_000_000, value: null }, workspace)
    expect(piece).toMatchObject({ octets: 40_000_000, checksum: null, issue: 'too-large', chats: [] })
  })

  it('is identified by its size, its bytes and the root of its chats', () => {
    const checksum = (value: string, root: string | null) =>
      pieceOf(keys.prompts, value, { id: 'w', rootUri: root }).checksum
    expect(pieceOf(keys.prompts, '[]')).toMatchObject({ octets: 2, issue: null })
    expect(checksum('[]', null)).toBe(crc32(Buffer.from('[]')))
    expect(checksum('[]', 'file:///a')).toBe(checksum('[]', 'file:///a'))
    expect(new Set([checksum('[]', null), checksum('[]', 'file:///a'), checksum('[1]', 'file:///a')]).size).toBe(3)
  })

  it('of a workspace without a root gives no evidence, but its chats', () => {
    const value = { allComposers: [{ composerId: 'a', conversation: [{ type: 1, text: 'a' }] }, { composerId: 'b' }] }
    const piece = pieceOf(keys.composers, value, { id: 'empty-window', rootUri: null })
    expect(piece).toMatchObject({ evidence: [], chats: [{ id: 'a' }], heads: [{ chatId: 'b' }] })
  })

  it('is decoded whatever its bytes are', () => {
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

  it('is decoded whatever the types of its fields are', () => {
    const anything = fc.jsonValue({ maxDepth: 2 })
    const bubble = fc.record(
      { type: fc.constantFrom('user', 'ai', 1), id: anything, text: anything, rawText: anything },
      { requiredKeys: [] },
    )
    const entry = fc.record(
      {
        tabId: anything,
        composerId: fc.oneof(anything, fc.constant('__proto__')),
        text: anything,
        bubbles: fc.oneof(anything, fc.array(fc.oneof(bubble, anything))),
        conversation: fc.oneof(anything, fc.array(fc.oneof(bubble, anything))),
        conversationMap: anything,
        subagentInfo: anything,
      },
      { requiredKeys: [] },
    )
    const list = fc.array(fc.oneof(entry, anything))
    const value = fc.oneof(list, fc.record({ tabs: list, allComposers: list, selectedComposerIds: anything }))
    fc.assert(
      fc.property(anyKey, value, (key, given) => {
        const piece = pieceOf(key, given)
        const ids = piece.chats.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        for (const { messages } of piece.chats) expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
      }),
    )
  })
})

describe('the root of a workspace', () => {
  test.each<[string, string, string | null]>([
    ['its folder', '{"folder":"file:///a"}', 'file:///a'],
    ['its list of folders', '{"workspace":"file:///a.code-workspace"}', 'file:///a.code-workspace'],
    ['its list of folders, in old builds', '{"configuration":"file:///a.code-workspace"}', 'file:///a.code-workspace'],
    ['nothing in an empty object', '{}', null],
    ['nothing in a blank one', '{"folder":""}', null],
    ['nothing in what is torn', '{"folder":', null],
    ['nothing in a list', '[]', null],
  ])('is %s', (_, text, root) => {
    expect(decodeWorkspaceRoot(text)).toBe(root)
  })
})
