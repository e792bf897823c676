import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { misconfiguredFolders } from '../../../src/engine/source-reasons.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { Workplace, type Status } from '../../helpers/spawn-cursordex.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  place.cursor.close()
})
afterEach(() => place.remove())

test('if a parent, a subfolder or a file was named, the warning names the right folder', () => {
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

test('there is no warning about a User folder, even a new one, or about a missing folder', () => {
  const fresh = mkdtempSync(join(homedir(), 'fresh-'))
  mkdirSync(join(fresh, 'workspaceStorage'))
  expect(misconfiguredFolders([place.cursor.userDir, fresh, join(homedir(), 'nowhere')])).toEqual([])
})

/** The folders of the status, with their states. */
async function look(userDir: string): Promise<string[]> {
  const flags = ['--cursor-user-dir', userDir, '--cursor-home', '', '--data-dir', place.dataDir]
  const { stdout } = await place.run(['status', '--json', ...flags], { isBare: true })
  const { sources } = JSON.parse(stdout) as Status
  return [...new Set(sources.map(({ path, state }) => `${state} ${path.replace(/\/globalStorage.*/, '')}`))]
}

test('a misspelt folder is not reported as missing for ever, and one that was read stays in the status', async () => {
  const misspelt = join(place.root, 'Cursr', 'User')
  expect(await look(misspelt)).toEqual([`missing ${misspelt}`])
  expect(await look(place.cursor.userDir)).toEqual([`ok ${place.cursor.userDir}`])
  const other = join(place.root, 'User')
  expect(await look(other)).toEqual([`ok ${place.cursor.userDir}`, `missing ${other}`])
})
