import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat, ChatDetail } from '../../src/api/answers/chats.ts'
import type { Page } from '../../src/api/answers/common.ts'
import type { Status } from '../../src/api/answers/status.ts'
import { asChatId } from '../../src/model/ids.ts'
import type { PurgeScope } from '../../src/mirror/purge/scope.ts'
import { headers } from '../helpers/cursor.ts'
import { line, lines, query, said, writeTranscript } from '../helpers/eras/transcripts.ts'
import { PurgeHere } from '../helpers/purge-world.ts'
import { World } from '../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.remove())

const head = (composerId: string, name: string | undefined, rest: object = {}) => ({
  type: 'head',
  composerId,
  name,
  createdAt: 1_780_000_000_000,
  workspaceIdentifier: { id: 'w', uri: { scheme: 'file', path: '/w/orchard' } },
  ...rest,
})

function list(...allComposers: readonly object[]): void {
  world.home.global().item('composer.composerHeaders', { allComposers })
}

const find = async (params: string): Promise<readonly Chat[]> =>
  (await world.get<Page<Chat>>(`/api/chats?${params}`)).items

test('a chat that only a list names is listed as such, with its project, found by its title and never counted', async () => {
  list(head('a', 'Plant an orchard'), head('b', undefined), head('c', 'Not sent', { isDraft: true }))
  await world.sync()
  expect(await find('')).toEqual([])
  expect(await find('includeEmpty=true')).toMatchObject([
    {
      id: 'a',
      title: 'Plant an orchard',
      isListedOnly: true,
      messageCount: 0,
      deletedInCursor: false,
      project: { name: 'orchard' },
    },
  ])
  expect((await find('includeEmpty=true&q=orchad')).map(({ id }) => id)).toEqual(['a'])
  expect(await find('q=orchard')).toEqual([])
  expect((await world.get<Status>('/api/status')).counts).toMatchObject({ chats: 0, messages: 0, deleted: 0 })
  expect(await world.losses()).toEqual([])
  for (const full of [false, true])
    expect(await world.post('/api/sync', { full })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a chat that was only listed is a chat like any other when its messages come, from whichever store', async () => {
  list(head('a', 'Plant an orchard'))
  await world.sync()
  writeTranscript(world.cursorHome, 'empty-window', 'a.jsonl', lines(line('user', said(query('where to dig')))))
  await world.sync()
  expect(await find('')).toMatchObject([{ id: 'a', format: 'transcript', isListedOnly: false, messageCount: 1 }])
  const store = world.home.global()
  store.chat('a', { name: 'Plant a hedge', fullConversationHeadersOnly: headers(['m']) })
  store.message('a', 'm', { type: 1, text: 'where to dig' })
  await world.sync()
  expect(await find('')).toMatchObject([{ id: 'a', format: 'split', title: 'Plant a hedge', messageCount: 1 }])
})

test('a chat whose messages are not here is found by the beginnings that its own row has of them', async () => {
  const begun = ['Where is the figtree?', 'It stands  behind\nthe barn']
  const row = headers(['m1', 'm2']).map((header, at) => ({ ...header, grouping: { textPreview: begun[at] } }))
  world.home.global().chat('a', { fullConversationHeadersOnly: row })
  await world.sync()
  expect(await find('includeEmpty=true&q=figtree')).toMatchObject([
    { id: 'a', title: 'Where is the figtree?', titleSource: 'first-message', isListedOnly: false },
  ])
  expect((await find('includeEmpty=true&q=barn')).map(({ id }) => id)).toEqual(['a'])
  world.home.global().message('a', 'm1', { type: 1, text: 'Where is the peartree?' })
  await world.sync()
  expect(await find('q=figtree')).toEqual([])
  expect(await find('q=peartree')).toMatchObject([{ title: 'Where is the peartree?' }])
})

test('while projects are excluded, no title is listed whose chat is not here', async () => {
  const careful = await World.open({ home: world.home, config: { exclude: { projects: ['orchard'] } } })
  list(head('a', 'Plant an orchard'), { ...head('b', 'Of no project'), workspaceIdentifier: undefined })
  await careful.sync()
  expect((await careful.get<Page<Chat>>('/api/chats?includeEmpty=true')).items).toEqual([])
  await careful.remove()
})

const odd: readonly unknown[] = [null, 7, -1, 1e300, true, '', ' ', '\n', '\0', '\ud800', '{', 'x'.repeat(9000)]
const harms: readonly unknown[] = [...odd, [], [null], [[]], {}, { a: {} }, { text: 'x' }, ['x'], [{ name: 'x' }]]

test('a harmed head or preview costs at most one issue, and everything else is listed', async () => {
  const store = world.home.global()
  const heads = harms.map((harm, at) => head(`h${at}`, harm as string, { isDraft: at % 2 === 0 ? harm : false }))
  store.item('composer.composerHeaders', {
    allComposers: [head('first', 'Plant'), ...heads, harms, head('last', 'Prune')],
  })
  for (const [at, harm] of harms.entries()) {
    const grouping = at % 2 === 0 ? { textPreview: harm } : harm
    const listed = headers(['m', 'n']).map((header, of) => (of === 0 ? { ...header, grouping } : header))
    store.chat(`p${at}`, { name: `Preview ${at}`, fullConversationHeadersOnly: listed })
  }
  await world.sync()
  const all = (await find('includeEmpty=true&limit=200')).map(({ id }) => id)
  expect(all).toEqual(expect.arrayContaining(['first', 'last', ...harms.map((_, at) => `p${at}`)]))
  const { issues } = await world.get<Status>('/api/status')
  expect(Object.values(issues).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

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

const task = (toolCallId: string, prompt: string, rest: object = {}) => ({
  type: 2,
  toolFormerData: { name: 'task', toolCallId, params: { prompt }, status: 'completed', ...rest },
})

/** A chat with a call for each prompt, whose subagents have rows under the calls' ids. */
function delegate(...prompts: readonly string[]): void {
  const store = world.home.global()
  store.chat('p', { fullConversationHeadersOnly: headers(prompts.map((_, at) => `m${at}`)) })
  for (const [at, prompt] of prompts.entries()) {
    store.message('p', `m${at}`, task(`call_${at}`, prompt))
    store.chat(`task-call_${at}`, { fullConversationHeadersOnly: headers(['q', 'a']) })
    store.message(`task-call_${at}`, 'q', { type: 1, text: prompt })
    store.message(`task-call_${at}`, 'a', { type: 2, text: `found for ${prompt}` })
  }
}

function transcribe(id: string, prompt: string): void {
  const told = lines(line('user', said(query(prompt))), line('assistant', said(`found for ${prompt}`)))
  writeTranscript(world.cursorHome, 'empty-window', `p/subagents/${id}.jsonl`, told)
}

async function listAll(): Promise<readonly string[]> {
  const { items } = await world.get<Page<Chat>>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  return items.map(({ id, messageCount, childChatIds }) => [id, messageCount, ...childChatIds].join(' ')).toSorted()
}

test('a delegation with rows and a transcript is one child', async () => {
  delegate('look for moss', 'look for fern')
  transcribe('s1', 'look for fern')
  transcribe('s2', 'look for moss')
  transcribe('s3', 'look for reed')
  await world.sync()
  const children = 's3 task-call_0 task-call_1'
  const one = ['s3 2', 'task-call_0 2', 'task-call_1 2']
  expect((await listAll()).filter((told) => !told.startsWith('p '))).toEqual(one)
  expect((await listAll())[0]?.split(' ').slice(2).toSorted().join(' ')).toBe(children)
  expect(await world.get('/api/search?q=%22found+for+look+for+fern%22')).toMatchObject({ total: 1 })
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a child whose rows Cursor deletes lives on in its transcript, and is not another chat', async () => {
  delegate('look for moss')
  transcribe('s1', 'look for moss')
  await world.sync()
  world.home.remove()
  const store = world.home.global()
  store.chat('other', { fullConversationHeadersOnly: headers(['m']) })
  store.message('other', 'm', { type: 1, text: 'unrelated' })
  transcribe('s1', 'look for moss')
  await world.post('/api/sync', { full: true })
  expect((await listAll()).filter((told) => /^(?:s1|task)/.test(told))).toEqual(['task-call_0 2'])
})

const purges: readonly (readonly [string, Partial<PurgeScope>, readonly string[]])[] = [
  ['by its id', { chatIds: [asChatId('task-call_0')] }, ['p']],
  ['by a word', { match: 'moss' }, []],
]
test.each(purges)(
  'a delegation that is purged %s comes back from neither of its two places, also into a new mirror',
  async (_, scope, left) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-purged-'))
    const open = () => World.open({ home: world.home, dataDir })
    delegate('look for moss')
    transcribe('s1', 'look for moss')
    const before = await open()
    await before.sync()
    await before.close()
    await new PurgeHere(dataDir).purge(scope)
    for (const name of ['', 'mirror.db', 'index.db']) {
      if (name !== '') rmSync(join(dataDir, name))
      const after = await open()
      await after.sync(true)
      const { items } = await after.get<Page<Chat>>('/api/chats?limit=200&subagents=true&includeEmpty=true')
      expect(items.filter(({ messageCount }) => messageCount > 0).map(({ id }) => id)).toEqual(left)
      await after.close()
    }
    rmSync(dataDir, { recursive: true })
  },
)

test('of two delegations with the same prompt nobody knows which transcript belongs to which', async () => {
  delegate('look for moss', 'look for moss')
  transcribe('s1', 'look for moss')
  await world.sync()
  expect((await listAll()).filter((told) => !told.startsWith('p '))).toEqual(['s1 2', 'task-call_0 2', 'task-call_1 2'])
})

test('the result of a call names the subagent if nothing else does', async () => {
  const store = world.home.global()
  store.chat('p', { fullConversationHeadersOnly: headers(['m']) })
  store.message('p', 'm', task('call_0', 'look for moss', { result: JSON.stringify({ agentId: 's1' }) }))
  writeTranscript(world.cursorHome, 'empty-window', 's1.jsonl', lines(line('user', said(query('look for moss')))))
  await world.sync()
  expect(await listAll()).toEqual(['p 1 s1', 's1 1'])
  rmSync(world.cursorHome, { recursive: true })
})
