import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Chat } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import type { Project } from '../../../src/api/answers/projects.ts'
import type { Status } from '../../../src/api/answers/status.ts'
import type { TokensAnswer } from '../../../src/api/answers/tokens.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { headers, type Store } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'

const cases = casesBeside(import.meta.url)

const dayMs = (day: number): number => Date.UTC(2026, 2, day, 12)
const thread = Array.from({ length: 10 }, (_, index) => `m${index}`)
/** Stored in another form than people type it. */
const accents = 'büro ひば'.normalize('NFD')
const withOrphans = [...thread, 'orphan-one', 'orphan-two']

let world: World

/** A chat of one day with one message, unless the test says more. */
function add(store: Store, id: string, day: number | null, facts: object = {}, ids: readonly string[] = ['m0']): void {
  const at = day === null ? {} : { createdAt: dayMs(day), lastUpdatedAt: dayMs(day) }
  store.chat(id, { name: `Chat ${id}`, ...at, fullConversationHeadersOnly: headers(ids), ...facts })
  const createdAt = day === null ? {} : { createdAt: new Date(dayMs(day)).toISOString() }
  for (const each of ids) store.message(id, each, { type: 1, text: `${each} of ${id}`, ...createdAt })
}

function call(name: string, path: string, status = 'completed'): Record<string, unknown> {
  const rawArgs = JSON.stringify({ target_file: path })
  return {
    type: 2,
    text: '',
    toolFormerData: { name, toolCallId: `${name} ${path}`, status, rawArgs, params: rawArgs },
  }
}

beforeAll(async () => {
  world = await World.open()
  const { home } = world
  const store = home.global()
  add(store, 'plain', 1, { createdOnBranch: 'main', name: 'Fix the login redirect' })
  add(store, 'draft', 2, { isDraft: true })
  add(store, 'empty', 3, {}, [])
  add(store, 'sent', 4, { subagentInfo: { parentComposerId: 'plain' } })
  add(store, 'archived', 5, {
    createdOnBranch: 'fix/login',
    isArchived: true,
    name: 'Cache invalidation of user names',
  })
  add(store, 'deleted', 6)
  add(store, 'asked', 7, { unifiedMode: 'ask', modelConfig: { modelName: 'gpt-5' }, name: '数据库迁移' })
  add(store, 'mixed', 8, { unifiedMode: 'agent', createdAt: dayMs(2) }, ['m0', 'm1'])
  for (const [index, modelName] of ['gpt-5', 'sonnet'].entries()) {
    store.message('mixed', `m${index}`, {
      type: 2,
      text: 'a model said this',
      createdAt: new Date(dayMs(index === 0 ? 2 : 8)).toISOString(),
      modelInfo: { modelName },
    })
  }
  add(store, 'talk', null, {}, thread)
  for (const id of ['orphan-one', 'orphan-two']) store.message('talk', id, { type: 2, text: `dropped ${id}` })
  add(store, 'work', 9, {}, ['w1', 'w2', 'w3', 'w4'])
  store.message('work', 'w1', call('read_file', 'a.ts'))
  store.message('work', 'w2', call('search_replace', 'a.ts'))
  store.message('work', 'w3', call('search_replace', 'b.ts'))
  store.message('work', 'w4', call('search_replace', 'c.ts', 'error'))
  home.workspace('w1', { folder: 'file:///home/ada/shop' }, ['plain', 'draft', 'empty', 'sent'])
  const folders = [
    'home/eve/shop',
    'c%3A/Users/a/till',
    "home/ada/it's 100%25",
    `home/ada/${encodeURIComponent(accents)}`,
  ]
  for (const [index, folder] of folders.entries()) {
    const id = `sent-${index}`
    add(store, id, 10 + index, { subagentInfo: { parentComposerId: 'none' } })
    home.workspace(`w${index + 2}`, { folder: `file:///${folder}` }, [id])
  }
  await world.sync()
  home.global().deleteChat('deleted')
  await world.sync(true)
})
afterAll(() => world.remove())

async function idsOf(query: string): Promise<string[]> {
  const { items, total } = await world.get<Page<Chat>>(`/api/chats?tz=UTC&${query}`)
  expect(total > items.length).toBe(query.includes('limit'))
  return items.map(({ id }) => id)
}

describe('the list of chats', () => {
  test.each(cases<[string, string, string[]]>('chats'))('%s', async (_, query, expected) => {
    expect(await idsOf(query)).toEqual(expected)
  })

  test.each(cases<[string, string, string[]]>('titles'))('by title: %s', async (_, words, expected) => {
    expect((await idsOf(`q=${encodeURIComponent(words)}`)).toSorted()).toEqual(expected)
  })

  test('by size, the largest first', async () => {
    const { items } = await world.get<Page<Chat>>('/api/chats?sort=size')
    const sizes = items.map(({ sizeBytes }) => sizeBytes)
    expect(sizes).toEqual(sizes.toSorted((one, other) => other - one))
    expect(new Set(sizes).size).toBeGreaterThan(3)
  })

  test('names what is known of a chat, and null for what is not', async () => {
    expect(await world.get('/api/chats/mixed')).toMatchObject({
      title: 'Chat mixed',
      titleSource: 'cursor',
      mode: 'agent',
      models: ['sonnet', 'gpt-5'],
      messageCount: 2,
      userMessageCount: 0,
      createdAt: new Date(dayMs(2)).toISOString(),
      lastActivityAt: new Date(dayMs(8)).toISOString(),
    })
    expect(await world.get('/api/chats/deleted')).toMatchObject({
      deletedInCursor: true,
      deletedAt: expect.any(String),
    })
    expect(await world.get('/api/chats/talk')).toMatchObject({
      project: null,
      createdAt: null,
      lastActivityAt: null,
      mode: null,
      models: [],
      parentChatId: null,
      deletedAt: null,
      linesAdded: null,
      contextTokens: null,
      recordedCostCents: null,
    })
  })
})

test('one chat counts its files by use, and its tools by the outcome of their calls', async () => {
  expect(await world.get('/api/chats/work')).toMatchObject({
    files: [
      { path: 'a.ts', reads: 1, edits: 1, attached: 0 },
      { path: 'b.ts', reads: 0, edits: 1, attached: 0 },
    ],
    toolCounts: [
      { name: 'search_replace', calls: 3, errors: 1, rejected: 0 },
      { name: 'read_file', calls: 1, errors: 0, rejected: 0 },
    ],
  })
})

test('a chat and its subagents name each other', async () => {
  expect(await world.get('/api/chats/plain')).toMatchObject({
    parentChatId: null,
    childChatIds: ['sent'],
    children: [{ id: 'sent', title: 'Chat sent', messageCount: 1, isSubagent: true, deletedInCursor: false }],
  })
  expect(await world.get('/api/chats/sent')).toMatchObject({ parentChatId: 'plain', isSubagent: true })
})

describe('a thread of ten with two orphans', () => {
  const page = (query: string): Promise<Page<Message>> => world.get(`/api/chats/talk/messages?${query}`)
  const ids = ({ items }: Page<Message>): string[] => items.map(({ id }) => id)

  test("is in Cursor's order, with orphans at the end on request", async () => {
    expect(await page('')).toMatchObject({ total: 10, limit: 20, offset: 0 })
    expect(ids(await page(''))).toEqual(thread)
    const all = await page('includeOrphans=true')
    expect([ids(all), all.total]).toEqual([withOrphans, 12])
    expect(all.items.at(-1)).toMatchObject({ isOrphan: true, position: null })
  })

  test('gives any page, even one with both messages and orphans', async () => {
    const anyPage = fc.tuple(fc.nat(15), fc.integer({ min: 1, max: 15 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(anyPage, async ([offset, limit, orphans]) => {
        const found = ids(await page(`offset=${offset}&limit=${limit}&includeOrphans=${orphans}`))
        expect(found).toEqual((orphans ? withOrphans : thread).slice(offset, offset + limit))
      }),
    )
  })

  test('centres a page on a message as far as possible, and says where the page starts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(11), fc.integer({ min: 1, max: 15 }), async (index, limit) => {
        const found = await page(`around=${withOrphans[index]}&limit=${limit}&includeOrphans=true`)
        const centred = index - Math.floor(limit / 2)
        const offset = Math.max(0, Math.min(centred, withOrphans.length - limit))
        expect([found.offset, ids(found)]).toEqual([offset, withOrphans.slice(offset, offset + limit)])
      }),
    )
  })

  test('is centred on a message by the beginning of its id, if it has four characters and fits no other', async () => {
    expect(await page('around=orphan-t&limit=1&includeOrphans=true')).toMatchObject({ offset: 11 })
    await expect(page('around=orp&includeOrphans=true')).rejects.toThrow('message-not-found')
    await expect(page('around=orph&includeOrphans=true')).rejects.toThrow(
      '2 messages of the chat have an id that begins',
    )
  })
})

describe('projects', () => {
  const list = (): Promise<Page<Project>> => world.get('/api/projects?limit=200')

  test('are listed by last activity, then by name; a window without chats is a project', async () => {
    const { items, total } = await list()
    expect(items.map(({ name }) => name)).toEqual(['shop', accents, "it's 100%", 'shop', 'till'])
    expect(total).toBe(5)
    expect((await world.get<Page<Project>>('/api/projects?limit=1&offset=1')).items).toEqual([items[1]])
  })

  test('count listed chats and the messages of all chats, and are the same alone and in the list', async () => {
    const { items } = await list()
    expect(items[0]).toMatchObject({
      path: '/home/ada/shop',
      workspaceIds: ['w1'],
      chatCount: 1,
      messageCount: 2,
      firstActivityAt: new Date(dayMs(1)).toISOString(),
      lastActivityAt: new Date(dayMs(1)).toISOString(),
    })
    expect(items[4]).toMatchObject({ chatCount: 0, messageCount: 1, firstActivityAt: null, lastActivityAt: null })
    for (const project of items) expect(await world.get(`/api/projects/${project.id}`)).toEqual(project)
  })

  const filtered = async (words: readonly string[]): Promise<string[]> => {
    const query = words.map((word) => `project=${encodeURIComponent(word)}`).join('&')
    const { rows } = await world.get<TokensAnswer>(`/api/tokens?groupBy=project&${query}`)
    return rows.flatMap(({ key }) => key ?? [])
  }

  test.each(cases<[string, string[], string[]]>('projects'))('a filter takes %s', async (_, words, paths) => {
    const { items } = await list()
    const expected = items.filter(({ path }) => path !== null && paths.includes(path)).map(({ id }) => id)
    expect(expected).toHaveLength(paths.length)
    expect((await filtered(words)).toSorted()).toEqual(expected.toSorted())
  })

  test('an accent is found by either of its forms', async () => {
    const id = (await list()).items[1]?.id
    for (const form of ['NFC', 'NFD']) {
      expect(await filtered([accents.normalize(form)])).toEqual([id])
      expect(await filtered([`/home/ada/${accents.normalize(form)}/`])).toEqual([id])
    }
  })
})

test('every row of a store is read, an issue, or noise', async () => {
  const { coverage, counts } = await world.get<Status>('/api/status')
  expect(coverage.read + coverage.issues + coverage.noise).toBe(coverage.rows)
  expect(counts).toEqual({ projects: 5, chats: 7, subagents: 5, messages: 25, orphans: 2, deleted: 1 })
})
