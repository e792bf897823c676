import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { World } from '../helpers/world.ts'

// What was not purged stays as it is.
let world: World

beforeEach(async () => {
  world = await World.open()
  writeAllEras(world.home, world.cursorHome)
})
afterEach(() => world.remove())

type Threads = Readonly<Record<string, readonly string[]>>

interface Listed<Item> {
  readonly items: readonly Item[]
}

/** `<time> <parts>` of all messages, by chat. What has no time has that of its chat. */
async function tellThreads(within = world): Promise<Threads> {
  const { items } = await within.get<Listed<{ id: string; lastActivityAt: string | null }>>(
    '/api/chats?limit=200&subagents=true&includeEmpty=true',
  )
  const threads: Record<string, readonly string[]> = {}
  for (const { id, lastActivityAt } of items) {
    const path = `/api/chats/${encodeURIComponent(id)}/messages?limit=200&includeOrphans=true`
    const { items: messages } = await within.get<Listed<{ createdAt: string | null; parts: unknown }>>(path)
    threads[id] = messages.map(({ createdAt, parts }) => `${createdAt ?? lastActivityAt} ${JSON.stringify(parts)}`)
  }
  return threads
}

/** Facts of chats, threads and numbers. */
async function tellAll(within: World): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = { threads: await tellThreads(within) }
  for (const id of Object.keys(answers['threads'] as Threads)) {
    answers[id] = await within.get(`/api/chats/${encodeURIComponent(id)}`)
  }
  for (const path of ['stats?tz=UTC', 'tokens?groupBy=day&tz=UTC', 'losses', 'projects?limit=200']) {
    answers[path] = await within.get(`/api/${path}`)
  }
  for (const word of ['the', 'said', 'told']) answers[word] = (await within.found(word)).toSorted()
  return answers
}

test('after a purge of a chat, everything else is as if Cursor had never had it', async () => {
  const id = 'map-1'
  await world.sync()
  expect(await world.post('/api/purge', { chats: [id], dryRun: false })).toMatchObject({ chatCount: 1 })
  world.home.global().deleteChat(id)
  const never = await World.open({ home: world.home })
  await never.sync()
  expect(await tellAll(world)).toEqual(await tellAll(never))
  await never.close()
})

const BORDER = '2025-11-03T00:00:00.000Z'
const chats = ['map-1', 'era-both', 'era-flat']

interface Purge {
  readonly scope: object
  /** Whether a message stays. */
  keeps(message: string, chat: string): boolean
}

const purges: Readonly<Record<string, Purge>> = {
  'a text in two stores': { scope: { match: 'told by BOTH' }, keeps: (message) => !/told by both/i.test(message) },
  'a word in many messages': { scope: { match: 'said in' }, keeps: (message) => !/said in/i.test(message) },
  'several chats': { scope: { chats }, keeps: (_, chat) => !chats.includes(chat) },
  'all that is early': { scope: { before: BORDER }, keeps: (message) => !/^\d/.test(message) || message >= BORDER },
}

test.each(Object.entries(purges))('a purge of %s takes nothing else, and brings nothing back', async (_, purge) => {
  await world.sync()
  const before = await tellThreads()
  const { messages } = await world.post<{ messages: number }>('/api/purge', { ...purge.scope, dryRun: false })
  expect(messages).toBeGreaterThan(0)
  const after = await tellThreads()
  for (const [chat, thread] of Object.entries(before)) {
    expect([chat, after[chat] ?? []]).toEqual([chat, thread.filter((message) => purge.keeps(message, chat))])
  }
  await world.sync(true)
  expect(await tellThreads()).toEqual(after)
})
