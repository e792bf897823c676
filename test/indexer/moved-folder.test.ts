import { cpSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { PassDepth } from '../../src/model/pass.ts'
import { CursorHome, Store } from '../helpers/cursor.ts'
import { openIndexed, type Indexer } from '../helpers/in-process.ts'

let home: CursorHome
let elsewhere: string
let indexer: Indexer

const inline = (id: string) => ({
  composerId: id,
  conversation: [{ bubbleId: 'm1', type: 1, text: 'is it the spoon' }],
})
const composers = (...ids: readonly string[]) => ({ allComposers: ids.map(inline) })

/** Its messages have no ids. */
const nameless = (name: string) => ({
  name,
  conversation: [
    { type: 1, text: 'where is the ladder' },
    { type: 2, text: 'in the shed' },
  ],
})

beforeEach(async () => {
  const opened = openIndexed()
  ;({ home, indexer } = opened)
  elsewhere = join(dirname(home.userDir), 'Elsewhere')
  opened.store.message('kept', 'm1', { type: 1, text: 'where is the lantern' })
  opened.store.message('lost', 'm1', { type: 1, text: 'who has the walnut' })
  opened.store.chat('nameless', nameless('unnamed'))
  home.workspace('w1', { folder: 'file:///home/ada/shop' }).item('composer.composerData', composers('inline'))
  home.close()
  await indexer.pass()
})

async function pass(depth: PassDepth, ...userDirs: readonly string[]): Promise<void> {
  indexer.userDirs = userDirs
  await indexer.pass(depth)
}

/** Opens a store below a `User` folder, which may have moved. */
function change(path: string, act: (store: Store) => void): void {
  const store = new Store(path)
  act(store)
  store.close()
}
const globalStore = (userDir: string): string => join(userDir, 'globalStorage', 'state.vscdb')

function deleteSome(userDir: string): void {
  change(globalStore(userDir), (store) => store.delete('bubbleId:lost:m1'))
  change(join(userDir, 'workspaceStorage', 'w1', 'state.vscdb'), (store) =>
    store.item('composer.composerData', composers()),
  )
}

const sourceStates = (): string[] => indexer.sources.map(({ kind, path, state }) => `${kind} ${state} ${path}`)

test.each<[string, () => void]>([
  ['moved', () => renameSync(home.userDir, elsewhere)],
  ['named by a link', () => symlinkSync(home.userDir, elsewhere)],
])('after the User folder was %s, what Cursor deleted is still reported as deleted', async (_how, move) => {
  move()
  await pass('tail', elsewhere)
  deleteSome(elsewhere)
  await pass('values', elsewhere)
  expect(indexer.losses().sort()).toEqual(['chat inline', 'chat lost'])
  expect(sourceStates().filter((line) => !line.includes(` ok ${elsewhere}/`))).toEqual([])
})

test('after the User folder was moved, messages without an id do not appear twice in a renamed chat', async () => {
  const before = indexer.thread('nameless')
  renameSync(home.userDir, elsewhere)
  await pass('tail', elsewhere)
  change(globalStore(elsewhere), (store) => store.chat('nameless', nameless('the ladder')))
  await pass('tail', elsewhere)
  expect(before).toHaveLength(2)
  expect(indexer.thread('nameless')).toEqual(before)
})

test('a copy beside it is another store, and so is a workspace of another name with the same inode', async () => {
  cpSync(home.userDir, elsewhere, { recursive: true })
  const workspaces = join(home.userDir, 'workspaceStorage')
  renameSync(join(workspaces, 'w1'), join(workspaces, 'w2'))
  await pass('tail', home.userDir)
  await pass('tail', elsewhere)
  const paths = indexer.sources.flatMap(({ kind, path }) => (kind === 'workspace-items' ? [path] : []))
  const folders = [join(workspaces, 'w1'), join(workspaces, 'w2'), join(elsewhere, 'workspaceStorage', 'w1')]
  expect(paths.sort()).toEqual(folders.map((folder) => join(folder, 'state.vscdb')).sort())
})

test('another folder with the inode of a deleted one does not make its chats lost', async ({ skip }) => {
  const before = sourceStates()
  rmSync(home.userDir, { recursive: true })
  const other = new CursorHome(elsewhere)
  other.global().message('restored', 'm1', { type: 1, text: 'who has the hazel' })
  other.close()
  const { dev, ino, birthtimeMs } = statSync(other.globalPath)
  if (birthtimeMs === 0) skip('this file system does not tell when a file was made')
  indexer.mirror.prepare(`update sources set identity = ? where kind = 'composer-kv'`).run(`${dev}:${ino}`)
  for (const depth of ['tail', 'values'] as const) await pass(depth, other.userDir)
  expect(indexer.losses()).toEqual([])
  expect(sourceStates()).toHaveLength(before.length + 4)
})

test('a folder that exists under both names is read once, and keeps what was known under the first', async () => {
  symlinkSync(home.userDir, elsewhere)
  const before = sourceStates()
  await pass('tail', elsewhere, home.userDir)
  expect(sourceStates()).toEqual(before.map((line) => line.replace(home.userDir, elsewhere)))
})

test('a chat that goes on in another project belongs to that one', async () => {
  const last = new CursorHome(home.root)
  last.workspace('w1', { folder: 'file:///home/ada/shop' }, ['kept'])
  last.close()
  await pass('tail', home.userDir)
  expect(indexer.placeOf('kept')).toMatchObject({ uri: 'file:///home/ada/shop' })
  // The former list still names it.
  last.workspace('w2', { folder: 'file:///home/ada/farm' }, ['kept'])
  last.close()
  await pass('tail', home.userDir)
  expect(indexer.placeOf('kept')).toMatchObject({ uri: 'file:///home/ada/farm' })
})

describe('a workspace and a folder of transcripts', () => {
  let slug: string
  let workspace: string
  const both = { transcripts: 'ok', 'workspace-items': 'ok' }

  beforeEach(async () => {
    slug = join(home.root, '.cursor', 'projects', 'shop')
    mkdirSync(join(slug, 'agent-transcripts'), { recursive: true })
    const line = { role: 'user', message: { content: 'where is the lantern' } }
    writeFileSync(join(slug, 'agent-transcripts', 'told.jsonl'), `${JSON.stringify(line)}\n`)
    workspace = join(home.userDir, 'workspaceStorage', 'w1')
    await indexer.pass()
  })

  const states = (): Record<string, string> =>
    Object.fromEntries(
      indexer.sources.filter(({ kind }) => Object.hasOwn(both, kind)).map(({ kind, state }) => [kind, state]),
    )

  test('that are deleted are missing, and their chats stay', async () => {
    expect(states()).toEqual(both)
    rmSync(slug, { recursive: true })
    rmSync(workspace, { recursive: true })
    await indexer.pass()
    expect(states()).toEqual({ transcripts: 'missing', 'workspace-items': 'missing' })
    expect(indexer.thread('told').map(([, , text]) => text)).toEqual(['where is the lantern'])
  })

  test('that are back are ok again', async () => {
    renameSync(slug, `${slug}-away`)
    await indexer.pass()
    renameSync(`${slug}-away`, slug)
    await indexer.pass()
    expect(states()).toEqual(both)
  })

  test('that exist but are switched off keep their state', async () => {
    indexer.homes = []
    await indexer.pass()
    expect(states()).toEqual(both)
  })
})
