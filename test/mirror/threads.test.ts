import { readdirSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { casesBeside, mapStrings, writtenOut } from '../helpers/cases.ts'
import { Chance, headers, type Store } from '../helpers/cursor.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { World } from '../helpers/world.ts'

type Row = Readonly<Record<string, unknown>>
type Rows = Readonly<Record<string, Row>>

const cases = casesBeside(import.meta.url)
const orders = cases<[string, Row, Rows, [string, number | null][]]>('orders')
const times = cases<[string, Row, Rows, [string | null, string | null][]]>('times')
const titles = writtenOut(cases<[string, Row, string | null, [string, string]]>('titles'))

interface Listed<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

interface Chat {
  readonly project: { readonly name: string } | null
}

function write(store: Store, chat: string, facts: Row, rows: Rows): void {
  for (const [id, row] of Object.entries(rows)) {
    store.message(chat, id, { type: 2, text: `said ${id} in ${chat}`, ...row })
  }
  store.chat(chat, facts)
}

describe('a chat', () => {
  let world: World
  beforeAll(async () => {
    world = await World.open()
    const store = world.home.global()
    for (const [name, facts, rows] of [...orders, ...times]) write(store, name, facts, rows)
    for (const [name, facts, text] of titles) {
      write(
        store,
        name,
        { ...facts, fullConversationHeadersOnly: headers(['m']) },
        { m: { type: text === null ? 2 : 1 } },
      )
      if (text !== null) store.message(name, 'm', { type: 1, text })
    }
    await world.sync()
  })
  afterAll(() => world.remove())

  test.each(orders)('has an order: %s', async (name, _facts, _rows, expected) => {
    const thread = await world.thread(name)
    expect(thread.map(([id, position]) => [id, position])).toEqual(expected)
  })

  test.each(times)('has times: %s', async (name, _facts, _rows, expected) => {
    const path = `/api/chats/${encodeURIComponent(name)}/messages`
    const { items } = await world.get<Listed<{ createdAt: string | null; createdAtSource: string | null }>>(path)
    expect(items.map(({ createdAt, createdAtSource }) => [createdAt, createdAtSource])).toEqual(expected)
  })

  test.each(titles)('has a title: %s', async (name, _facts, _text, [title, titleSource]) => {
    expect(await world.get(`/api/chats/${encodeURIComponent(name)}`)).toMatchObject({ title, titleSource })
  })
})

describe('while Cursor writes', () => {
  let world: World
  let store: Store
  beforeEach(async () => {
    world = await World.open()
    store = world.home.global()
  })
  afterEach(() => world.remove())

  const synced = async (full = false): Promise<void> => {
    await world.sync(full)
    store = world.home.global()
  }

  test('messages of one millisecond keep their order, also in a search, however many there are', async () => {
    const ids = Array.from({ length: 1100 }, (_, at) => `m${at}`)
    store.db.transaction(() => {
      for (const id of ids) store.message('c', id, { type: 1, text: `walnut ${id}`, createdAt: 1_760_000_000_000 })
      store.chat('c', { fullConversationHeadersOnly: headers(ids) })
    })()
    await synced()
    const read: string[] = []
    const found: string[] = []
    for (let offset = 0; offset < ids.length; offset += 200) {
      const page = `limit=200&offset=${offset}`
      const thread = await world.get<Listed<{ id: string }>>(`/api/chats/c/messages?${page}`)
      read.push(...thread.items.map(({ id }) => id))
      const hits = await world.get<Listed<{ message: { id: string } }>>(`/api/search?q=walnut&sort=oldest&${page}`)
      found.push(...hits.items.map(({ message }) => message.id))
    }
    expect(read).toEqual(ids)
    expect(found).toEqual(ids)
  })

  test('an orphan with the content of a message of the thread is found once, whichever of them is listed', async () => {
    const rows = { m: { text: 'the same words' }, twin: { text: 'the same words' }, own: { text: 'other words' } }
    write(store, 'c', { fullConversationHeadersOnly: headers(['m']) }, rows)
    await synced()
    expect(await world.found('same')).toEqual(['c'])
    expect(await world.found('words')).toEqual(['c', 'c'])
    expect(await world.get('/api/chats/c')).toMatchObject({ messageCount: 1 })
    store.chat('c', { fullConversationHeadersOnly: headers(['twin']) })
    await synced()
    expect(await world.found('same')).toEqual(['c'])
  })

  test('a message whose time changes moves, and is found once', async () => {
    const at = (second: number) => ({ type: 1, createdAt: 1_760_000_000_000 + second * 1000 })
    const rows = { moving: { text: 'walnut', ...at(1) }, staying: { text: 'pear', ...at(5) } }
    write(store, 'c', {}, rows)
    await synced()
    write(store, 'c', {}, { ...rows, moving: { text: 'walnut', ...at(9) } })
    await synced()
    expect((await world.thread('c')).map(([id]) => id)).toEqual(['staying', 'moving'])
    expect(await world.found('walnut')).toEqual(['c'])
  })

  test('a message in the chat’s own row that is no longer there is kept, as an orphan', async () => {
    const conversation = ['m1', 'm2'].map((bubbleId) => ({ bubbleId, type: 1, text: `said ${bubbleId}` }))
    store.chat('c', { conversation })
    await synced()
    store.chat('c', { conversation: conversation.slice(0, 1) })
    await synced()
    expect(await world.thread('c')).toEqual([
      ['m1', 0, 'said m1'],
      ['m2', null, 'said m2'],
    ])
    expect(await world.losses()).toEqual(['message c m2'])
  })

  test('a row of a chat that is torn changes neither facts nor order', async () => {
    write(store, 'c', { name: 'Named', fullConversationHeadersOnly: headers(['b', 'a']) }, { a: {}, b: {} })
    await synced()
    const before = [await world.get('/api/chats/c'), await world.thread('c')]
    store.put('composerData:c', '{"name":"Torn","fullConv')
    await synced()
    expect([await world.get('/api/chats/c'), await world.thread('c')]).toEqual(before)
  })

  test('a list cannot hide a chat by calling it a draft', async () => {
    write(store, 'c', { fullConversationHeadersOnly: headers(['m']) }, { m: { type: 1 } })
    const head = { type: 'head', composerId: 'c', isDraft: true, isArchived: true }
    store.item('composer.composerHeaders', { allComposers: [head] })
    await synced()
    const { items } = await world.get<Listed<{ id: string }>>('/api/chats?archived=true')
    expect(items.map(({ id }) => id)).toEqual(['c'])
  })

  test('a call that fails after it was read is found as an error, although no word changed', async () => {
    const call = (status: string) => ({
      text: '',
      toolFormerData: { name: 'read_file', status, params: '{"path":"a"}' },
    })
    write(store, 'c', { fullConversationHeadersOnly: headers(['m']) }, { m: call('running') })
    await synced()
    expect(await world.found('has:error')).toEqual([])
    write(store, 'c', { fullConversationHeadersOnly: headers(['m']) }, { m: call('error') })
    await synced()
    expect([await world.found('has:error'), await world.found('tool:read_file')]).toEqual([['c'], ['c']])
  })

  test('an archive holds each later state of a chat, whatever changed', async () => {
    const ids = ['m1', 'm2']
    const both = { m1: { type: 1, text: 'one' }, m2: { text: 'two' } }
    write(store, 'c', { name: 'A', fullConversationHeadersOnly: headers(ids) }, both)
    await synced()
    const changes: Readonly<Record<string, () => void>> = {
      'other words of the same length': () => store.message('c', 'm1', { type: 1, text: 'eno' }),
      'another order': () => store.chat('c', { name: 'A', fullConversationHeadersOnly: headers(ids.toReversed()) }),
      'another name': () => store.chat('c', { name: 'B', fullConversationHeadersOnly: headers(ids.toReversed()) }),
      'a project': () => void world.home.workspace('ws', { folder: 'file:///home/ada/shop' }, ['c']),
      'a message that is gone': () => store.delete('bubbleId:c:m2'),
      'the deletion of the chat': () => store.deleteChat('c'),
    }
    const archived = async (): Promise<number> => {
      const { name } = await world.post<{ name: string }>('/api/archives')
      await waitUntil('the archive', async () => {
        const { state } = await world.get<{ state: string }>(`/api/archives/${name}`)
        return state !== 'running'
      })
      const entries = readdirSync(world.settings.archives.dir, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile() && entry.parentPath.includes('objects')).length
    }
    expect(await archived()).toBe(1)
    for (const [at, [what, change]] of Object.entries(changes).entries()) {
      change()
      await synced(true)
      expect([what, await archived()]).toEqual([what, at + 2])
    }
    expect(await archived()).toBe(Object.keys(changes).length + 1)
  })
})

describe('any number of chats that Cursor writes again and again', () => {
  const ids = ['m1', 'm2', 'm3', 'm4', 'm5'] as const
  const words = ['walnut', 'hazel', 'almond'] as const
  const chats = Array.from({ length: 40 }, (_, at) => `chat${at}`)
  const call = { name: 'grep', status: 'completed', params: JSON.stringify({ pattern: 'walnut' }) }

  /** There are few texts, so a message often has a text that another one had. */
  function change(chance: Chance, store: Store, chat: string): void {
    const id = chance.pick(ids)
    const at = chance.between(0, 9)
    const listed = ids.filter(() => chance.next() < 0.8)
    const order = chance.next() < 0.2 ? listed.toReversed() : listed
    if (at < 2) return store.chat(chat, { createdAt: 1_760_000_000_000, fullConversationHeadersOnly: headers(order) })
    store.message(chat, id, {
      type: chance.next() < 0.9 ? 1 + (ids.indexOf(id) % 2) : 2,
      text: Array.from({ length: chance.between(1, 2) }, () => chance.pick(words)).join(' '),
      ...(at === 9 ? {} : { createdAt: 1_760_000_000_000 + ids.indexOf(id) * 1000 }),
      ...(at === 8 ? { toolFormerData: call } : {}),
    })
  }

  /** What is told of them, without the order of what is in no thread. */
  async function tellAll(world: World): Promise<Record<string, unknown>> {
    const answers: Record<string, unknown> = {}
    for (const chat of chats) {
      const { deletedAt: _, ...facts } = await world.get<{ deletedAt: unknown }>(`/api/chats/${chat}`)
      answers[chat] = facts
      answers[`${chat} thread`] = (await world.thread(chat)).map((one) => one.join(' ')).toSorted()
    }
    for (const word of words) answers[word] = (await world.found(`"${word}"`)).toSorted()
    answers['stats'] = await world.get('/api/stats?tz=UTC')
    return answers
  }

  test('are in the mirror as in one that reads them all at once', async () => {
    const world = await World.open()
    const chance = new Chance('again and again')
    const first = world.home.global()
    for (const chat of chats) {
      first.chat(chat, { createdAt: 1_760_000_000_000, fullConversationHeadersOnly: headers(ids.slice(0, 3)) })
      first.message(chat, 'm1', { type: 1, text: 'walnut' })
    }
    await world.sync()
    for (let round = 0; round < 10; round += 1) {
      const store = world.home.global()
      for (const chat of chats)
        for (let count = chance.between(0, 2); count > 0; count -= 1) change(chance, store, chat)
      await world.sync()
    }
    const anew = await World.open({ home: world.home })
    await anew.sync()
    expect(await tellAll(world)).toEqual(await tellAll(anew))
    await anew.close()
    await world.remove()
  })
})

const permutations = <Each>(all: readonly Each[]): Each[][] =>
  all.length < 2
    ? [[...all]]
    : all.flatMap((first, at) => permutations(all.toSpliced(at, 1)).map((others) => [first, ...others]))

describe('the projects of subagents', () => {
  const parent = (id: string) => ({ subagentInfo: { parentComposerId: id } })
  const inFolder = (name: string) => {
    const path = `/w/${name}`
    return { workspaceIdentifier: { id: name, uri: { scheme: 'file', path } } }
  }
  const families: readonly (readonly [string, Rows])[] = [
    ['a chain', { a: inFolder('shop'), b: parent('a'), c: parent('b') }],
    ['a chain with a project in its middle', { a: {}, b: { ...parent('a'), ...inFolder('shop') }, c: parent('b') }],
    ['a child that only its parent names', { a: { ...inFolder('shop'), subagentComposerIds: ['b'] }, b: {} }],
    ['a circle', { a: { ...parent('c'), ...inFolder('shop') }, b: parent('a'), c: parent('b') }],
  ]

  test('are the same for any order of writing', async () => {
    const world = await World.open()
    const all = families.flatMap(([name, family], at) =>
      permutations(Object.keys(family)).map((order, number) => ({ name, family, order, prefix: `f${at}o${number}` })),
    )
    const named = (value: Row, prefix: string): Row =>
      mapStrings(value, (text) => (/^[abc]$/.test(text) ? `${prefix}${text}` : text))
    for (let turn = 0; turn < 3; turn += 1) {
      const store = world.home.global()
      for (const { family, order, prefix } of all) {
        const id = order[turn]
        if (id === undefined) continue
        const facts = { ...family[id], fullConversationHeadersOnly: headers(['m']) }
        write(store, `${prefix}${id}`, named(facts, prefix), { m: { type: 1 } })
      }
      await world.sync()
    }
    for (const { name, family, order, prefix } of all) {
      for (const id of Object.keys(family)) {
        const { project } = await world.get<Chat>(`/api/chats/${prefix}${id}`)
        const place = project?.name ?? 'nowhere'
        expect([name, order, id, place]).toEqual([name, order, id, isAbove(name, id) ? 'nowhere' : 'shop'])
      }
    }
    await world.remove()
  })
})

/** The first chat of a chain whose second one has the project. */
const isAbove = (name: string, id: string): boolean => name === 'a chain with a project in its middle' && id === 'a'
