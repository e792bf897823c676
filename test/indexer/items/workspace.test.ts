import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { type CursorHome, Store } from '../../helpers/cursor.ts'
import { eraInline, eraPrompts, eraTabs } from '../../helpers/eras/workspace-items.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
const OLD_TABS = 'workbench.panel.chat.view.chat.chatdata'
const PROMPTS = 'aiService.prompts'

let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  ;({ home, indexer } = openIndexed())
})

const folderOf = (id: string): string => join(home.userDir, 'workspaceStorage', id)

/** Changes a workspace's store, which then is closed. */
function change(id: string, act: (store: Store) => void): void {
  mkdirSync(folderOf(id), { recursive: true })
  const store = new Store(join(folderOf(id), 'state.vscdb'), 'delete')
  act(store)
  store.close()
}

const textsOf = (chatId: string): string[] => indexer.thread(chatId).map(([, , text]) => text)
const tab = (...texts: readonly string[]) => ({
  tabs: [{ tabId: 't1', bubbles: texts.map((text) => ({ type: 'user', text })) }],
})

test('values are read as text and as bytes, and NULL, a missing table and an empty file are nothing', async () => {
  change('text', (store) => store.item(PROMPTS, '[{"text":"a"}]'))
  change('bytes', (store) => store.item(PROMPTS, Buffer.from('[{"text":"b"}]')))
  change('null', (store) => store.item(PROMPTS, null))
  change('bare', (store) => store.db.exec('drop table ItemTable; drop table cursorDiskKV'))
  change('empty', () => undefined)
  writeFileSync(join(folderOf('empty'), 'state.vscdb'), '')
  await indexer.pass()
  expect(indexer.chats.map(({ id }) => [id, ...textsOf(id)])).toEqual([
    ['prompts-bytes', 'b'],
    ['prompts-text', 'a'],
  ])
  expect(indexer.issues).toEqual([])
})

test('a value that is too large is an issue, and the other items are read', async () => {
  change('w', (store) => {
    store.db.prepare('insert into ItemTable values (?, zeroblob(33554433))').run(TABS)
    store.item(PROMPTS, [{ text: 'a' }])
  })
  await indexer.pass()
  expect([indexer.issues, textsOf('prompts-w')]).toEqual([[`${TABS} too-large`], ['a']])
})

test('a chat in two items is read once, where it has the most messages', async () => {
  change('w', (store) => {
    store.item(TABS, tab('a'))
    store.item(OLD_TABS, tab('a', 'b'))
  })
  await indexer.pass()
  expect(textsOf('t1')).toEqual(['a', 'b'])
})

test.each(['empty-window', '1730000000000'])('a workspace called %s has no root', async (id) => {
  change(id, (store) => store.item(TABS, tab('a')))
  await indexer.pass()
  expect(indexer.chat('t1')).toMatchObject({ project: null, messageCount: 1 })
})

test('chats that share one value of a workspace have a size each', async () => {
  const bubbles = [{ type: 'user', id: 'b', text: 'plant an apple 🍎' }]
  const tabs = ['t1', 't2'].map((tabId) => ({ tabId, bubbles }))
  change('w', (store) => store.item(TABS, { tabs }))
  await indexer.pass()
  expect(indexer.chats.map(({ id, sizeBytes }) => [id, sizeBytes])).toEqual(
    tabs.map((each) => [each.tabId, Buffer.byteLength(JSON.stringify(each))]),
  )
})

test('a prompt that moves up in a capped list stays the same message', async () => {
  eraPrompts.write(home.userDir)
  await indexer.pass()
  change('eraprompts', (store) =>
    store.item(PROMPTS, [{ text: 'sand it' }, { text: 'plane the board' }, { text: 'oil it' }]),
  )
  expect(await indexer.pass()).toMatchObject({ added: 1, gone: 1 })
  expect(textsOf('prompts-eraprompts')).toEqual(expect.arrayContaining(['sand it', 'plane the board', 'oil it']))
})

test('a root that becomes known later reaches chats of unchanged items', async () => {
  eraInline.write(home.userDir)
  const json = join(folderOf('erabinline'), 'workspace.json')
  rmSync(json)
  await indexer.pass()
  const projects = (): unknown[] => [...new Set(indexer.chats.map(({ project }) => project?.name))]
  expect(projects()).toEqual([undefined])
  writeFileSync(json, '{"folder":"file:///yard/loom"}')
  await indexer.pass()
  expect(projects()).toEqual(['loom'])
})

test('what a value contained before it was torn is kept', async () => {
  eraTabs.write(home.userDir)
  await indexer.pass()
  const before = indexer.counts
  change('eraatabs', (store) => store.item(TABS, '{"tabs":[{"tabId":"era'))
  expect(await indexer.pass()).toMatchObject({ added: 0, gone: 0 })
  expect(indexer.counts).toEqual(before)
})

test('a store that is not a database is reported as such, and does not affect others', async () => {
  eraTabs.write(home.userDir)
  mkdirSync(folderOf('torn'), { recursive: true })
  writeFileSync(join(folderOf('torn'), 'state.vscdb'), 'words')
  const ends = (await indexer.pass()).ends.filter(({ kind }) => kind === 'workspace-items')
  expect(ends.map(({ state }) => state).toSorted()).toEqual(['corrupt', 'ok'])
  expect(textsOf('era-a-tab-1')).toHaveLength(4)
})
