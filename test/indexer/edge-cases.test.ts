import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CursorHome, headers } from '../../src/sample/cursor-home.ts'
import { Indexer } from '../helpers/in-process.ts'

let home: CursorHome
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

const chats = (): unknown[] =>
  indexer.mirror
    .prepare(
      `select chats.id, projects.uri, project_source as source, message_count as messages
       from chats left join projects on projects.num = project order by chats.id`,
    )
    .all()

test('a chat that no list of Cursor names is there all the same', () => {
  const store = home.global()
  home.workspace('ws1', { folder: 'file:///w/shop' }, ['listed'])
  for (const id of ['listed', 'unlisted']) store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
  for (const id of ['listed', 'unlisted', 'without-a-row']) store.message(id, 'm', { type: 1, text: 'said' })
  indexer.pass()
  expect(chats()).toEqual([
    { id: 'listed', uri: 'file:///w/shop', source: 'workspace-heads', messages: 1 },
    { id: 'unlisted', uri: null, source: null, messages: 1 },
    { id: 'without-a-row', uri: null, source: null, messages: 1 },
  ])
})

test('a workspace file on another machine is a project by its name, and is not opened here', () => {
  const uri = 'vscode-remote://ssh-remote%2Bbuild/srv/all.code-workspace'
  home.workspace('ws1', { workspace: uri }, ['c'])
  const store = home.global()
  store.message('c', 'm', { type: 1, text: 'said' })
  indexer.pass()
  expect(indexer.mirror.prepare('select name, path, remote_kind, remote_host from projects').all()).toEqual([
    { name: 'all', path: '/srv/all.code-workspace', remote_kind: 'ssh', remote_host: 'build' },
  ])
})

test('a chat of three thousand messages is read whole', () => {
  const store = home.global()
  const ids = Array.from({ length: 3000 }, (_, at) => `m${at}`)
  store.chat('long', { fullConversationHeadersOnly: headers(ids) })
  store.db.transaction(() => {
    for (const id of ids.toReversed()) store.message('long', id, { type: 1, text: `said ${id}` })
  })()
  indexer.pass()
  expect(chats()).toEqual([{ id: 'long', uri: null, source: null, messages: 3000 }])
  expect(indexer.thread('long').map(([id]) => id)).toEqual(ids)
})

test('a chat that nobody touched stays as it is when its neighbours change', () => {
  const store = home.global()
  for (const id of ['still', 'busy']) store.message(id, 'm1', { type: 1, text: `said in ${id}` })
  indexer.pass()
  const revision = (): unknown => indexer.mirror.prepare(`select revision from chats where id = 'still'`).pluck().get()
  const before = revision()
  store.message('busy', 'm2', { type: 2, text: 'more' })
  expect(indexer.pass()).toMatchObject({ added: 1, changed: 0, gone: 0 })
  expect(revision()).toBe(before)
})

test('a chat that two workspaces list is one chat, and two folders of one path are one project', () => {
  home.workspace('ws1', { folder: 'file:///w/shop' }, ['c'])
  home.workspace('ws2', { folder: 'file:///w/shop/' }, ['c'])
  const store = home.global()
  store.message('c', 'm', { type: 1, text: 'said' })
  indexer.pass()
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'workspace-heads', messages: 1 }])
  expect(indexer.mirror.prepare('select count(*) from projects').pluck().get()).toBe(1)
  expect(indexer.mirror.prepare('select count(*) from workspaces').pluck().get()).toBe(2)
})

test.each(['a?b', 'a#b', 'a%20b', 'a b', 'ä中'])('a store below a folder named %s is read', (name) => {
  const odd = new CursorHome(mkdtempSync(join(tmpdir(), `cursordex-${name}-`)))
  const reader = new Indexer(odd.userDir)
  try {
    odd.global().message('c', 'm', { type: 1, text: 'said' })
    expect(reader.pass()).toMatchObject({ added: 1 })
  } finally {
    reader.remove()
    odd.remove()
  }
})

test('workspaces without a folder, and those that are gone, cost no chat', () => {
  home.workspace('empty-window', null, ['windowed'])
  home.workspace('1699999999999', null, ['numbered'])
  home.workspace('ws1', { folder: 'file:///w/gone' }, ['gone'])
  const store = home.global()
  for (const id of ['windowed', 'numbered', 'gone']) store.message(id, 'm', { type: 1, text: 'said' })
  indexer.pass()
  home.close()
  rmSync(join(home.userDir, 'workspaceStorage', 'ws1'), { recursive: true })
  indexer.pass('reconcile')
  expect(chats()).toEqual([
    { id: 'gone', uri: 'file:///w/gone', source: 'workspace-heads', messages: 1 },
    { id: 'numbered', uri: null, source: null, messages: 1 },
    { id: 'windowed', uri: null, source: null, messages: 1 },
  ])
})

test('an id that begins like another keeps its messages to itself', () => {
  const store = home.global()
  for (const id of ['task-a', 'task-ab', 'task-a\nb', 'task-a:b']) {
    store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
    store.message(id, 'm', { type: 1, text: `said in ${JSON.stringify(id)}` })
  }
  indexer.pass()
  const held = chats() as { id: string; messages: number }[]
  expect(held.filter(({ id }) => id !== 'task-a:b').map(({ id, messages }) => [id, messages])).toEqual([
    ['task-a', 1],
    ['task-a\nb', 1],
    ['task-ab', 1],
  ])
  expect(indexer.pass('reconcile')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a table of generations is not asked for: they are a value of another table', () => {
  const store = home.workspace('ws1', { folder: 'file:///w/shop' })
  store.item('aiService.generations', [{ unixMs: 1, generationUUID: 'g', type: 'cmdk', textDescription: 'hidden' }])
  expect(indexer.pass()).toMatchObject({ added: 0 })
})

test('a transcript under an empty window and under its project is one chat of that project', () => {
  const cursor = join(home.root, '.cursor')
  for (const slug of ['empty-window', 'w-shop']) {
    const folder = join(cursor, 'projects', slug, 'agent-transcripts')
    mkdirSync(folder, { recursive: true })
    const line = { role: 'user', message: { content: [{ type: 'text', text: 'plant an appletree' }] } }
    writeFileSync(join(folder, 'c.jsonl'), `${JSON.stringify(line)}\n`)
  }
  writeFileSync(join(cursor, 'projects', 'w-shop', '.workspace-trusted'), JSON.stringify({ workspacePath: '/w/shop' }))
  indexer.homes = [cursor]
  indexer.pass()
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'transcript-folder', messages: 1 }])
  const found = indexer.mirror.prepare(`select count(*) from message_terms where message_terms match 'appletree'`)
  expect(found.pluck().get()).toBe(1)
})
