import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ArchiveRun } from '../../../src/api/http/archive-shapes.ts'
import { CursorHome, headers } from '../../../src/sample/cursor-home.ts'
import { askEverything, differences, type Answers } from '../../helpers/all-answers.ts'
import { writeAllEras } from '../../helpers/eras/all-eras.ts'
import { archiveAll, restore, wipeMirror } from '../../helpers/restored-daemon.ts'
import { RunningDaemon } from '../../helpers/running-daemon.ts'
import { writeChats } from '../../helpers/shapes/chats.ts'
import { writeRows } from '../../helpers/shapes/rows.ts'

const home = new CursorHome()
const shapes = new CursorHome()
const cursorHome = join(home.root, '.cursor')
const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-data-'))
let archived: ArchiveRun
let before: Answers

const start = (withCursor: boolean): Promise<RunningDaemon> => {
  const userDirs = withCursor ? [home.userDir, shapes.userDir] : ['']
  return RunningDaemon.start({ userDirs, dataDir, flags: ['--cursor-home', withCursor ? cursorHome : ''] })
}

/** What of two mirrors' answers need not be equal, each with its reason. */
const marks = {
  tookMs: 'the clock',
  source: 'the archive tells what a store told before',
  origin: 'so far no archive told it',
  workspaceIds: 'which windows had a project open stands in no chat; they are there again with the Cursor home',
}
/** Where no store holds anything any more. */
const withoutCursor = { ...marks, deletedInCursor: 'no store holds it' }

/** Where the stores are asked anew: of these chats they themselves say something else than before the mirror was wiped. */
const toldAnew = {
  // Its own row is gone, its messages are not: to who never saw the row, the chat is there.
  'split-6': ['deletedInCursor', 'deletedAt'],
  // Its row is there and says that it is gone: since when, is when that was seen first.
  tombstone: ['deletedAt'],
}

const differ = (after: Answers, aside: object, ofChats: Readonly<Record<string, readonly string[]>> = {}): string[] =>
  differences(before, after, { everywhere: Object.keys(aside), ofChats })

beforeAll(async () => {
  writeAllEras(home, cursorHome)
  const store = shapes.global()
  writeChats(store)
  writeRows(store)
  const first = await start(true)
  await first.waitReady()
  // A chat went whole, another lost its own row, a third one message that it names still, a fourth one that it does not.
  for (const key of ['composerData:split-3', ...[1, 2, 3, 4].map((n) => `bubbleId:split-3:m${n}`)]) store.delete(key)
  store.delete('composerData:split-6')
  store.delete('bubbleId:split-8:m2')
  store.delete('bubbleId:split-9:m3')
  store.chat('split-9', { name: 'Split chat 9', fullConversationHeadersOnly: headers(['m1', 'm2', 'm4']) })
  await first.post('/api/sync', { full: true })
  before = await askEverything(first)
  archived = await archiveAll(first)
  await first.stop()
})

afterAll(() => {
  home.remove()
  shapes.remove()
  rmSync(dataDir, { recursive: true, force: true })
})

test('a mirror that was wiped is restored without any Cursor, and answers everything as before', async () => {
  wipeMirror(dataDir)
  const daemon = await start(false)
  try {
    expect(archived.state).toBe('verified')
    const restored = await restore(daemon)
    expect(restored).toMatchObject({
      name: archived.name,
      ok: true,
      chats: archived.chats,
      messages: archived.messages,
      added: archived.messages,
      addedChats: archived.chats,
      damaged: [],
    })
    const after = await askEverything(daemon)
    expect(differ(after, withoutCursor)).toEqual([])
    expect(await restore(daemon)).toMatchObject({ added: 0, addedChats: 0, chats: archived.chats })
  } finally {
    await daemon.stop()
  }
})

const orders: Readonly<Record<string, () => Promise<RunningDaemon>>> = {
  'Cursor first': async () => {
    const daemon = await start(true)
    await daemon.waitReady()
    expect(await restore(daemon)).toMatchObject({ ok: true, addedChats: 1 })
    return daemon
  },
  'the archive first': async () => {
    const alone = await start(false)
    expect(await restore(alone)).toMatchObject({ ok: true, addedChats: archived.chats })
    await alone.stop()
    return start(true)
  },
}

test.each(Object.entries(orders))(
  'with Cursor still there, %s, only what it lost comes from the archive, and all is as before',
  async (_, begin) => {
    wipeMirror(dataDir)
    const daemon = await begin()
    try {
      await daemon.waitReady()
      await daemon.post('/api/sync', { full: true })
      expect(differ(await askEverything(daemon), marks, toldAnew)).toEqual([])
      expect(await restore(daemon)).toMatchObject({ added: 0, addedChats: 0, chats: archived.chats })
      expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ changed: 0, added: 0, gone: 0 })
      expect(differ(await askEverything(daemon), marks, toldAnew)).toEqual([])
      const lost = await daemon.get('/api/chats/split-3')
      expect(lost).toMatchObject({
        source: 'archive',
        deletedInCursor: true,
        origin: expect.stringMatching(/^\w{32}$/),
      })
      expect(await daemon.get('/api/chats/split-11')).toMatchObject({ source: 'composer-kv', origin: null })
    } finally {
      await daemon.stop()
    }
  },
  120_000,
)
