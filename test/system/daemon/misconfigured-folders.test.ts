import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { misconfiguredFolders } from '../../../src/engine/source-reasons.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
})
afterEach(() => place.remove())

test('who names the folder above, one within or a file is told which one was meant', () => {
  const { userDir, globalPath, root } = place.cursor
  for (const named of [root, join(root, 'Cursor'), join(userDir, 'globalStorage'), globalPath]) {
    expect(misconfiguredFolders([named])).toEqual([
      expect.stringContaining(`Perhaps you meant ${userDir}: --cursor-user-dir.`),
    ])
  }
  const foreign = mkdtempSync(join(homedir(), 'foreign-'))
  writeFileSync(join(foreign, 'settings.json'), '{}')
  expect(misconfiguredFolders([foreign])).toEqual([
    expect.stringContaining('Name another folder with --cursor-user-dir.'),
  ])
})

test('nothing is said of a User folder, a new one among them, or of one that is not there', () => {
  const fresh = mkdtempSync(join(homedir(), 'fresh-'))
  mkdirSync(join(fresh, 'workspaceStorage'))
  expect(misconfiguredFolders([place.cursor.userDir, fresh, join(homedir(), 'nowhere')])).toEqual([])
})

test('a folder that is not Cursor’s User folder is not read as an empty Cursor without a word', async () => {
  const flags = ['--cursor-user-dir', join(place.cursor.root, 'Cursor'), '--cursor-home', '', '--port', '0']
  const options = { isBare: true, env: { CURSORDEX_DATA_DIR: place.dataDir } }
  const told = `Perhaps you meant ${place.cursor.userDir}: --cursor-user-dir.`
  expect((await place.run(['chats', ...flags], options)).stderr).toContain(told)
  const daemon = place.start(['serve', ...flags], options)
  await waitUntil('the sentence', () => daemon.stderr.includes(told))
})
