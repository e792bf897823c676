import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome, headers } from '../../helpers/cursor.ts'
import { askEverything, copied, differences, type Answers } from '../../helpers/all-answers.ts'
import { writeAllEras } from '../../helpers/eras/all-eras.ts'
import { archiveAll, restore, wipeMirror } from '../../helpers/restored-daemon.ts'
import { RunningDaemon } from '../../helpers/running-daemon.ts'
import { writeShapes } from '../../helpers/shapes/write-shapes.ts'
import type { ArchiveRun } from '../../../src/api/answers/archives.ts'

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

/** The parts of two mirrors' answers that may differ, with reasons. */
const marks = {
  tookMs: 'the clock',
  source: 'now the archive has what a store had before',
  origin: 'no archive had it before',
  workspaceIds: 'no chat says which windows had a project open; they return with the Cursor home',
}
/** If all stores are empty. */
const withoutCursor = { ...marks, deletedInCursor: 'no store holds it' }

/** If the stores are read again. For these chats they have other data than before the mirror was removed. */
const readAgain = {
  // Its own row is gone, its messages are not. A mirror that never saw the row does not know that the chat was deleted.
  'split-6': ['deletedInCursor', 'deletedAt'],
  // Its row says that it is deleted. The time is when this was first seen.
  tombstone: ['deletedAt'],
}

const differ = (after: Answers, aside: object, ofChats: Readonly<Record<string, readonly string[]>> = {}): string[] =>
  differences(copied(before), copied(after), { everywhere: Object.keys(aside), ofChats })

beforeAll(async () => {
  writeAllEras(home, cursorHome)
  const store = shapes.global()
  writeShapes(store)
  const first = await start(true)
  await first.waitReady()
  // One chat was deleted, one lost its row, one lost a message that it still lists, and one a message that it does not list.
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

test('a removed mirror is restored without Cursor, and answers everything as before', async () => {
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
  'with Cursor, %s, only deleted chats and messages come from the archive, and all is as before',
  async (_, begin) => {
    wipeMirror(dataDir)
    const daemon = await begin()
    try {
      await daemon.waitReady()
      await daemon.post('/api/sync', { full: true })
      expect(differ(await askEverything(daemon), marks, readAgain)).toEqual([])
      expect(await restore(daemon)).toMatchObject({ added: 0, addedChats: 0, chats: archived.chats })
      expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ changed: 0, added: 0, gone: 0 })
      expect(differ(await askEverything(daemon), marks, readAgain)).toEqual([])
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
