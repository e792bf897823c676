import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Chat } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Message } from '../../../src/api/answers/messages.ts'
import { cliFolder, CliStore, encodeState } from '../../helpers/cursor.ts'
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
