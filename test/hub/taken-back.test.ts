import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { chatsOf, findBytes, scopeOf } from '../helpers/purge-world.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

// What a reader, which archives its mirror, has left of what its own machine took back.
let world: HubWorld
let ada: Machine
let bob: Machine
let archives: ArchiveFolder
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
afterEach(() => archives.remove())
beforeEach(async () => {
  await world.renew()
  archives = new ArchiveFolder()
  ada = world.machine('ada')
  bob = world.machine('bob')
  await say(ada, 'whole', ['the wombat hides here', 'it does'])
  await say(ada, 'partly', ['plain words', 'an answer', 'the wombat secret'])
  await say(bob, 'own', ['words of bob'])
  await exchange()
})

/** Ada's changes reach bob, who archives. */
async function exchange(): Promise<void> {
  await ada.push()
  await bob.pull()
  await archives.run(bob.mirror)
}

/** Files of the reader that contain a text: of its mirror, which stays open, and of all its archives. */
const filesWith = (text: string): string[] => [...findBytes(bob.dataDir, text), ...findBytes(archives.dir, text)]

/** What the reader answers about everything that a person could ask for. */
async function answers(words: string): Promise<string> {
  const daemon = await RunningDaemon.start({ userDirs: [bob.home.userDir], dataDir: bob.dataDir })
  try {
    await daemon.waitReady()
    const q = encodeURIComponent(words)
    const paths = ['search?q=', 'chats?q=', 'suggest?q=', 'search?group=chat&q='].map((path) => `/api/${path}${q}`)
    const all = ['/api/chats', '/api/losses', '/api/projects', '/api/stats']
    return JSON.stringify(await Promise.all([...paths, ...all].map((path) => daemon.get(path))))
  } finally {
    await daemon.stop()
  }
}

test('what is purged at its machine is in no answer, no row and no archive of a reader', async () => {
  expect(await answers('secret')).toContain('wombat')
  await ada.purge(scopeOf(chatsOf('whole')))
  await ada.purge(scopeOf({ match: 'wombat' }))
  await exchange()
  expect(bob.words()).toEqual([...ada.words(), 'own own-0 [{"kind":"text","text":"words of bob"}]'].sort())
  expect(filesWith('wombat')).toEqual([])
  expect(await answers('secret')).not.toContain('wombat')
  expect(filesWith('words of bob')).not.toEqual([])
})

test('a chat that is deleted at its machine stays as deleted, in no archive of a reader, and a purge takes it', async () => {
  const store = ada.home.global()
  store.deleteChat('whole')
  store.close()
  await ada.sync()
  await exchange()
  expect(bob.words()).toEqual([...ada.words(), 'own own-0 [{"kind":"text","text":"words of bob"}]'].sort())
  expect(bob.mirror.prepare('select id from chats where deleted_at is not null').all()).toEqual([{ id: 'whole' }])
  expect(findBytes(archives.dir, 'wombat')).toEqual([])
  await ada.purge(scopeOf(chatsOf('whole', 'partly')))
  await exchange()
  expect(filesWith('wombat')).toEqual([])
  expect(await answers('hides')).not.toContain('wombat')
})
