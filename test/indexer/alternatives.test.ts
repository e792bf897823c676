import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat, ChatDetail } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import { headers } from '../helpers/cursor.ts'
import { World } from '../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.remove())

function chat(id: string, more: object): void {
  const store = world.home.global()
  store.chat(id, { name: id, fullConversationHeadersOnly: headers([`${id}-m`]), ...more })
  store.message(id, `${id}-m`, { type: 1, text: `said in ${id}` })
}

const detail = (id: string): Promise<ChatDetail> => world.get<ChatDetail>(`/api/chats/${id}`)
const ids = (refs: readonly { readonly id: string }[]): string[] => refs.map(({ id }) => id)

test('alternative answers to one prompt are chats of their own that know each other, and no subagents', async () => {
  const uri = { scheme: 'file', path: '/code/shop' }
  chat('first', {
    subComposerIds: ['two', 'three'],
    workspaceIdentifier: { id: 'w', uri },
    createdAt: 1_780_000_000_000,
  })
  for (const [at, id] of ['two', 'three'].entries()) {
    const subagentInfo = { parentComposerId: 'first' }
    chat(id, { isBestOfNSubcomposer: true, subagentInfo, createdAt: 1_780_000_001_000 + at })
  }
  chat('helper', { subagentInfo: { parentComposerId: 'first' } })
  chat('other', {})
  await world.sync()
  const { items } = await world.get<Page<Chat>>('/api/chats')
  expect(ids(items).toSorted()).toEqual(['first', 'other', 'three', 'two'])
  expect(items.find(({ id }) => id === 'two')).toMatchObject({ parentChatId: null, project: { name: 'shop' } })
  const first = await detail('first')
  expect([ids(first.children), ids(first.alternatives)]).toEqual([['helper'], ['two', 'three']])
  expect(ids((await detail('two')).alternatives)).toEqual(['first', 'three'])
  expect([(await detail('helper')).alternatives, (await detail('other')).alternatives]).toEqual([[], []])
  expect(await world.post('/api/purge', { chats: ['first'], dryRun: true })).toMatchObject({ chatCount: 2 })
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('what fills the context is known by kind, and names of single things stay out', async () => {
  const node = (more: object) => ({ characterCount: 9, contentAvailable: false, ...more })
  const nodes = [
    node({ id: 'category:rules', kind: 'category', label: 'Rules', categoryId: 'rules', estimatedTokens: 30 }),
    node({ id: 'category:tools', kind: 'category', label: 'Tools', categoryId: 'tools', estimatedTokens: 500 }),
    node({ id: 'category:none', kind: 'category', label: 'Skills', categoryId: 'skills', estimatedTokens: 0 }),
    node({ id: 'rule:1', kind: 'rule', label: 'said by nobody', categoryId: 'rules', estimatedTokens: 30 }),
  ]
  const sums = { contextTokensUsed: 530, contextTokenLimit: 1000 }
  chat('tree', { ...sums, promptContextUsageTree: { schemaVersion: 1, nodes } })
  const categories = [{ id: 'rules', label: 'Rules', estimatedTokens: 7 }]
  chat('breakdown', { promptTokenBreakdown: { totalUsedTokens: 7, categories } })
  chat('plain', sums)
  await world.sync()
  const items = [
    { name: 'Rules', tokens: 30 },
    { name: 'Tools', tokens: 500 },
  ]
  expect((await detail('tree')).contextTokens).toEqual({ used: 530, limit: 1000, items })
  expect((await detail('breakdown')).contextTokens).toMatchObject({ used: 7, items: [{ name: 'Rules', tokens: 7 }] })
  expect((await detail('plain')).contextTokens).toEqual({ used: 530, limit: 1000, items: [] })
})
