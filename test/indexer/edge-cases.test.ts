import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { CursorHome, headers, type Store, writeCliChat } from '../helpers/cursor.ts'
import { assistant, call, preface, result as resultOf, say, system, user } from '../helpers/eras/cli-store.ts'
import { makeHeaderTable, putHeader } from '../helpers/eras/global-items.ts'
import { line, lines, said, trust, writeTranscript } from '../helpers/eras/transcripts.ts'
import { Indexer, openIndexed } from '../helpers/in-process.ts'

let home: CursorHome
let store: Store
let indexer: Indexer
beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
})

/** Id, project, its evidence and the number of messages of each chat. */
const chats = (): unknown[] =>
  indexer.chats.map(({ id, messageCount }) => ({ id, ...indexer.placeOf(id), messages: messageCount }))

test('a chat that none of Cursor’s lists names is in the mirror', async () => {
  home.workspace('ws1', { folder: 'file:///w/shop' }, ['listed'])
  for (const id of ['listed', 'unlisted']) store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
  for (const id of ['listed', 'unlisted', 'without-a-row']) store.message(id, 'm', { type: 1, text: 'said' })
  await indexer.pass()
  expect(chats()).toEqual([
    { id: 'listed', uri: 'file:///w/shop', source: 'workspace-heads', messages: 1 },
    { id: 'unlisted', uri: null, source: null, messages: 1 },
    { id: 'without-a-row', uri: null, source: null, messages: 1 },
  ])
})

test('a workspace file on another machine is a project by its name, and is not opened here', async () => {
  const uri = 'vscode-remote://ssh-remote%2Bbuild/srv/all.code-workspace'
  home.workspace('ws1', { workspace: uri }, ['c'])
  store.message('c', 'm', { type: 1, text: 'said' })
  await indexer.pass()
  const remote = { kind: 'ssh', host: 'build' }
  expect(indexer.projects).toMatchObject([{ name: 'all', path: '/srv/all.code-workspace', remote }])
})

test('a chat of three thousand messages is read completely', async () => {
  const ids = Array.from({ length: 3000 }, (_, at) => `m${at}`)
  store.chat('long', { fullConversationHeadersOnly: headers(ids) })
  store.db.transaction(() => {
    for (const id of ids.toReversed()) store.message('long', id, { type: 1, text: `said ${id}` })
  })()
  await indexer.pass()
  expect(chats()).toEqual([{ id: 'long', uri: null, source: null, messages: 3000 }])
  expect(indexer.thread('long').map(([id]) => id)).toEqual(ids)
})

test('an unchanged chat stays the same when other chats change', async () => {
  for (const id of ['still', 'busy']) store.message(id, 'm1', { type: 1, text: `said in ${id}` })
  await indexer.pass()
  const before = indexer.chat('still')
  store.message('busy', 'm2', { type: 2, text: 'more' })
  expect(await indexer.pass()).toMatchObject({ added: 1, changed: 0, gone: 0 })
  expect(indexer.chat('still')).toEqual(before)
})

test('a chat in the lists of two workspaces is one chat, and two workspace folders of one path are one project', async () => {
  home.workspace('ws1', { folder: 'file:///w/shop' }, ['c'])
  home.workspace('ws2', { folder: 'file:///w/shop/' }, ['c'])
  store.message('c', 'm', { type: 1, text: 'said' })
  await indexer.pass()
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'workspace-heads', messages: 1 }])
  expect(indexer.projects).toHaveLength(1)
})

test.each(['a?b', 'a#b', 'a%20b', 'a b', 'ä中'])('a store below a folder named %s is read', async (name) => {
  const odd = new CursorHome(mkdtempSync(join(tmpdir(), `cursordex-${name}-`)))
  const reader = new Indexer(odd.userDir)
  try {
    odd.global().message('c', 'm', { type: 1, text: 'said' })
    expect(await reader.pass()).toMatchObject({ added: 1 })
  } finally {
    reader.remove()
    odd.remove()
  }
})

test('workspaces without a folder, and deleted ones, do not lose chats', async () => {
  home.workspace('empty-window', null, ['windowed'])
  home.workspace('1699999999999', null, ['numbered'])
  home.workspace('ws1', { folder: 'file:///w/gone' }, ['gone'])
  for (const id of ['windowed', 'numbered', 'gone']) store.message(id, 'm', { type: 1, text: 'said' })
  await indexer.pass()
  home.close()
  rmSync(join(home.userDir, 'workspaceStorage', 'ws1'), { recursive: true })
  await indexer.pass('keys')
  expect(chats()).toEqual([
    { id: 'gone', uri: 'file:///w/gone', source: 'workspace-heads', messages: 1 },
    { id: 'numbered', uri: null, source: null, messages: 1 },
    { id: 'windowed', uri: null, source: null, messages: 1 },
  ])
})

test('ids with a common beginning do not share messages', async () => {
  for (const id of ['task-a', 'task-ab', 'task-a\nb', 'task-a:b']) {
    store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
    store.message(id, 'm', { type: 1, text: `said in ${JSON.stringify(id)}` })
  }
  await indexer.pass()
  const held = chats() as { id: string; messages: number }[]
  expect(held.filter(({ id }) => id !== 'task-a:b').map(({ id, messages }) => [id, messages])).toEqual([
    ['task-a', 1],
    ['task-a\nb', 1],
    ['task-ab', 1],
  ])
  expect(await indexer.pass('keys')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('generations are read as a value, and never as a table', async () => {
  home
    .workspace('ws1', { folder: 'file:///w/shop' })
    .item('aiService.generations', [{ unixMs: 1, generationUUID: 'g', type: 'cmdk', textDescription: 'hidden' }])
  expect(await indexer.pass()).toMatchObject({ added: 0 })
})

test('a transcript under an empty window and under its project is one chat of that project', async () => {
  const cursor = join(home.root, '.cursor')
  for (const slug of ['empty-window', 'w-shop']) {
    writeTranscript(cursor, slug, 'c.jsonl', lines(line('user', said('plant an appletree'))))
  }
  trust(cursor, 'w-shop', '/w/shop')
  indexer.homes = [cursor]
  await indexer.pass()
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'transcript-folder', messages: 1 }])
  expect(indexer.found('appletree')).toBe(1)
})

test('global lists that name one chat each do not affect the other chats', async () => {
  store.item('composer.composerHeaders', { allComposers: [{ composerId: 'in-list' }] })
  makeHeaderTable(store.db, '3.19')
  putHeader(store.db, { composerId: 'in-table', isArchived: 0, value: { type: 'head' } })
  const ids = ['in-list', 'in-table', 'older']
  for (const id of ids) store.message(id, 'm', { type: 1, text: 'said' })
  await indexer.pass()
  expect(chats()).toEqual(ids.map((id) => ({ id, uri: null, source: null, messages: 1 })))
})

test('a workspace that no longer lists its chats, only its open ones, is no error', async () => {
  home
    .workspace('ws1', { folder: 'file:///w/shop' })
    .item('composer.composerData', { selectedComposerIds: ['c'], lastFocusedComposerIds: ['c'] })
  home.global().message('c', 'm', { type: 1, text: 'said' })
  expect(new Set((await indexer.pass()).ends.map(({ state }) => state))).toEqual(new Set(['ok']))
  expect(indexer.issues).toEqual([])
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'open-tab', messages: 1 }])
})

test.each(['workspace', 'configuration'])(
  'a local workspace file under %s is the project of its chats',
  async (name) => {
    home.workspace('ws1', { [name]: 'file:///w/all.code-workspace' }, ['c'])
    home.global().message('c', 'm', { type: 1, text: 'said' })
    await indexer.pass()
    expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/all.code-workspace', source: 'workspace-heads', messages: 1 }])
  },
)

test('a store of many megabytes is read a few at a time', async () => {
  const [count, length] = [40, 256 * 1024]
  for (let at = 0; at < count; at += 1) store.message('c', `m${at}`, { type: 2, text: 'x'.repeat(length) })
  const reads = (await indexer.steps()).map(({ bytesRead }) => bytesRead)
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(count * length)
  // One read is 1 MB plus the value that exceeds it; a portion is as many reads as make up 2 MB of text.
  expect(Math.max(...reads)).toBeLessThan(4 * 1024 * 1024)
})

test('a chat of placeholders alone has no message', async () => {
  store.chat('c', { fullConversationHeadersOnly: headers(['m1', 'm2']) })
  store.message('c', 'm1', { type: 1, text: ' \n', richText: '' })
  store.message('c', 'm2', { type: 2, text: '', capabilityType: 30, toolFormerData: {}, codeBlocks: [] })
  await indexer.pass()
  expect(chats()).toEqual([{ id: 'c', uri: null, source: null, messages: 0 }])
  expect(indexer.issues).toEqual([])
})

test('the output of a tool is stored whole, however long', async () => {
  const result = `${'row '.repeat(200_000)}last`
  home.global().message('c', 'm', { type: 2, toolFormerData: { name: 'read_file', status: 'completed', result } })
  await indexer.pass()
  expect(indexer.messages('c')).toMatchObject([{ parts: [{ kind: 'tool', output: result }] }])
})

test('a message that is only in the WAL is read', async () => {
  store.db.pragma('wal_autocheckpoint = 0')
  store.message('c', 'm1', { type: 1, text: 'first' })
  store.db.pragma('wal_checkpoint(truncate)')
  await indexer.pass()
  const before = readFileSync(store.path)
  store.message('c', 'm2', { type: 2, text: 'second' })
  expect(readFileSync(store.path).equals(before)).toBe(true)
  expect(await indexer.pass()).toMatchObject({ added: 1 })
})

test('what was sent to the model does not count as messages', async () => {
  store.message('c', 'm', { type: 1, text: 'plant an appletree' })
  store.put(`agentKv:blob:${'ab'.repeat(32)}`, { role: 'user', content: 'plant an appletree' })
  store.put('agentKv:checkpoint:c', { messages: [{ role: 'user', content: 'plant an appletree' }] })
  store.put('messageRequestContext:c:m', { text: 'plant an appletree' })
  await indexer.pass('values')
  expect(chats()).toEqual([{ id: 'c', uri: null, source: null, messages: 1 }])
  expect(indexer.found('appletree')).toBe(1)
})

/** As the command line leaves it, with everything that it sent to the model. */
function writeOrchard(id: string): string {
  const cursor = join(home.root, '.cursor')
  const [createdAtMs, updatedAtMs] = [Date.UTC(2026, 5, 1), Date.UTC(2026, 5, 2)]
  const messages = [
    system,
    preface,
    user('plant an appletree'),
    assistant(say('I dig.'), call('c1', 'Shell', { command: 'dig' })),
    resultOf('c1', 'Shell', 'a hole beside the peartree'),
    assistant(say('Planted.')),
  ]
  writeCliChat(cursor, { id, cwd: '/w/shop', title: 'Orchard', createdAtMs, updatedAtMs, model: 'opus', messages })
  indexer.homes = [cursor]
  return cursor
}

test('chats of the command line are read if the global store is empty', async () => {
  home.global()
  writeOrchard('c')
  expect(await indexer.pass()).toMatchObject({ added: 3 })
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'cli-folder', messages: 3 }])
  expect(indexer.thread('c').map(([, , text]) => text)).toEqual(['plant an appletree', 'I dig.', 'Planted.'])
  expect([indexer.found('appletree'), indexer.found('peartree')]).toEqual([1, 1])
})

test('of the data that the command line sent to the model only messages count, each once', async () => {
  const cursor = writeOrchard('c')
  const records = [line('user', said('plant an appletree')), line('assistant', said('I dig.'))]
  writeTranscript(cursor, 'w-shop', 'c.jsonl', lines(...records))
  await indexer.pass()
  await indexer.pass('values')
  expect(chats()).toEqual([{ id: 'c', uri: 'file:///w/shop', source: 'cli-folder', messages: 3 }])
  expect([indexer.found('appletree'), indexer.found('agent'), indexer.found('linux')]).toEqual([1, 0, 0])
})

test('a transcript with nothing but ends of turns is no chat, and takes nothing from one', async () => {
  const cursor = join(home.root, '.cursor')
  const ended = lines({ type: 'turn_ended', status: 'success' }, { type: 'turn_ended', status: 'aborted' })
  for (const id of ['c', 'nowhere-else']) writeTranscript(cursor, 'w-shop', `${id}/${id}.jsonl`, ended)
  home.global().message('c', 'm', { type: 1, text: 'said' })
  indexer.homes = [cursor]
  await indexer.pass()
  await indexer.pass('values')
  expect(chats()).toEqual([{ id: 'c', uri: null, source: null, messages: 1 }])
  expect(indexer.thread('c')).toEqual([['m', 0, 'said']])
})

test('a chat that Cursor deleted, with or without a tombstone, is kept, found and marked', async () => {
  for (const id of ['dropped', 'entombed', 'kept']) {
    store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
    store.message(id, 'm', { type: 1, text: `planted in ${id}` })
  }
  await indexer.pass()
  for (const key of ['composerData:dropped', 'bubbleId:dropped:m']) store.delete(key)
  store.chat('entombed', null)
  store.message('entombed', 'm', null)
  await indexer.pass('keys')
  expect(indexer.chats.map(({ id, deletedInCursor }) => [id, deletedInCursor])).toEqual([
    ['dropped', true],
    ['entombed', true],
    ['kept', false],
  ])
  expect(indexer.found('planted')).toBe(3)
  expect(indexer.issues).toEqual([])
})

const toldRoot = { workspaceUris: ['file:///yard/mill'] }

test.each<[string, object, object, string]>([
  ['the root that its messages name', {}, { type: 1, text: 'said', ...toldRoot }, 'workspace-uris file:///yard/mill'],
  ['a root in a placeholder', {}, { type: 2, text: '', ...toldRoot }, 'workspace-uris file:///yard/mill'],
  [
    'its repository, if a message names another root',
    { trackedGitRepos: [{ repoPath: '/repo' }] },
    { type: 1, text: 'said', ...toldRoot },
    'git-repo file:///repo',
  ],
])('the place of a chat is %s', async (_, facts, message, place) => {
  store.chat('a', { fullConversationHeadersOnly: headers(['m1', 'm2', 'm3']), ...facts })
  store.message('a', 'm1', { type: 1, text: 'said first' })
  for (const id of ['m2', 'm3']) store.message('a', id, { ...message })
  await indexer.pass()
  expect(Object.values(indexer.placeOf('a')).toReversed().join(' ')).toBe(place)
})

test('a chat that was written in a run that failed later gets its project in the next one', async () => {
  // Only its attached file places such a chat.
  const uri = { fsPath: '/home/ada/shop/cart.ts', external: 'file:///home/ada/shop/cart.ts', scheme: 'file' }
  const write = (id: string): void => {
    store.message(id, `${id}-1`, { type: 1, text: 'plum' })
    store.chat(id, { fullConversationHeadersOnly: headers([`${id}-1`]), context: { fileSelections: [{ uri }] } })
  }
  write('known')
  home.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['known'])
  await indexer.pass()
  write('late')
  await indexer.stoppedPass(({ outcome }) => outcome?.chatIds.length === 1)
  expect(indexer.placeOf('late').uri).toBeNull()
  await indexer.pass()
  expect(indexer.placeOf('late').uri).toBe('file:///home/ada/shop')
})
