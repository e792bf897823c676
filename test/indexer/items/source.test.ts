import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Again } from '../../../src/model/pass.ts'
import { sourceNum } from '../../../src/mirror/sources/sources.ts'
import { globalItemsSource } from '../../../src/indexer/sources/items/read.ts'
import { casesBeside, writtenOut } from '../../helpers/cases.ts'
import { headers, type CursorHome, type Store } from '../../helpers/cursor.ts'
import {
  globalTabs,
  headerListOf30,
  headerTableOf39,
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

test('what lists say about a chat that is in no store makes a chat without messages, if they name it', async () => {
  for (const era of listEras) era.write(store.db)
  await indexer.pass()
  const eras = listEras.filter((era) => era !== headerTableOf39)
  const named = eras.flatMap(({ heads }) => heads.flatMap(({ chatId, name }) => (name === null ? [] : chatId)))
  expect(new Set(indexer.chats.map(({ id, messageCount }) => `${id} ${messageCount}`))).toEqual(
    new Set(named.map((id) => `${id} 0`)),
  )
  expect(indexer.issues).toEqual([])
})

describe('tabs', () => {
  const tabOf = (tabId: string, ...texts: readonly string[]) => ({
    tabId,
    bubbles: texts.map((text, at) => ({ type: at % 2 === 0 ? 'user' : 'ai', id: `${tabId}-${at}`, text })),
  })

  test('under both keys are read where they have the most messages', async () => {
    put(TABS, { tabs: [tabOf('t', 'a'), tabOf('new', 'a')] })
    put(OLD_TABS, { tabs: [tabOf('t', 'a', 'b'), tabOf('old', 'a')] })
    await indexer.pass()
    expect(idsAndCounts()).toEqual([
      ['new', 1],
      ['old', 1],
      ['t', 2],
    ])
  })

  test('that are deleted are kept, and those under the other key exist', async () => {
    globalTabs.write(store.db)
    await indexer.pass()
    expect(indexer.chats).toMatchObject(
      globalTabs.chats.map(({ id }) => ({ id, project: null, source: 'global-items' })),
    )
    put(TABS, { tabs: [] })
    await indexer.pass('keys')
    const deleted = indexer.chats.filter(({ deletedInCursor }) => deletedInCursor)
    expect(deleted.map(({ id }) => id)).toEqual(['global-tab-1', 'global-tab-2'])
  })

  test('stay if only the lists change', async () => {
    globalTabs.write(store.db)
    await indexer.pass()
    const before = [indexer.chats, indexer.counts]
    for (const list of [[], null]) {
      put(LIST, list)
      expect(await indexer.pass()).toMatchObject({ added: 0, changed: 0, gone: 0 })
      expect([indexer.chats, indexer.counts]).toEqual(before)
    }
  })

  const soundTab = { tabId: 'sound', bubbles: [{ type: 'user', id: 's', text: 'stays as it is' }] }

  test.each(writtenOut(cases<[string, string, string | null, string[]]>('damaged tabs')))(
    'that are damaged, %s, do not affect other items',
    async (_, value, issue, ids) => {
      say('head')
      put(TABS, value.replace('@', JSON.stringify(soundTab)))
      put(OLD_TABS, { tabs: [{ tabId: 'other', bubbles: [] }] })
      put(LIST, [{ composerId: 'head', name: 'Listed' }])
      await indexer.pass()
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
  async (_, value, issue) => {
    say('c')
    put(LIST, value)
    put('glass.localAgentProjects.v1', Buffer.from('[{"id":"p","workspace":{"uri":"file:///p"}}]'))
    put('glass.localAgentProjectMembership.v1', { c: 'p' })
    await indexer.pass()
    expect(indexer.issues).toEqual(issue === null ? [] : [`${LIST} ${issue}`])
    expect(project('c')).toEqual(['p', 'agent-project'])
  },
)

test('a torn list is an issue, and its former content stays', async () => {
  say('a')
  put(LIST, [{ composerId: 'a', name: 'one' }])
  await indexer.pass()
  put(LIST, '[{')
  await indexer.pass('keys')
  expect([indexer.chat('a')?.title, indexer.issues]).toEqual(['one', [`${LIST} bad-json`]])
  put(LIST, null)
  await indexer.pass('keys')
  expect(indexer.issues).toEqual([])
})

describe('a chat whose row names its workspace only by id has that workspace as its project', () => {
  const placed = async (workspaceId: string, value?: unknown): Promise<unknown> => {
    say('a')
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', workspaceId, ...(value === undefined ? {} : { value }) })
    await indexer.pass()
    return project('a')
  }

  test.each<[string, unknown]>([
    ['no value', undefined],
    ['a value without a root', { name: 'n', workspaceIdentifier: { id: 'w1' } }],
    ['a value that cannot be read', Buffer.from('{')],
  ])('beside %s', async (_, value) => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    expect(await placed('w1', value)).toEqual(['mill', 'header-table'])
  })

  test('if the value names a root, that root is used', async () => {
    home.workspace('w1', { folder: 'file:///yard/mill' })
    const value = { workspaceIdentifier: { id: 'w1', uri: { external: 'file:///yard/barn' } } }
    expect(await placed('w1', value)).toEqual(['barn', 'header-table'])
  })

  test.each(['empty-window', '1760000000000', 'gone', '..', '../w1', 'torn'])(
    '%s is not a workspace with a root',
    async (id) => {
      home.workspace('w1', { folder: 'file:///yard/mill' })
      home.workspace('torn', null)
      mkdirSync(join(home.userDir, 'workspaceStorage', 'torn', 'workspace.json'))
      expect(await placed(id)).toEqual([undefined, null])
    },
  )

  test('once the workspace exists', async () => {
    expect(await placed('w1')).toEqual([undefined, null])
    home.workspace('w1', { folder: 'file:///yard/mill' })
    await indexer.pass('keys')
    expect(project('a')).toEqual(['mill', 'header-table'])
  })
})

describe('the table of heads', () => {
  const atMs = Date.UTC(2026, 5, 1)
  const value = { composerId: 'a', name: 'Named', createdAt: atMs, isArchived: true }

  test.each(cases<[string, string, string | null]>('columns'))('is read without %s', async (_, columns, name) => {
    say('a')
    store.db.exec(`create table composerHeaders (${columns})`)
    const row = { composerId: 'a', createdAt: atMs, value: JSON.stringify(value) }
    const names = Object.keys(row).filter((each) => columns.includes(each))
    const marks = names.map((each) => `@${each}`)
    store.db.prepare(`insert into composerHeaders (${names.join(', ')}) values (${marks.join(', ')})`).run(row)
    await indexer.pass()
    expect(indexer.issues).toEqual([])
    const title = name ?? 'said in a'
    expect(indexer.chat('a')).toMatchObject({ title, createdAt: new Date(atMs).toISOString() })
  })

  test('gives nothing if none of its columns is known', async () => {
    say('a')
    store.db.exec(`create table composerHeaders (k text, v text); insert into composerHeaders values ('a', '{}')`)
    await indexer.pass()
    expect([indexer.chat('a')?.title, indexer.issues]).toEqual(['said in a', []])
  })

  test('gives a head for a row with a torn value, and for the other rows', async () => {
    say('a', 'b', 'c')
    makeHeaderTable(store.db, '3.19')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, value: Buffer.from('{"name":') })
    putHeader(store.db, { composerId: 'b', value: { name: 'Whole' } })
    putHeader(store.db, { composerId: 'c' })
    await indexer.pass()
    expect(indexer.issues).toEqual(['composerHeaders bad-json'])
    expect(indexer.chat('a')?.createdAt).toBe(new Date(atMs).toISOString())
    expect(indexer.chat('b')?.title).toBe('Whole')
  })

  test('prefers its columns to its values', async () => {
    say('a')
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', createdAt: atMs, isArchived: 0, value })
    await indexer.pass()
    expect(indexer.chat('a')).toMatchObject({ createdAt: new Date(atMs).toISOString(), isArchived: false })
  })

  test('does not treat an alternative answer as a subagent, whatever its column says', async () => {
    say('a', 'b')
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', isSubagent: 1, value: { isBestOfNSubcomposer: true } })
    putHeader(store.db, { composerId: 'b', isSubagent: 1, value: {} })
    await indexer.pass()
    expect(indexer.chats.map(({ isSubagent }) => isSubagent)).toEqual([false, true])
  })

  test('of many pages is read to its end', async () => {
    const last = 'c-1249'
    say(last)
    makeHeaderTable(store.db, '3.9')
    store.db.transaction(() => {
      for (let row = 0; row < 1250; row += 1) putHeader(store.db, { composerId: `c-${row}`, value: { name: `${row}` } })
    })()
    await indexer.pass()
    expect(indexer.chat(last)?.title).toBe('1249')
  })

  test('is more recent than the list of an older build with the same time', async () => {
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
    await indexer.pass()
    expect(indexer.chat('a')).toMatchObject({ title: 'As it is', isArchived: true })
  })
})

describe('a cheap pass', () => {
  const LOOK_EVERY_MS = 15_000

  /** The pass of this source alone. @returns when it wants the next one, or that it read the lists */
  async function pass(): Promise<readonly Again[] | 'read'> {
    const source = globalItemsSource(home.userDir)
    const request = { depth: 'tail', now: () => nowMs, turn: async () => undefined } as const
    const end = await source.pass(indexer.mirror, sourceNum(indexer.mirror, source), request)
    if ('state' in end) throw new Error(end.state)
    return end.isRead ? 'read' : end.again
  }

  beforeEach(async () => {
    makeHeaderTable(store.db, '3.9')
    putHeader(store.db, { composerId: 'a', recency: nowMs, lastUpdatedAt: nowMs, value: { name: 'one' } })
    await pass()
  })

  test('reads nothing if the file is unchanged', async () => {
    nowMs += 60_000
    expect(await pass()).toEqual([])
  })

  test('reads the lists of a file that changed at most every fifteen seconds, and then what it left', async () => {
    putHeader(store.db, { composerId: 'b', recency: nowMs + 1, value: { name: 'two' } })
    nowMs += LOOK_EVERY_MS - 1000
    expect(await pass()).toEqual([{ depth: 'keys', inMs: 1000 }])
    nowMs += 1000
    expect(await pass()).toBe('read')
    expect(await pass()).toEqual([])
  })

  test('works at once after the clock was set back', async () => {
    putHeader(store.db, { composerId: 'b', recency: nowMs + 1, value: { name: 'two' } })
    nowMs -= 3_600_000
    expect(await pass()).toBe('read')
  })
})

test('secrets beside the lists are not read', async () => {
  headerListOf30.write(store.db)
  await indexer.pass('values')
  expect(indexer.mirror.serialize().includes('canary-token')).toBe(false)
})
