import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PassDepth } from '../../../src/indexer/source.ts'
import { workspaceItemsSources } from '../../../src/indexer/sources/workspace-items/index.ts'
import { openWriter, type Mirror } from '../../../src/mirror/open.ts'
import { Store } from '../../helpers/cursor.ts'
import { canary, eraInline, eraPrompts, eraTabs, workspaceEras } from '../../helpers/eras/workspace-items.ts'
import { keys } from './items.ts'

let userDir = ''
let mirror: Mirror

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'workspace-items-'))
  userDir = join(folder, 'User')
  mirror = openWriter(join(folder, 'mirror.db'))
})

afterEach(() => mirror.close())

interface Changes {
  added: number
  changed: number
  gone: number
}

/** A pass over these workspaces, or over all of them. */
function pass(depth: PassDepth = 'nudge', sources = workspaceItemsSources(userDir)): Changes {
  const changes = { added: 0, changed: 0, gone: 0 }
  for (const source of sources) {
    for (const { outcome } of source.pass(mirror, { depth, now: Date.now })) {
      changes.added += outcome?.added ?? 0
      changes.changed += outcome?.changed ?? 0
      changes.gone += outcome?.gone ?? 0
    }
  }
  return changes
}

const folderOf = (id: string): string => join(userDir, 'workspaceStorage', id)
const rowsOf = <Row>(sql: string, ...values: readonly string[]): Row[] =>
  mirror.prepare<unknown[], Row>(sql).all(...values)
const liveCount = (): number => rowsOf<{ n: number }>('select count(*) as n from messages where is_live = 1')[0]?.n ?? 0

function textsOf(chatId: string): string[] {
  const rows = rowsOf<{ parts: string }>(
    `select parts from messages join bodies on bodies.num = body join chats on chats.num = chat
     where chats.id = ? and messages.is_live = 1 order by position is null, position`,
    chatId,
  )
  return rows.map(
    ({ parts }) => (JSON.parse(parts) as { text?: string }[]).find((part) => part.text !== undefined)?.text ?? '',
  )
}

test('every version of a workspace is mirrored, with its root', () => {
  for (const era of workspaceEras) era.write(userDir)
  pass('reconcile')
  for (const { id, messages } of workspaceEras.flatMap(({ chats }) => chats)) {
    expect([id, textsOf(id)]).toEqual([id, messages.map(({ text }) => text)])
  }
  const roots = rowsOf<{ id: string; uri: string }>(
    'select chats.id, uri from chats join projects on projects.num = project order by chats.id',
  )
  const expected = workspaceEras.flatMap(({ rootUri, chats }) => chats.map(({ id }) => ({ id, uri: rootUri })))
  expect(roots).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)))
  expect(mirror.serialize().includes(canary)).toBe(false)
})

test('a repeated pass of any depth changes nothing', () => {
  for (const era of workspaceEras) era.write(userDir)
  expect(pass().added).toBeGreaterThan(0)
  for (const depth of ['nudge', 'count', 'reconcile', 'full'] as const) {
    expect(pass(depth)).toMatchObject({ added: 0, changed: 0, gone: 0 })
  }
})

test('chats that share one value of a workspace have a size each', () => {
  const bubbles = [{ type: 'user', id: 'b', text: 'plant an apple 🍎' }]
  const tabs = ['t1', 't2'].map((tabId) => ({ tabId, bubbles }))
  const composers = ['c1', 'c2'].map((composerId) => ({
    composerId,
    conversation: [{ type: 1, text: 'plant a pear' }],
  }))
  mkdirSync(folderOf('w'), { recursive: true })
  const store = new Store(join(folderOf('w'), 'state.vscdb'))
  store.item(keys.tabs, { tabs })
  store.item(keys.composers, { allComposers: composers })
  store.close()
  pass()
  const sizes = rowsOf<{ id: string; octets: number }>('select id, size_bytes as octets from chats order by id')
  const inStore = (id: string, chat: unknown) => ({ id, octets: Buffer.byteLength(JSON.stringify(chat)) })
  expect(sizes).toEqual([
    ...composers.map((composer) => inStore(composer.composerId, composer)),
    ...tabs.map((tab) => inStore(tab.tabId, tab)),
  ])
})

test('a prompt that moves up in a capped list stays the same message', () => {
  eraPrompts.write(userDir)
  pass()
  const store = new Store(join(folderOf('eraprompts'), 'state.vscdb'), 'delete')
  store.item(keys.prompts, [{ text: 'sand it' }, { text: 'plane the board' }, { text: 'oil it' }])
  store.close()
  expect(pass()).toMatchObject({ added: 1, gone: 1 })
  expect(textsOf('prompts-eraprompts')).toEqual(expect.arrayContaining(['sand it', 'plane the board', 'oil it']))
})

test('a root that becomes known later reaches chats of unchanged items', () => {
  eraInline.write(userDir)
  const json = join(folderOf('erabinline'), 'workspace.json')
  rmSync(json)
  pass()
  expect(rowsOf('select id from chats where project is not null')).toEqual([])
  writeFileSync(json, '{"folder":"file:///yard/loom"}')
  pass()
  expect(rowsOf<{ uri: string }>('select distinct uri from chats join projects on projects.num = project')).toEqual([
    { uri: 'file:///yard/loom' },
  ])
})

test('what a value contained before it was torn is kept', () => {
  eraTabs.write(userDir)
  pass()
  const before = liveCount()
  const store = new Store(join(folderOf('eraatabs'), 'state.vscdb'), 'delete')
  store.item(keys.tabs, '{"tabs":[{"tabId":"era')
  store.close()
  expect(pass()).toMatchObject({ added: 0, gone: 0 })
  expect(liveCount()).toBe(before)
})

test('the content of a workspace is kept when its store, or its folder, vanishes', () => {
  eraTabs.write(userDir)
  eraInline.write(userDir)
  pass()
  const before = liveCount()
  const sources = workspaceItemsSources(userDir)
  rmSync(join(folderOf('eraatabs'), 'state.vscdb'))
  rmSync(folderOf('erabinline'), { recursive: true })
  for (const depth of ['nudge', 'full'] as const) expect(pass(depth, sources)).toMatchObject({ gone: 0 })
  expect(liveCount()).toBe(before)
})

test('a store that is not a database is reported as such, and does not affect others', () => {
  eraTabs.write(userDir)
  mkdirSync(folderOf('torn'), { recursive: true })
  writeFileSync(join(folderOf('torn'), 'state.vscdb'), 'words')
  pass()
  const states = rowsOf<{ state: string }>(`select state from sources where kind = 'workspace-items' order by state`)
  expect(states).toEqual([{ state: 'corrupt' }, { state: 'ok' }])
  expect(textsOf('era-a-tab-1')).toHaveLength(4)
})
