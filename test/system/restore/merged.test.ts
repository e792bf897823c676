import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { archiveAll } from '../../helpers/restored-daemon.ts'
import { World } from '../../helpers/world.ts'
import type { ArchiveRestored } from '../../../src/api/answers/archives.ts'

let root: string
let worlds: World[]
/** The machine that makes archives, and the one that restores them. */
let first: World
let second: World
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'cursordex-merged-'))
  worlds = []
  ;[first, second] = [await open(), await open()]
})
afterEach(async () => {
  for (const world of worlds) await world.remove()
  rmSync(root, { recursive: true, force: true })
})

const archives = (): string => join(root, 'archives')

/** A machine that archives into the common folder. */
async function open(): Promise<World> {
  const world = await World.open({ config: { archives: { dir: archives() }, search: { deadlineMs: 30_000 } } })
  worlds.push(world)
  return world
}

/** Writes a chat whose messages are these texts; the first word of each is its id. */
async function say(world: World, chat: string, texts: readonly string[], more: object = {}): Promise<void> {
  const store = world.home.global()
  const ids = texts.map((text) => text.split(' ')[0] ?? '')
  for (const [at, id] of ids.entries()) {
    const createdAt = new Date(Date.UTC(2026, 0, 5, 9, at)).toISOString()
    store.message(chat, id, { type: 1, text: texts[at], createdAt })
  }
  store.chat(chat, { createdAt: Date.UTC(2026, 0, 5), name: chat, fullConversationHeadersOnly: headers(ids), ...more })
  await world.sync()
}

const restore = (world = second, name = 'newest'): Promise<ArchiveRestored> =>
  world.post(`/api/archives/${name}/restore`, { from: archives() })

interface ChatAnswer {
  readonly title: string
  readonly source: string
  readonly origin: string | null
  readonly deletedInCursor: boolean
  readonly deletedAt: string | null
  readonly messageCount: number
}
const chat = (world: World, id: string): Promise<ChatAnswer> => world.get<ChatAnswer>(`/api/chats/${id}`)

/** `id:place` of each message, with `:gone` if Cursor does not have it. */
async function placesOf(world: World, id: string): Promise<string[]> {
  interface Message {
    readonly id: string
    readonly position: number | null
    readonly deletedInCursor: boolean
  }
  const { items } = await world.get<{ items: Message[] }>(`/api/chats/${id}/messages?includeOrphans=true`)
  return items.map(
    (message) => `${message.id}:${message.position ?? 'orphan'}${message.deletedInCursor ? ':gone' : ''}`,
  )
}

/** Flips a bit in the middle of a file of the archive. */
function harm(...below: readonly string[]): void {
  const path = join(archives(), ...below)
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
  writeFileSync(path, bytes)
}

const trees = ['a1 plant an apple', 'a2 the apple is planted', 'a3 and a walnut']

test('a restored chat is found, is marked as deleted, is no new loss, and keeps its origin in the next archive', async () => {
  await say(first, 'trees', trees)
  await archiveAll(first)
  expect(await restore()).toMatchObject({ chats: 1, messages: 3, added: 3, addedChats: 1 })
  expect(await placesOf(second, 'trees')).toEqual(['a1:0:gone', 'a2:1:gone', 'a3:2:gone'])
  const restored = await chat(second, 'trees')
  expect(restored).toMatchObject({ title: 'trees', source: 'archive', deletedInCursor: true, deletedAt: null })
  expect([await second.found('walnut'), await second.losses()]).toEqual([['trees'], []])
  rmSync(archives(), { recursive: true })
  await archiveAll(second)
  const third = await open()
  await restore(third)
  expect(await chat(third, 'trees')).toMatchObject({ origin: restored.origin })
})

describe.each([
  ['before', true],
  ['after', false],
])('a chat that Cursor has %s the restore', (_, isBefore) => {
  beforeEach(async () => {
    await say(first, 'trees', trees)
    await archiveAll(first)
    if (!isBefore) await restore()
    await say(second, 'trees', ['a1 plant an apple', 'a2 the apple was planted'], { name: 'Orchard' })
    if (isBefore) await restore()
  })

  test('belongs to Cursor, and keeps what only the archive has', async () => {
    expect(await placesOf(second, 'trees')).toEqual(['a1:0', 'a2:1', 'a3:orphan:gone'])
    const held = { title: 'Orchard', source: 'composer-kv', deletedInCursor: false, messageCount: 2 }
    expect(await chat(second, 'trees')).toMatchObject(held)
    const found = await Promise.all(['was', 'is', 'walnut'].map((word) => second.found(`${word} in:text`)))
    expect([found, await second.losses()]).toEqual([[['trees'], [], ['trees']], []])
  })

  test('is lost once when Cursor loses it again, and is unchanged when it is restored again', async () => {
    expect(await restore()).toMatchObject({ added: 0, addedChats: 0 })
    expect(await second.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
    for (const key of ['composerData:trees', 'bubbleId:trees:a1', 'bubbleId:trees:a2']) second.home.global().delete(key)
    await second.sync(true)
    expect(await second.losses()).toEqual(['chat trees'])
    expect(await chat(second, 'trees')).toMatchObject({ deletedInCursor: true, deletedAt: expect.any(String) })
  })
})

test('a newer archive of a restored chat adds its new messages and name, and an older one changes nothing', async () => {
  await say(first, 'trees', trees)
  const older = await archiveAll(first)
  await say(first, 'trees', [...trees, 'a4 and a pear'], { name: 'Orchard', lastUpdatedAt: Date.UTC(2026, 0, 6) })
  const newer = await archiveAll(first)
  for (const { name } of [older, newer, older]) await restore(second, name)
  expect(await chat(second, 'trees')).toMatchObject({ title: 'Orchard', messageCount: 4 })
  expect((await placesOf(second, 'trees')).at(-1)).toBe('a4:3:gone')
})

test('a restore silently skipped a damaged newest archive, and chats that only this one names were missing', async () => {
  await say(first, 'old', ['o1 plum'])
  await archiveAll(first)
  await say(first, 'new', ['n1 plum'])
  const { name } = await archiveAll(first)
  harm('runs', `${name}.json`)
  expect(await restore()).toMatchObject({ name, ok: false, manifest: expect.stringContaining(name), addedChats: 2 })
  expect((await second.found('plum')).toSorted()).toEqual(['new', 'old'])
})

test('if the newest archive was of one project, only that was restored, without a warning', async () => {
  await say(first, 'all', ['a1 plum'])
  await say(first, 'shop', ['s1 pear'])
  await archiveAll(first)
  await say(first, 'shop', ['s1 pear', 's2 pear'])
  const { name } = await archiveAll(first, { scope: 'pear' })
  const counts = { name, runs: 2, manifest: null, damaged: [], chats: 2, messages: 3 }
  expect(await restore()).toMatchObject({ ...counts, added: 3, addedChats: 2 })
  expect(await restore()).toMatchObject({ ...counts, added: 0, addedChats: 0 })
})

test('from a folder that two machines share, only the chats of the last one were restored', async () => {
  await say(first, 'ours', ['o1 plum'])
  await say(first, 'both', ['b1 plum', 'b2 plum'])
  await say(second, 'both', ['b1 plum', 'b3 plum'])
  for (const world of [first, second]) await archiveAll(world)
  const third = await open()
  const counts = { chats: 2, messages: 3, damaged: [] }
  expect(await restore(third)).toMatchObject({ ...counts, addedChats: 2 })
  const held = (await third.thread('both')).map(([id]) => id)
  expect(held.toSorted()).toEqual(['b1', 'b2', 'b3'])
  expect(await restore(third)).toMatchObject({ ...counts, added: 0, addedChats: 0 })
})

test('a named archive restores exactly what it names', async () => {
  await say(first, 'one', ['o1 plum'])
  const { name } = await archiveAll(first)
  await say(first, 'two', ['t1 plum'])
  await archiveAll(first)
  expect(await restore(second, name)).toMatchObject({ name, runs: 1, chats: 1, addedChats: 1 })
  expect(await second.found('plum')).toEqual(['one'])
})
