import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { readStore } from '../../../src/indexer/sources/global-items/read-store.ts'
import { CursorHome, type Store } from '../../../src/sample/cursor-home.ts'
import {
  canary,
  globalEras,
  headerTableOf39,
  makeHeaderTable,
  putHeader,
  putItem,
} from '../../helpers/eras/global-items.ts'
import type { GlobalEra } from '../../helpers/eras/global-items.ts'
import { contentOf, evidenceOf, issuesOf } from './look.ts'

let home: CursorHome
let store: Store

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
})
afterEach(() => home.remove())

const pieces = () => contentOf(store.path).pieces
const atMs = Date.UTC(2026, 5, 1)

describe.each(globalEras.map((era): [string, GlobalEra] => [era.name, era]))('%s', (_, era) => {
  beforeEach(() => era.write(store.db))

  it('gives the heads that it lists', () => {
    const heads = pieces().flatMap((piece) => piece.heads)
    expect(heads).toMatchObject(era.heads.map((head) => ({ ...head, list: era.list })))
    expect(issuesOf(pieces())).toEqual([])
  })

  it('tells where their chats belong', () => {
    expect(evidenceOf(pieces())).toEqual(era.evidence)
  })

  it('makes no chat, and reads nothing else', () => {
    const content = contentOf(store.path)
    expect(content.pieces.flatMap((piece) => piece.chats)).toEqual([])
    expect(JSON.stringify(content)).not.toContain(canary)
  })

  it('is the same at the next look', () => {
    const first = readStore(store.path, null)
    if (first.kind !== 'whole') throw new Error(`expected a whole store, got ${first.kind}`)
    expect(readStore(store.path, first.glance)).toMatchObject({ kind: 'same' })
    expect(pieces()).toEqual(first.content.pieces)
  })
})

test('all ages can stand in one store', () => {
  for (const era of globalEras) era.write(store.db)
  // Of the two tables the later one stands.
  const lists = globalEras.filter((era) => era !== headerTableOf39).flatMap((era) => era.evidence)
  expect(evidenceOf(pieces()).sort()).toEqual([...lists].sort())
})

test('a store without any of it has no pieces', () => {
  expect(pieces()).toEqual([])
  store.db.exec('drop table ItemTable')
  expect(pieces()).toEqual([])
})

test.each<[string, (db: Store['db']) => void]>([
  ['a new list', (db) => putItem(db, 'composer.composerHeaders', { allComposers: [] })],
  ['a list written anew at the same length', (db) => putItem(db, 'glass.localAgentProjects.v1', '[1]')],
  ['a new row', (db) => putHeader(db, { composerId: 'b', lastUpdatedAt: atMs })],
  ['a later change', (db) => db.exec(`update composerHeaders set lastUpdatedAt = ${atMs + 1}`)],
  ['a later use', (db) => db.exec(`update composerHeaders set recency = ${atMs + 1}`)],
  ['a longer name', (db) => db.exec(`update composerHeaders set value = '{"name":"longer"}'`)],
])('%s shows without reading a value', (_, change) => {
  makeHeaderTable(store.db, '3.9')
  putHeader(store.db, { composerId: 'a', lastUpdatedAt: atMs, recency: atMs, value: { name: 'n' } })
  putItem(store.db, 'glass.localAgentProjects.v1', '[0]')
  putItem(store.db, 'glass.localAgentProjectMembership.v1', '{}')
  const first = readStore(store.path, null)
  const seen = first.kind === 'whole' ? first.glance : null
  change(store.db)
  expect(readStore(store.path, seen).kind).toBe('whole')
})

describe('a chat whose row names its workspace by the id alone had no project', () => {
  const placed = (workspaceId: string, value?: unknown): string[] => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', workspaceId, ...(value === undefined ? {} : { value }) })
    return evidenceOf(pieces())
  }

  test.each<[string, unknown]>([
    ['no value', undefined],
    ['a value without a root', { name: 'n', workspaceIdentifier: { id: 'w1' } }],
    ['a value that cannot be read', Buffer.from('{')],
  ])('beside %s', (_, value) => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    expect(placed('w1', value)).toEqual(['a header-table file:///yard/mill'])
  })

  test('and where the value names a root, that one is meant', () => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    const value = { workspaceIdentifier: { id: 'w1', uri: { external: 'file:///yard/barn' } } }
    expect(placed('w1', value)).toEqual(['a header-table file:///yard/barn'])
  })

  test.each(['empty-window', '1760000000000', 'gone', '..', '../w1', 'torn'])(
    '%s is no workspace with a root',
    (id) => {
      home.workspace('w1', { folder: 'file:///yard/mill' })
      home.workspace('torn', null)
      mkdirSync(join(home.userDir, 'workspaceStorage', 'torn', 'workspace.json'))
      expect(placed(id)).toEqual([])
    },
  )

  test('is placed once the workspace is there', () => {
    expect(placed('w1')).toEqual([])
    const [before] = pieces()
    home.workspace('w1', { folder: 'file:///yard/mill' })
    expect(pieces()[0]?.checksum).not.toBe(before?.checksum)
  })
})

describe('the table of heads', () => {
  const value = { composerId: 'a', name: 'Named', createdAt: atMs, isArchived: true }

  test.each([
    ['composerId', 'createdAt integer, value text'],
    ['value', 'composerId text, createdAt integer'],
    ['createdAt', 'value text, composerId text'],
    [
      'no column but a new one',
      'composerId text, value text, createdAt integer, inventedLater blob not null default 1',
    ],
  ])('is read without %s', (_, columns) => {
    store.db.exec(`create table composerHeaders (${columns})`)
    const row = { composerId: 'a', createdAt: atMs, value: JSON.stringify(value) }
    const names = Object.keys(row).filter((name) => columns.includes(name))
    store.db
      .prepare(
        `insert into composerHeaders (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`,
      )
      .run(row)
    const name = columns.includes('value') ? 'Named' : null
    expect(pieces()).toMatchObject([
      { key: 'composerHeaders', issue: null, heads: [{ chatId: 'a', name, createdAtMs: atMs }] },
    ])
  })

  it('gives nothing where none of its columns is known', () => {
    store.db.exec('create table composerHeaders (k text, v text)')
    store.db.exec("insert into composerHeaders values ('a', '{}')")
    expect(pieces()).toMatchObject([{ key: 'composerHeaders', heads: [], issue: null }])
  })

  it('gives a head to a row whose value is torn, and to its neighbours', () => {
    makeHeaderTable(store.db, '3.19')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, value: Buffer.from('{"name":') })
    putHeader(store.db, { composerId: 'b', value: { name: 'Whole' } })
    putHeader(store.db, { composerId: 'c' })
    expect(issuesOf(pieces())).toEqual(['composerHeaders bad-json'])
    expect(pieces()[0]?.heads).toMatchObject([
      { chatId: 'a', createdAtMs: atMs, name: null },
      { chatId: 'b', name: 'Whole' },
      { chatId: 'c', name: null },
    ])
  })

  it('trusts its columns before its values, and invents no time', () => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, isArchived: 0, value })
    expect(pieces()[0]?.heads).toMatchObject([{ createdAtMs: atMs, updatedAtMs: null, isArchived: false }])
  })

  it('takes a rival answer for no subagent, whatever its column says', () => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', isSubagent: 1, value: { isBestOfNSubcomposer: true } })
    putHeader(store.db, { composerId: 'b', isSubagent: 1, value: {} })
    expect(pieces()[0]?.heads.map((head) => head.isSubagent)).toEqual([null, true])
  })

  it('is read in pages, each row once', () => {
    makeHeaderTable(store.db, '3.9')
    store.db.transaction(() => {
      for (let row = 0; row < 1250; row += 1) putHeader(store.db, { composerId: `c-${row}`, value: { name: `${row}` } })
    })()
    expect(new Set(pieces()[0]?.heads.map(({ chatId }) => chatId)).size).toBe(1250)
  })

  it('has another checksum when any of it changes', () => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', lastUpdatedAt: atMs, value: { name: 'one' } })
    const before = pieces()[0]?.checksum
    store.db.exec(`update composerHeaders set isArchived = 1`)
    const archived = pieces()[0]?.checksum
    store.db.exec(`update composerHeaders set value = '{"name":"two"}'`)
    expect(new Set([before, archived, pieces()[0]?.checksum]).size).toBe(3)
  })
})

describe('an item', () => {
  test.each<[string, unknown, string[]]>([
    ['torn', '{"allComposers":[', ['composer.composerHeaders bad-json']],
    ['that is a number', '7', ['composer.composerHeaders not-an-object']],
    ['that is NULL', null, []],
    ['that is empty', '{}', []],
    ['too large', Buffer.alloc(32 * 1024 * 1024 + 1, 32), ['composer.composerHeaders too-large']],
  ])('%s costs no other', (_, value, issues) => {
    putItem(store.db, 'composer.composerHeaders', value)
    putItem(store.db, 'glass.localAgentProjects.v1', Buffer.from('[{"id":"p","workspace":{"uri":"file:///p"}}]'))
    putItem(store.db, 'glass.localAgentProjectMembership.v1', { c: 'p' })
    expect(issuesOf(pieces())).toEqual(issues)
    expect(evidenceOf(pieces())).toEqual(['c agent-project file:///p'])
  })
})

test('a store in another encoding is not guessed at', () => {
  const path = join(home.root, 'utf-16.vscdb')
  const db = new Database(path)
  db.pragma("encoding = 'UTF-16le'")
  db.exec('create table ItemTable (key text, value blob)')
  db.close()
  const detail = 'Its text is UTF-16le, not UTF-8.'
  expect(readStore(path, null)).toEqual({ kind: 'closed', state: 'unreadable', detail })
})
