import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ArchiveFolder } from '../helpers/archive-folder.ts'
import { chatsOf, findBytes, scopeOf } from '../helpers/purge-world.ts'
import { RunningDaemon } from '../helpers/running-daemon.ts'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

// What a reader leaves out of what others push, and what it has left of what its own machine took back.
let world: HubWorld
let ada: Machine
let bob: Machine
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(() => world.renew())

describe('what is left out', () => {
  beforeEach(async () => {
    ada = world.machine('ada', 'admin', { redact: true })
    bob = world.machine('bob')
    await bob.sync()
  })

  const chatsAt = ({ mirror }: Machine): string[] =>
    mirror.prepare<[], string>('select id from chats order by id').pluck().all()

  async function roundTrip(): Promise<void> {
    await ada.push()
    await bob.pull()
  }

  test('a project that the reader excludes stays out, and comes when it is excluded no longer', async () => {
    await say(ada, 'diary', ['dear diary'], { project: '/home/ada/diary' })
    await say(ada, 'shop', ['sell things'], { project: '/home/ada/shop' })
    bob.exclude(['diary'])
    await roundTrip()
    expect(chatsAt(bob)).toEqual(['shop'])
    expect(JSON.stringify(bob.mirror.prepare('select * from projects').all())).not.toContain('diary')
    await say(ada, 'diary', ['dear diary', 'go on'], { project: '/home/ada/diary' })
    await roundTrip()
    expect(chatsAt(bob)).toEqual(['shop'])
    bob.exclude([])
    await bob.sync()
    expect(await bob.pull()).toMatchObject({ pulled: 1 })
    expect(bob.words()).toEqual(ada.words())
  })

  test('a copy of a project that is excluded later gets nothing new, and goes with its next change', async () => {
    await say(ada, 'diary', ['dear diary'], { project: '/home/ada/diary' })
    await roundTrip()
    bob.exclude(['diary'])
    expect(await bob.pull()).toMatchObject({ pulled: 0 })
    expect(chatsAt(bob)).toEqual(['diary'])
    await say(ada, 'diary', ['dear diary', 'go on'], { project: '/home/ada/diary' })
    await roundTrip()
    expect(chatsAt(bob)).toEqual([])
  })

  test('what the reader purges stays out of its mirror, and stays at the hub and at its own machine', async () => {
    await say(ada, 'one', ['plain words', 'an answer', 'the wombat secret'])
    await say(ada, 'two', ['other words'])
    await roundTrip()
    await bob.purge(scopeOf({ match: 'wombat' }))
    await bob.purge(scopeOf(chatsOf('two')))
    const left = ada.words().filter((line) => /plain|answer/.test(line))
    expect(bob.words()).toEqual(left)
    for (const texts of [
      ['other words', 'and more'],
      ['other words', 'and more', 'and more'],
    ]) {
      await say(ada, 'two', texts)
      await say(ada, 'one', ['plain words', 'an answer', 'the wombat secret', ...texts.slice(2)])
      await bob.push()
      await roundTrip()
    }
    expect(bob.words().filter((line) => /wombat|^two/.test(line))).toEqual([])
    expect((await world.objects()).join()).toMatch(/wombat[^]*other words/)
    expect(ada.words().join()).toMatch(/wombat[^]*other words/)
  })

  const typed = 'fix the failing tests'

  test('a purge of a copy leaves what was typed here, and a purge of an own chat takes it although a copy repeats it', async () => {
    const root = { folder: 'file:///home/bob/shop' }
    bob.home.workspace('w', root).item('aiService.prompts', [{ text: typed }, { text: 'only typed here' }])
    bob.home.close()
    await say(ada, 'one', [typed])
    await say(bob, 'mine', ['another chat'])
    await roundTrip()
    await bob.purge(scopeOf(chatsOf('one')))
    expect(bob.words().filter((line) => line.includes(typed))).toHaveLength(1)
    await say(ada, 'again', [typed])
    await say(bob, 'own', [typed])
    await roundTrip()
    await bob.purge(scopeOf(chatsOf('own')))
    expect(bob.words().filter((line) => line.includes(typed))).toEqual([expect.stringMatching(/^again /)])
  })
})

describe('what its own machine took back, at a reader that archives its mirror', () => {
  let archives: ArchiveFolder
  beforeEach(async () => {
    archives = new ArchiveFolder()
    ada = world.machine('ada')
    bob = world.machine('bob')
    await say(ada, 'whole', ['the wombat hides here', 'it does'])
    await say(ada, 'partly', ['plain words', 'an answer', 'the wombat secret'])
    await say(bob, 'own', ['words of bob'])
    await exchange()
  })
  afterEach(() => archives.remove())

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
})
