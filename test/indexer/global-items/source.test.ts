import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { globalItemsSource } from '../../../src/indexer/sources/global-items/index.ts'
import { countLater, type PassDepth, type PassEnd } from '../../../src/indexer/source.ts'
import { CursorHome, type Store } from '../../helpers/cursor.ts'
import {
  globalEras,
  globalTabs,
  listEras,
  makeHeaderTable,
  putHeader,
  putItem,
} from '../../helpers/eras/global-items.ts'
import { Indexer } from '../../helpers/in-process.ts'

let home: CursorHome
let store: Store
let indexer: Indexer
let nowMs = 0

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
  nowMs = Date.UTC(2026, 9, 1)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

interface Passed {
  readonly end: PassEnd
  readonly changed: number
  readonly didRead: boolean
}

function pass(depth: PassDepth = 'nudge'): Passed {
  const steps = globalItemsSource(home.userDir).pass(indexer.mirror, { depth, now: () => nowMs })
  let changed = 0
  let didRead = false
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) return { end: next.value, changed, didRead }
    changed += next.value.outcome?.changed ?? 0
    didRead ||= next.value.outcome !== null
  }
}

const all = (sql: string): unknown[] => indexer.mirror.prepare(sql).all()

test('it reads the store of the chats, and has its own id', () => {
  const source = globalItemsSource(home.userDir)
  expect(source).toMatchObject({ kind: 'global-items', path: store.path, rank: 2, isAlwaysWarm: true })
  expect(source.id).toMatch(/^[0-9a-f]{16}$/)
  expect(globalItemsSource(home.userDir).id).toBe(source.id)
})

test('what lists say about a chat is stored, and makes no chat', () => {
  for (const era of listEras) era.write(store.db)
  expect(pass().end).toEqual({ state: 'ok', detail: null, again: [] })
  expect(all('select * from chats')).toEqual([])
  expect(all(`select chat_id from heads where list = 'header-list'`)).toHaveLength(4)
  expect(all(`select distinct method from evidence order by method`)).toEqual([
    { method: 'agent-project' },
    { method: 'header-list' },
    { method: 'header-table' },
  ])
})

test('a repeated pass of any depth changes nothing', () => {
  for (const era of globalEras) era.write(store.db)
  pass()
  const before = [all('select * from heads'), all('select * from evidence'), all('select * from source_rows')]
  for (const depth of ['nudge', 'count', 'reconcile', 'full'] as const) {
    nowMs += 60_000
    expect(pass(depth)).toMatchObject({ changed: 0, end: { state: 'ok' } })
  }
  expect([all('select * from heads'), all('select * from evidence'), all('select * from source_rows')]).toEqual(before)
})

test('tabs are chats without a project, and deleted ones are kept', () => {
  globalTabs.write(store.db)
  pass()
  const sql = `select chats.id, project, kind, format, message_count from chats join sources on sources.num = chats.source order by chats.id`
  const common = { project: null, kind: 'global-items', format: 'tab' }
  expect(all(sql)).toEqual(
    globalTabs.chats.map(({ id, messages }) => ({ ...common, id, message_count: messages.length })),
  )
  expect(all('select * from row_issues')).toEqual([])
  putItem(store.db, 'workbench.panel.aichat.view.aichat.chatdata', { tabs: [] })
  pass('count')
  expect(all('select id from chats where deleted_at is not null order by id')).toEqual([
    { id: 'global-tab-1' },
    { id: 'global-tab-2' },
  ])
})

test('if only the lists change, the tabs are not read, and stay', () => {
  globalTabs.write(store.db)
  pass()
  const tabs = () => [
    ...all(`select key, octets, checksum from source_rows where key like 'workbench.%'`),
    ...all('select id, deleted_at from chats'),
    ...all('select id, is_live from messages'),
  ]
  const before = tabs()
  expect(before).toHaveLength(2 + 3 + 5)
  for (const list of [[], null]) {
    putItem(store.db, 'composer.composerHeaders', list)
    nowMs += 60_000
    expect(pass()).toMatchObject({ didRead: true, changed: 0 })
    expect(tabs()).toEqual(before)
  }
})

test('a chat gets its project and its archive mark from the lists', () => {
  store.chat('a', { name: 'A', createdAt: nowMs, fullConversationHeadersOnly: [{ bubbleId: 'm', type: 1 }] })
  store.message('a', 'm', { type: 1, text: 'hello' })
  indexer.pass()
  putItem(store.db, 'composer.composerHeaders', {
    allComposers: [{ composerId: 'a', isArchived: true, workspaceIdentifier: { uri: 'file:///yard/mill' } }],
  })
  pass('count')
  const sql = `select is_archived, project_source, uri from chats join projects on projects.num = project`
  expect(all(sql)).toEqual([{ is_archived: 1, project_source: 'header-list', uri: 'file:///yard/mill' }])
})

test('an archived chat is archived even if an older build’s list has the same time', () => {
  const lastUpdatedAt = nowMs
  store.chat('a', { createdAt: nowMs, lastUpdatedAt, fullConversationHeadersOnly: [{ bubbleId: 'm', type: 1 }] })
  store.message('a', 'm', { type: 1, text: 'hello' })
  const before = { composerId: 'a', name: 'As it was', isArchived: false, lastUpdatedAt }
  putItem(store.db, 'composer.composerHeaders', { allComposers: [before] })
  makeHeaderTable(store.db, '3.9')
  putHeader(store.db, { composerId: 'a', lastUpdatedAt, isArchived: 1, value: { name: 'As it is', isArchived: true } })
  indexer.pass()
  expect(all('select title, is_archived from chats')).toEqual([{ title: 'As it is', is_archived: 1 }])
})

describe('a nudge', () => {
  beforeEach(() => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', recency: nowMs, value: { name: 'one' } })
    pass()
  })
  const writeMessage = (): void => store.message('c', 'm', { type: 1, text: 'a message' })

  it('does nothing if the file is unchanged', () => {
    nowMs += 60_000
    expect(pass()).toMatchObject({ didRead: false, end: { again: [] } })
  })

  it('reads nothing if only messages were written, and asks for a thorough look later', () => {
    writeMessage()
    nowMs += 60_000
    expect(pass()).toMatchObject({ didRead: false, end: { state: 'ok', again: [countLater] } })
  })

  it('looks at most every five seconds, and then sees what it left', () => {
    putHeader(store.db, { composerId: 'b', recency: nowMs + 1, value: { name: 'two' } })
    nowMs += 4999
    expect(pass()).toMatchObject({ didRead: false, end: { state: 'ok', again: [countLater] } })
    nowMs += 1
    expect(pass()).toMatchObject({ didRead: true, end: { again: [] } })
    expect(all('select chat_id from heads')).toHaveLength(2)
  })

  it('works at once after the clock was set back', () => {
    putHeader(store.db, { composerId: 'b', recency: nowMs + 1, value: { name: 'two' } })
    nowMs -= 3_600_000
    expect(pass()).toMatchObject({ didRead: true })
  })
})

test('a value updated in place at the same length is found by the next count', () => {
  putItem(store.db, 'composer.composerHeaders', [{ composerId: 'a', name: 'one' }])
  pass()
  const text = JSON.stringify([{ composerId: 'a', name: 'two' }])
  store.db.prepare(`update ItemTable set value = ? where key = 'composer.composerHeaders'`).run(text)
  nowMs += 60_000
  expect(pass()).toMatchObject({ didRead: false })
  pass('count')
  expect(all('select name from heads')).toEqual([{ name: 'two' }])
})

test('a torn list is an issue, and its former content stays', () => {
  putItem(store.db, 'composer.composerHeaders', [{ composerId: 'a', name: 'one' }])
  pass()
  putItem(store.db, 'composer.composerHeaders', '[{')
  expect(pass('count').end.state).toBe('ok')
  expect(all('select name from heads')).toEqual([{ name: 'one' }])
  expect(all('select key, reason from row_issues')).toEqual([{ key: 'composer.composerHeaders', reason: 'bad-json' }])
  putItem(store.db, 'composer.composerHeaders', null)
  pass('count')
  expect(all('select key, reason from row_issues')).toEqual([])
})

test('a missing store is reported, and read when it appears', () => {
  home.remove()
  expect(pass().end.state).toBe('missing')
  store = home.global()
  putItem(store.db, 'composer.composerHeaders', [{ composerId: 'a', name: 'one' }])
  expect(pass()).toMatchObject({ didRead: true, end: { state: 'ok' } })
})
