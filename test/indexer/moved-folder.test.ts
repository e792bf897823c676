import { cpSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listSources } from '../../src/api/queries/sources/list-sources.ts'
import { runPasses } from '../../src/engine/writer/run-passes.ts'
import { discoverSources } from '../../src/indexer/discover.ts'
import type { PassDepth } from '../../src/indexer/source.ts'
import { CursorHome, Store } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'

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

beforeEach(() => {
  home = new CursorHome()
  elsewhere = join(dirname(home.userDir), 'Elsewhere')
  const store = home.global()
  store.message('kept', 'm1', { type: 1, text: 'where is the lantern' })
  store.message('lost', 'm1', { type: 1, text: 'who has the walnut' })
  store.chat('nameless', nameless('unnamed'))
  home.workspace('w1', { folder: 'file:///home/ada/shop' }).item('composer.composerData', composers('inline'))
  home.close()
  indexer = new Indexer()
  pass(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

const pass = (userDir: string, depth: PassDepth = 'nudge'): void => passAll([userDir], depth)

function passAll(userDirs: readonly string[], depth: PassDepth): void {
  const places = { userDirs, homes: [], disabledKinds: [] }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
  const steps = runPasses(indexer.mirror, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
  while (steps.next().done !== true);
}

function deleteSome(userDir: string): void {
  const store = new Store(join(userDir, 'globalStorage', 'state.vscdb'))
  store.delete('bubbleId:lost:m1')
  store.close()
  const workspace = new Store(join(userDir, 'workspaceStorage', 'w1', 'state.vscdb'))
  workspace.item('composer.composerData', composers())
  workspace.close()
}

const sourceStates = (): string[] =>
  listSources(indexer.mirror).map(({ kind, path, state }) => `${kind} ${state} ${path}`)

const moves: readonly [string, () => void][] = [
  ['moved', () => renameSync(home.userDir, elsewhere)],
  ['named by a link', () => symlinkSync(home.userDir, elsewhere)],
]
test.each(moves)('after the User folder was %s, what Cursor deleted is still reported as deleted', (_how, move) => {
  move()
  pass(elsewhere)
  deleteSome(elsewhere)
  pass(elsewhere, 'full')
  expect(indexer.losses().sort()).toEqual(['chat inline', 'chat lost'])
  expect(sourceStates().filter((line) => !line.includes(` ok ${elsewhere}/`))).toEqual([])
})

test('after the User folder was moved, messages without an id do not appear twice in a renamed chat', () => {
  const before = indexer.thread('nameless')
  renameSync(home.userDir, elsewhere)
  pass(elsewhere)
  const store = new Store(join(elsewhere, 'globalStorage', 'state.vscdb'))
  store.chat('nameless', nameless('the ladder'))
  store.close()
  pass(elsewhere)
  expect(before).toHaveLength(2)
  expect(indexer.thread('nameless')).toEqual(before)
})

test('a copy beside it is another store, and so is a workspace of another name with the same inode', () => {
  cpSync(home.userDir, elsewhere, { recursive: true })
  const workspaces = join(home.userDir, 'workspaceStorage')
  renameSync(join(workspaces, 'w1'), join(workspaces, 'w2'))
  pass(home.userDir)
  pass(elsewhere)
  const paths = listSources(indexer.mirror).flatMap(({ kind, path }) => (kind === 'workspace-items' ? [path] : []))
  expect(paths.sort()).toEqual(
    [join(workspaces, 'w1'), join(workspaces, 'w2'), join(elsewhere, 'workspaceStorage', 'w1')]
      .map((folder) => join(folder, 'state.vscdb'))
      .sort(),
  )
})

test('another folder with the inode of a deleted one does not make its chats lost', ({ skip }) => {
  const before = sourceStates()
  rmSync(home.userDir, { recursive: true })
  const other = new CursorHome(elsewhere)
  other.global().message('restored', 'm1', { type: 1, text: 'who has the hazel' })
  other.close()
  const { dev, ino, birthtimeMs } = statSync(other.globalPath)
  if (birthtimeMs === 0) skip('this file system does not tell when a file was made')
  indexer.mirror.prepare(`update sources set identity = ? where kind = 'composer-kv'`).run(`${dev}:${ino}`)
  pass(other.userDir)
  pass(other.userDir, 'full')
  expect(indexer.losses()).toEqual([])
  expect(sourceStates()).toHaveLength(before.length + 4)
})

test('a folder that exists under both names keeps what was known under the first', () => {
  symlinkSync(home.userDir, elsewhere)
  const before = sourceStates()
  passAll([elsewhere, home.userDir], 'nudge')
  expect(sourceStates()).toEqual(before.map((line) => line.replace(home.userDir, elsewhere)))
})
