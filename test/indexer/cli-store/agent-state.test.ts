import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import { Chance } from '../../helpers/cursor/chance.ts'
import { bytesField, cliFolder, CliStore, encodeState } from '../../helpers/cursor.ts'
import { cliRoot, encodeArchive, stateAt, user, writeState } from '../../helpers/eras/cli-store.ts'
import { World } from '../../helpers/world.ts'

let world: World
beforeEach(async () => {
  world = await World.open()
})
afterEach(() => world.remove())

function write(id: string, latestRootBlobId: (store: CliStore) => string, facts: object = {}): void {
  const store = new CliStore(cliFolder(world.cursorHome, cliRoot, id))
  store.facts({ agentId: id, latestRootBlobId: latestRootBlobId(store), name: id, ...facts })
  store.close()
}

const said =
  (word: string) =>
  (store: CliStore): string =>
    store.blob(encodeState({ entries: [store.blob(user(word))] }))
const messagesOf = async (id: string): Promise<readonly Message[]> =>
  (await world.get<Page<Message>>(`/api/chats/${id}/messages?limit=200`)).items

test('calls of turns have their arguments and results, and turns their times', async () => {
  write('blade', (store) => writeState(store))
  write('era-cli-child', said('smelt the ore'), { subagentInfo: { parentAgentId: 'blade', toolCallId: 'k' } })
  await world.sync()
  const messages = await messagesOf('blade')
  const calls = messages.flatMap(({ parts }) => parts).filter((part) => part.kind === 'tool')
  expect(calls).toMatchObject([
    {
      name: 'create_plan',
      callId: 'k-plan',
      input: { plan: '# Temper slowly', overview: 'An overview', name: 'Tempering' },
    },
    { name: 'scales.weigh', input: { what: 'ingot' }, output: { text: 'nine pounds' } },
    {
      name: 'ask_question',
      input: { title: 'Which oil?' },
      output: { answers: [{ question: 'q', text: 'rapeseed' }] },
    },
    { name: 'edit', paths: ['/yard/forge/log.md'], output: { diff: '@@ -1 +1 @@\n-cold\n+hot' } },
    { name: 'shell', input: { command: 'strike' }, output: { stdout: 'sparks' } },
  ])
  const prompts = messages.filter(({ role }) => role === 'user')
  expect(prompts.map(({ createdAt }) => createdAt)).toEqual([0, 60].map((at) => new Date(stateAt(at)).toISOString()))
  const chat = await world.get<Chat>('/api/chats/blade')
  expect(chat).toMatchObject({ summary: 'A blade that holds', childChatIds: ['era-cli-child'] })
  expect(await world.get('/api/chats/era-cli-child')).toMatchObject({ isSubagent: true, parentChatId: 'blade' })
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('the summary that only an archive has is a part of its own kind', async () => {
  write('cut', (store) => {
    const archives = [store.blob(encodeArchive([store.blob(user('melt the tin'))]))]
    return store.blob(encodeState({ entries: [store.blob(user('pour the pewter'))], archives }))
  })
  await world.sync()
  const messages = await messagesOf('cut')
  expect(messages.map(({ parts }) => parts)).toMatchObject([
    [{ text: 'melt the tin' }],
    [{ kind: 'summary', text: 'words of the summary' }],
    [{ text: 'pour the pewter' }],
  ])
  for (const [q, total] of [
    ['in:summary words', 1],
    ['in:text words', 0],
    ['words', 1],
  ] as const)
    expect([q, (await world.get<Page<unknown>>(`/api/search?q=${encodeURIComponent(q)}`)).total]).toEqual([q, total])
})

test('twenty harmed states are at most one issue each, and harm no other chat', async () => {
  const chance = new Chance('harmed states')
  for (let at = 0; at < 20; at += 1) {
    write(`harmed-${at}`, (store) => {
      const rootId = writeState(store, [bytesField(14, Buffer.from([at])), bytesField(30, Buffer.from([10, 200, at]))])
      const ids = store.db.prepare<[], string>('select id from blobs').pluck().all()
      const id = ids[chance.between(0, ids.length - 1)] ?? rootId
      const bytes = Buffer.from(
        store.db.prepare<[string], Buffer>('select data from blobs where id = ?').pluck().get(id) ?? '',
      )
      if (at % 3 === 0) store.drop(id === rootId ? (ids.find((each) => each !== rootId) ?? '') : id)
      else if (at % 3 === 1) store.blobAs(id, bytes.subarray(0, chance.between(0, bytes.length - 1)))
      else {
        const place = chance.between(0, bytes.length - 1)
        bytes[place] = (bytes[place] ?? 0) ^ (1 << chance.between(0, 7))
        store.blobAs(id, bytes)
      }
      return rootId
    })
  }
  write('sound', said('a sound anvil'))
  await world.sync()
  const { issues } = await world.get<{ issues: Record<string, number> }>('/api/status')
  expect(Object.values(issues).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20)
  expect((await world.get<Page<unknown>>('/api/search?q=%22sound%20anvil%22')).total).toBe(1)
  const { total } = await world.get<Page<unknown>>('/api/search?q=%22tempered%20twice%22&limit=50')
  expect(total).toBeGreaterThan(10)
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})
