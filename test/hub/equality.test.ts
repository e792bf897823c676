import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withHub } from '../../src/hub/client.ts'
import { initHub } from '../../src/hub/administer.ts'
import { type CursorHome, headers } from '../helpers/cursor.ts'
import { askEverything, copied, differences, type Answers } from '../helpers/all-answers.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { writeShapes } from '../helpers/shapes/write-shapes.ts'
import { Machine } from './machine.ts'
import { PgServer } from './pg-server.ts'

let server: PgServer
let machines: readonly Machine[] = []
const homesOf = (home: CursorHome): string[] => [join(home.root, '.cursor')]

beforeAll(async () => {
  server = await PgServer.start()
})
afterAll(async () => {
  for (const machine of machines) machine.remove()
  await server.remove()
})

/** What may differ, with reasons. */
const aside = {
  tookMs: 'the clock',
  exportedAt: 'the clock',
  machine: 'it says whose a chat is',
  worktree: 'a working tree is on one machine',
  workspaceIds: 'which windows had a project open is known only where it happened',
  sizeBytes: 'sizes are those of Cursor’s rows',
  at: 'each machine notes a loss when it sees it',
  deletedAt: 'the same',
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly uri: string; readonly path: string }[]
}

/** The answers with the ids and addresses of projects replaced by their paths, which are the same everywhere here. */
async function answersOf(daemon: RunningDaemon): Promise<Answers> {
  const answers: Record<string, unknown> = { ...(await askEverything(daemon)) }
  for (const q of ['fir', 'split', 'answ', 'list_', 'inlin']) {
    answers[`suggest ${q}`] = await daemon.get(`/api/suggest?q=${q}`)
  }
  const chats = await daemon.get<Listed>('/api/chats?limit=200&subagents=true&includeEmpty=true')
  for (const { id } of chats.items) {
    answers[`export ${id}`] = await daemon.get(`/api/chats/${encodeURIComponent(id)}/export?as=json`)
  }
  const { items } = await daemon.get<Listed>('/api/projects?limit=200')
  let text = JSON.stringify(answers)
  for (const { id, uri, path } of items) {
    text = text.replaceAll(id, `project ${path}`).replaceAll(JSON.stringify(uri), JSON.stringify(`uri of ${path}`))
  }
  return JSON.parse(text) as Answers
}

test('two machines push and a third one pulls: every answer is that of one mirror that holds both homes', async () => {
  const url = await server.database('hub')
  await withHub(url, initHub)
  const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((label) => new Machine(url, label, { homes: homesOf })) as [
    Machine,
    Machine,
    Machine,
  ]
  machines = [ada, bob, eve]
  const store = ada.home.global()
  writeShapes(store)
  writeAllEras(bob.home, join(bob.home.root, '.cursor'))
  const userDirs = [ada.home.userDir, bob.home.userDir]
  const both = await RunningDaemon.start({ userDirs, flags: ['--cursor-home', join(bob.home.root, '.cursor')] })
  await both.waitReady()
  for (const machine of [ada, bob, eve]) await machine.sync()
  for (const key of ['composerData:split-3', ...[1, 2, 3, 4].map((n) => `bubbleId:split-3:m${n}`)]) store.delete(key)
  store.delete('composerData:split-6')
  store.delete('bubbleId:split-8:m2')
  store.delete('bubbleId:split-9:m3')
  store.chat('split-9', { name: 'Split chat 9', fullConversationHeadersOnly: headers(['m1', 'm2', 'm4']) })
  await both.post('/api/sync', { full: true })
  await ada.sync()
  expect((await ada.push()).leftOut).toEqual([])
  // What came to its project by a working tree waits for a push by hand.
  expect((await bob.push()).leftOut).toMatchObject([{ id: 'era-worktree' }])
  expect((await bob.push('*')).leftOut).toEqual([])
  await eve.pull()
  for (const machine of machines) machine.shut()
  const reader = await RunningDaemon.start({ userDirs: [''], dataDir: eve.dataDir, flags: ['--cursor-home', ''] })
  try {
    await reader.waitReady()
    const [expected, found] = [await answersOf(both), await answersOf(reader)]
    expect(differences(copied(expected), copied(found), { everywhere: Object.keys(aside) })).toEqual([])
  } finally {
    await reader.stop()
    await both.stop()
  }
})
