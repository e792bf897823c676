import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { countLater, type PassDepth, type PassEnd } from '../../../src/indexer/source.ts'
import { globalItemsSource } from '../../../src/indexer/sources/global-items/index.ts'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'
import { headers, type CursorHome, type Store } from '../../helpers/cursor.ts'
import {
  globalTabs,
  headerListOf30,
  listEras,
  makeHeaderTable,
  putHeader,
  putItem,
} from '../../helpers/eras/global-items.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

const cases = casesBeside(import.meta.url)

const LIST = 'composer.composerHeaders'
const TABS = 'workbench.panel.aichat.view.aichat.chatdata'
const OLD_TABS = 'workbench.panel.chat.view.chat.chatdata'

let home: CursorHome
let store: Store
let indexer: Indexer
let nowMs: number

beforeEach(() => {
  ;({ home, store, indexer } = openIndexed())
  nowMs = Date.UTC(2026, 9, 1)
  indexer.now = () => (nowMs += 60_000)
})

const put = (key: string, value: unknown): void => putItem(store.db, key, value)

/** Chats of the store, which the lists then are about. */
function say(...ids: readonly string[]): void {
  for (const id of ids) {
    store.chat(id, { fullConversationHeadersOnly: headers(['m']) })
    store.message(id, 'm', { type: 1, text: `said in ${id}` })
  }
}

const idsAndCounts = (): unknown[] => indexer.chats.map(({ id, messageCount }) => [id, messageCount])
const project = (id: string): unknown => [indexer.chat(id)?.project?.name, indexer.chat(id)?.projectSource]

test('what lists say about a chat that is in no store makes no chat', () => {
  for (const era of listEras) era.write(store.db)
  indexer.pass()
  expect([indexer.chats, indexer.issues]).toEqual([[], []])
})

describe('tabs', () => {
  const tabOf = (tabId: string, ...texts: readonly string[]) => ({
    tabId,
    bubbles: texts.map((text, at) => ({ type: at % 2 === 0 ? 'user' : 'ai', id: `${tabId}-${at}`, text })),
  })

  test('under both keys are read where they have the most messages', () => {
    put(TABS, { tabs: [tabOf('t', 'a'), tabOf('new', 'a')] })
    put(OLD_TABS, { tabs: [tabOf('t', 'a', 'b'), tabOf('old', 'a')] })
    indexer.pass()
    expect(idsAndCounts()).toEqual([
      ['new', 1],
      ['old', 1],
      ['t', 2],
    ])
  })

  test('that are deleted are kept, and those under the other key exist', () => {
    globalTabs.write(store.db)
    indexer.pass()
    expect(indexer.chats).toMatchObject(
      globalTabs.chats.map(({ id }) => ({ id, project: null, source: 'global-items' })),
    )
    put(TABS, { tabs: [] })
    indexer.pass('count')
    const deleted = indexer.chats.filter(({ deletedInCursor }) => deletedInCursor)
    expect(deleted.map(({ id }) => id)).toEqual(['global-tab-1', 'global-tab-2'])
  })

  test('stay if only the lists change', () => {
    globalTabs.write(store.db)
    indexer.pass()
    const before = [indexer.chats, indexer.counts]
    for (const list of [[], null]) {
      put(LIST, list)
      expect(indexer.pass()).toMatchObject({ added: 0, changed: 0, gone: 0 })
      expect([indexer.chats, indexer.counts]).toEqual(before)
    }
  })

  const soundTab = { tabId: 'sound', bubbles: [{ type: 'user', id: 's', text: 'stays as it is' }] }

  test.each(writtenOut(cases<[string, string, string | null, string[]]>('damaged tabs')))(
    'that are damaged, %s, do not affect other items',
    (_, value, issue, ids) => {
      say('head')
      put(TABS, value.replace('@', JSON.stringify(soundTab)))
      put(OLD_TABS, { tabs: [{ tabId: 'other', bubbles: [] }] })
      put(LIST, [{ composerId: 'head', name: 'Listed' }])
      indexer.pass()
      expect(indexer.issues).toEqual(issue === null ? [] : [`${TABS} ${issue}`])
      expect(indexer.chats.map(({ id }) => id)).toEqual([...ids, 'head', 'other'].toSorted())
      expect(indexer.chat('head')?.title).toBe('Listed')
      const sound = ids.includes('sound') ? [['s', 0, 'stays as it is']] : []
      expect(indexer.thread('sound')).toEqual(sound)
    },
  )
})

test.each(writtenOut(cases<[string, string | null, string | null]>('damaged lists')))(
  'a list %s does not affect other lists',
  (_, value, issue) => {
    say('c')
    put(LIST, value)
    put('glass.localAgentProjects.v1', Buffer.from('[{"id":"p","workspace":{"uri":"file:///p"}}]'))
    put('glass.localAgentProjectMembership.v1', { c: 'p' })
    indexer.pass()
    expect(indexer.issues).toEqual(issue === null ? [] : [`${LIST} ${issue}`])
    expect(project('c')).toEqual(['p', 'agent-project'])
  },
)

test('a torn list is an issue, and its former content stays', () => {
  say('a')
  put(LIST, [{ composerId: 'a', name: 'one' }])
  indexer.pass()
  put(LIST, '[{')
  indexer.pass('count')
  expect([indexer.chat('a')?.title, indexer.issues]).toEqual(['one', [`${LIST} bad-json`]])
  put(LIST, null)
  indexer.pass('count')
  expect(indexer.issues).toEqual([])
})

describe('a chat whose row names its workspace only by id has that workspace as its project', () => {
  const placed = (workspaceId: string, value?: unknown): unknown => {
    say('a')
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', workspaceId, ...(value === undefined ? {} : { value }) })
    indexer.pass()
    return project('a')
  }

  test.each<[string, unknown]>([
    ['no value', undefined],
    ['a value without a root', { name: 'n', workspaceIdentifier: { id: 'w1' } }],
    ['a value that cannot be read', Buffer.from('{')],
  ])('beside %s', (_, value) => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    expect(placed('w1', value)).toEqual(['mill', 'header-table'])
  })

  test('if the value names a root, that root is used', () => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    const value = { workspaceIdentifier: { id: 'w1', uri: { external: 'file:///yard/barn' } } }
    expect(placed('w1', value)).toEqual(['barn', 'header-table'])
  })

  test.each(['empty-window', '1760000000000', 'gone', '..', '../w1', 'torn'])(
    '%s is not a workspace with a root',
    (id) => {
      home.workspace('w1', { folder: 'file:///yard/mill' })
      home.workspace('torn', null)
      mkdirSync(join(home.userDir, 'workspaceStorage', 'torn', 'workspace.json'))
      expect(placed(id)).toEqual([undefined, null])
    },
  )

  test('once the workspace exists', () => {
    expect(placed('w1')).toEqual([undefined, null])
    home.workspace('w1', { folder: 'file:///yard/mill' })
    indexer.pass('count')
    expect(project('a')).toEqual(['mill', 'header-table'])
  })
})

describe('the table of heads', () => {
  const atMs = Date.UTC(2026, 5, 1)
  const value = { composerId: 'a', name: 'Named', createdAt: atMs, isArchived: true }

  test.each(cases<[string, string, string | null]>('columns'))('is read without %s', (_, columns, name) => {
    say('a')
    store.db.exec(`create table composerHeaders (${columns})`)
    const row = { composerId: 'a', createdAt: atMs, value: JSON.stringify(value) }
    const names = Object.keys(row).filter((each) => columns.includes(each))
    const marks = names.map((each) => `@${each}`)
    store.db.prepare(`insert into composerHeaders (${names.join(', ')}) values (${marks.join(', ')})`).run(row)
    indexer.pass()
    expect(indexer.issues).toEqual([])
    const title = name ?? 'said in a'
    expect(indexer.chat('a')).toMatchObject({ title, createdAt: new Date(atMs).toISOString() })
  })

  test('gives nothing if none of its columns is known', () => {
    say('a')
    store.db.exec(`create table composerHeaders (k text, v text); insert into composerHeaders values ('a', '{}')`)
    indexer.pass()
    expect([indexer.chat('a')?.title, indexer.issues]).toEqual(['said in a', []])
  })

  test('gives a head for a row with a torn value, and for the other rows', () => {
    say('a', 'b', 'c')
    makeHeaderTable(store.db, '3.19')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, value: Buffer.from('{"name":') })
    putHeader(store.db, { composerId: 'b', value: { name: 'Whole' } })
    putHeader(store.db, { composerId: 'c' })
    indexer.pass()
    expect(indexer.issues).toEqual(['composerHeaders bad-json'])
    expect(indexer.chat('a')?.createdAt).toBe(new Date(atMs).toISOString())
    expect(indexer.chat('b')?.title).toBe('Whole')
  })

  test('prefers its columns to its values', () => {
    say('a')
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, isArchived: 0, value })
    indexer.pass()
    expect(indexer.chat('a')).toMatchObject({ createdAt: new Date(atMs).toISOString(), isArchived: false })
  })

  test('does not treat an alternative answer as a subagent, whatever its column says', () => {
    say('a', 'b')
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', isSubagent: 1, value: { isBestOfNSubcomposer: true } })
    putHeader(store.db, { composerId: 'b', isSubagent: 1, value: {} })
    indexer.pass()
    expect(indexer.chats.map(({ isSubagent }) => isSubagent)).toEqual([false, true])
  })

  test('of many pages is read to its end', () => {
    const last = 'c-1249'
    say(last)
    makeHeaderTable(store.db, '3.9')
    store.db.transaction(() => {
      for (let row = 0; row < 1250; row += 1) putHeader(store.db, { composerId: `c-${row}`, value: { name: `${row}` } })
    })()
    indexer.pass()
    expect(indexer.chat(last)?.title).toBe('1249')
  })

  test('is more recent than the list of an older build with the same time', () => {
    const lastUpdatedAt = atMs
    say('a')
    const before = { composerId: 'a', name: 'As it was', isArchived: false, lastUpdatedAt }
    put(LIST, { allComposers: [before] })
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, {
      composerId: 'a',
      lastUpdatedAt,
      isArchived: 1,
      value: { name: 'As it is', isArchived: true },
    })
    indexer.pass()
    expect(indexer.chat('a')).toMatchObject({ title: 'As it is', isArchived: true })
  })
})

describe('a nudge', () => {
  interface Passed {
    readonly end: PassEnd
    readonly didRead: boolean
  }

  function pass(depth: PassDepth = 'nudge'): Passed {
    const steps = globalItemsSource(home.userDir).pass(indexer.mirror, { depth, now: () => nowMs })
    let didRead = false
    for (let next = steps.next(); ; next = steps.next()) {
      if (next.done === true) return { end: next.value, didRead }
      didRead ||= next.value.outcome !== null
    }
  }

  beforeEach(() => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', recency: nowMs, lastUpdatedAt: nowMs, value: { name: 'one' } })
    for (const name of ['Projects', 'ProjectMembership']) put(`glass.localAgent${name}.v1`, '[0]')
    pass()
  })

  test('reads nothing if the file is unchanged, or only messages were written', () => {
    nowMs += 60_000
    expect(pass()).toMatchObject({ didRead: false, end: { again: [] } })
    say('c')
    nowMs += 60_000
    expect(pass()).toMatchObject({ didRead: false, end: { state: 'ok', again: [countLater] } })
  })

  test.each<[string, () => unknown]>([
    ['a new list', () => put(LIST, { allComposers: [] })],
    ['a list rewritten with the same length', () => put('glass.localAgentProjects.v1', '[1]')],
    ['a new row', () => putHeader(store.db, { composerId: 'b', lastUpdatedAt: nowMs })],
    ['a later change', () => store.db.exec(`update composerHeaders set lastUpdatedAt = ${nowMs + 1}`)],
    ['a later use', () => store.db.exec(`update composerHeaders set recency = ${nowMs + 1}`)],
    ['a longer name', () => store.db.exec(`update composerHeaders set value = '{"name":"longer"}'`)],
  ])('sees %s', (_, change) => {
    change()
    nowMs += 60_000
    expect(pass().didRead).toBe(true)
  })

  test('looks at most every five seconds, and then sees what it left', () => {
    putHeader(store.db, { composerId: 'b', recency: nowMs + 1, value: { name: 'two' } })
    nowMs += 4999
    expect(pass()).toMatchObject({ didRead: false, end: { state: 'ok', again: [countLater] } })
    nowMs += 1
    expect(pass()).toMatchObject({ didRead: true, end: { again: [] } })
  })

  test('works at once after the clock was set back', () => {
    putHeader(store.db, { composerId: 'b', recency: nowMs + 1, value: { name: 'two' } })
    nowMs -= 3_600_000
    expect(pass()).toMatchObject({ didRead: true })
  })

  test('misses a value updated in place at the same length, which the next count finds', () => {
    say('a')
    put(LIST, [{ composerId: 'a', workspaceIdentifier: { uri: 'file:///one' } }])
    indexer.pass()
    const text = JSON.stringify([{ composerId: 'a', workspaceIdentifier: { uri: 'file:///two' } }])
    store.db.prepare(`update ItemTable set value = ? where key = '${LIST}'`).run(text)
    expect(pass()).toMatchObject({ didRead: false })
    indexer.pass('count')
    expect(project('a')).toEqual(['two', 'header-list'])
  })
})

test('secrets beside the lists are not read', () => {
  headerListOf30.write(store.db)
  indexer.pass('full')
  expect(indexer.mirror.serialize().includes('canary-token')).toBe(false)
})
