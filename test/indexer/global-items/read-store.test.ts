import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import type { Glance } from '../../../src/indexer/sources/global-items/read.ts'
import { readStore } from '../../../src/indexer/sources/global-items/read-store.ts'
import { CursorHome, type Store } from '../../helpers/cursor.ts'
import {
  canary,
  globalEras,
  globalTabs,
  headerTableOf39,
  listEras,
  makeHeaderTable,
  putHeader,
  putItem,
} from '../../helpers/eras/global-items.ts'
import type { GlobalEra } from '../../helpers/eras/global-items.ts'
import { pieceOf, saidIn } from '../workspace-items/items.ts'
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

describe.each(listEras.map((era): [string, GlobalEra] => [era.name, era]))('%s', (_, era) => {
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

describe('tabs', () => {
  const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
  const OLD_TABS = 'workbench.panel.chat.view.chat.chatdata'
  const tabOf = (tabId: string, ...texts: readonly string[]) => ({
    tabId,
    bubbles: texts.map((text, at) => ({ type: at % 2 === 0 ? 'user' : 'ai', id: `${tabId}-${at}`, text })),
  })
  const chats = () => pieces().flatMap((piece) => piece.chats)
  const look = (seen: Glance | null) => {
    const found = readStore(store.path, seen)
    if (found.kind !== 'whole') throw new Error(`expected a whole store, got ${found.kind}`)
    return found
  }

  it('are chats with their messages and without a project, and nothing else is read', () => {
    globalTabs.write(store.db)
    const content = contentOf(store.path)
    expect(
      chats().map(({ id, facts }) => [id, facts.name, facts.format, facts.createdAtMs, facts.updatedAtMs]),
    ).toEqual(globalTabs.chats.map((chat) => [chat.id, chat.title, chat.format, chat.createdAtMs, chat.updatedAtMs]))
    expect(chats().map(saidIn)).toEqual(
      globalTabs.chats.map(({ messages }) => messages.map(({ role, text }) => `${role}: ${text}`)),
    )
    expect([issuesOf(content.pieces), evidenceOf(content.pieces)]).toEqual([[], []])
    expect(JSON.stringify(content)).not.toContain(canary)
  })

  it('have the same messages as in a workspace with the same tab', () => {
    const value = { tabs: [{ tabId: 't', bubbles: [{ type: 'user', text: 'a' }] }] }
    putItem(store.db, TABS, value)
    expect(chats()).toEqual(pieceOf(TABS, value).chats)
  })

  it('under both keys are read where they have the most messages', () => {
    putItem(store.db, TABS, { tabs: [tabOf('t', 'a'), tabOf('new', 'a')] })
    putItem(store.db, OLD_TABS, { tabs: [tabOf('t', 'a', 'b'), tabOf('old', 'a')] })
    expect(pieces().map((piece) => piece.chats.map(({ id, messages }) => [id, messages.length]))).toEqual([
      [['new', 1]],
      [
        ['t', 2],
        ['old', 1],
      ],
    ])
  })

  it('are not read again if only the lists have changed', () => {
    globalTabs.write(store.db)
    const { glance } = look(null)
    putItem(store.db, 'composer.composerHeaders', [{ composerId: 'a' }])
    const { content, glance: next } = look(glance)
    expect(content.pieces.map(({ key }) => key)).toEqual(['composer.composerHeaders'])
    expect([...(content.keptKeys ?? [])]).toEqual([TABS, OLD_TABS])
    putItem(store.db, OLD_TABS, null)
    const { content: last, glance: after } = look(next)
    expect(last.pieces.map(({ key }) => key)).toEqual(['composer.composerHeaders', TABS])
    putItem(store.db, 'composer.composerHeaders', [{ composerId: 'b' }])
    expect([...(look(after).content.keptKeys ?? [])]).toEqual([TABS])
    expect(contentOf(store.path).keptKeys?.size).toBe(0)
  })
})

const soundTab = { tabId: 'sound', bubbles: [{ type: 'user', id: 's', text: 'stays as it is' }] }
const whole = JSON.stringify({ tabs: [soundTab, { tabId: 'cut', bubbles: [{ type: 'user', text: 'cut off' }] }] })
const deep = '['.repeat(50_000) + ']'.repeat(50_000)
const beside = (...tabs: readonly unknown[]): string => JSON.stringify({ tabs: [...tabs, soundTab] })
const draft = { type: 'user', text: '', followup: true }

test.each<[string, unknown, string | null, readonly string[]]>([
  ['no bytes', '', 'bad-json', []],
  ['cut off in a text', whole.slice(0, -8), 'bad-json', []],
  ['cut off in a key', whole.slice(0, 12), 'bad-json', []],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0, 1]), 'bad-json', []],
  ['half of it twice', whole + whole, 'bad-json', []],
  ['a list', '[]', 'not-an-object', []],
  ['a number', '7', 'not-an-object', []],
  ['a text', '"tabs"', 'not-an-object', []],
  ['null', 'null', 'not-an-object', []],
  ['too large', Buffer.alloc(32 * 1024 * 1024 + 1, 32), 'too-large', []],
  ['empty', '{}', null, []],
  ['without tabs', '{"selectedTabId":"a"}', null, []],
  ['tabs that are no list', '{"tabs":{"a":1}}', null, []],
  ['tabs of all types', beside(null, 7, 'a', [], {}, true), null, ['sound']],
  ['a tab without an id that says something', beside({ bubbles: [{ text: 'lost' }] }), 'bad-key', ['sound']],
  ['an id of another type', beside({ tabId: 7, bubbles: [{ text: 'lost' }] }), 'bad-key', ['sound']],
  ['bubbles that are no list', beside({ tabId: 'a', bubbles: { text: 'lost' } }), null, ['a', 'sound']],
  ['bubbles of all types', beside({ tabId: 'a', bubbles: [null, 7, 'x', [], {}] }), null, ['a', 'sound']],
  ['nested too deep', `{"tabs":[${JSON.stringify(soundTab)},{"tabId":"a","deep":${deep}}]}`, null, ['a', 'sound']],
  [
    'a hundred thousand drafts',
    beside({ tabId: 'a', bubbles: Array.from({ length: 100_000 }, () => draft) }),
    null,
    ['a', 'sound'],
  ],
  [
    'names of the language',
    '{"__proto__":{"tabs":[]},"tabs":[{"tabId":"__proto__","bubbles":[]}]}',
    null,
    ['__proto__'],
  ],
])('that are damaged, %s, do not affect other items', (_, value, issue, ids) => {
  const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
  putItem(store.db, TABS, value)
  putItem(store.db, 'workbench.panel.chat.view.chat.chatdata', { tabs: [{ tabId: 'other', bubbles: [] }] })
  putItem(store.db, 'composer.composerHeaders', [{ composerId: 'head' }])
  const found = pieces()
  expect(issuesOf(found)).toEqual(issue === null ? [] : [`${TABS} ${issue}`])
  expect(found.flatMap(({ chats }) => chats.map(({ id }) => id)).toSorted()).toEqual([...ids, 'other'].toSorted())
  expect(found.flatMap(({ heads }) => heads.map(({ chatId }) => chatId))).toEqual(['head'])
  const soundChat = found.flatMap(({ chats }) => chats).find(({ id }) => id === 'sound')
  expect(soundChat === undefined ? [] : saidIn(soundChat)).toEqual(
    ids.includes('sound') ? ['user: stays as it is'] : [],
  )
})

test('all versions can be in one store', () => {
  for (const era of globalEras) era.write(store.db)
  // Of the two tables only the later one stays.
  const lists = globalEras.filter((era) => era !== headerTableOf39).flatMap((era) => era.evidence)
  expect(evidenceOf(pieces()).sort()).toEqual([...lists].sort())
})

test('an empty store has no pieces', () => {
  expect(pieces()).toEqual([])
  store.db.exec('drop table ItemTable')
  expect(pieces()).toEqual([])
})

test.each<[string, (db: Store['db']) => void]>([
  ['a new list', (db) => putItem(db, 'composer.composerHeaders', { allComposers: [] })],
  ['a list rewritten with the same length', (db) => putItem(db, 'glass.localAgentProjects.v1', '[1]')],
  ['a new row', (db) => putHeader(db, { composerId: 'b', lastUpdatedAt: atMs })],
  ['a later change', (db) => db.exec(`update composerHeaders set lastUpdatedAt = ${atMs + 1}`)],
  ['a later use', (db) => db.exec(`update composerHeaders set recency = ${atMs + 1}`)],
  ['a longer name', (db) => db.exec(`update composerHeaders set value = '{"name":"longer"}'`)],
])('%s is seen without reading a value', (_, change) => {
  makeHeaderTable(store.db, '3.9')
  putHeader(store.db, { composerId: 'a', lastUpdatedAt: atMs, recency: atMs, value: { name: 'n' } })
  putItem(store.db, 'glass.localAgentProjects.v1', '[0]')
  putItem(store.db, 'glass.localAgentProjectMembership.v1', '{}')
  const first = readStore(store.path, null)
  const seen = first.kind === 'whole' ? first.glance : null
  change(store.db)
  expect(readStore(store.path, seen).kind).toBe('whole')
})

describe('a chat whose row names its workspace only by id has that workspace as its project', () => {
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

  test('if the value names a root, that root is used', () => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    const value = { workspaceIdentifier: { id: 'w1', uri: { external: 'file:///yard/barn' } } }
    expect(placed('w1', value)).toEqual(['a header-table file:///yard/barn'])
  })

  test.each(['empty-window', '1760000000000', 'gone', '..', '../w1', 'torn'])(
    '%s is not a workspace with a root',
    (id) => {
      home.workspace('w1', { folder: 'file:///yard/mill' })
      home.workspace('torn', null)
      mkdirSync(join(home.userDir, 'workspaceStorage', 'torn', 'workspace.json'))
      expect(placed(id)).toEqual([])
    },
  )

  test('it is placed once the workspace exists', () => {
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

  it('gives nothing if none of its columns is known', () => {
    store.db.exec('create table composerHeaders (k text, v text)')
    store.db.exec("insert into composerHeaders values ('a', '{}')")
    expect(pieces()).toMatchObject([{ key: 'composerHeaders', heads: [], issue: null }])
  })

  it('gives a head for a row with a torn value, and for the other rows', () => {
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

  it('prefers its columns to its values, and invents no time', () => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, isArchived: 0, value })
    expect(pieces()[0]?.heads).toMatchObject([{ createdAtMs: atMs, updatedAtMs: null, isArchived: false }])
  })

  it('does not treat an alternative answer as a subagent, whatever its column says', () => {
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

  it('has another checksum if any of it changes', () => {
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
  ])('%s does not affect others', (_, value, issues) => {
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
