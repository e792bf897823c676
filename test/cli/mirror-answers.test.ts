import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as census from '../../src/api/queries/count-everything.ts'
import { mirrorAnswers } from '../../src/cli/mirror-answers.ts'
import { CursorHome } from '../../src/sample/cursor-home.ts'
import { loadSettings } from '../../src/settings.ts'

vi.mock('../../src/api/queries/count-everything.ts', { spy: true })

let home: CursorHome
beforeEach(() => {
  home = new CursorHome()
  home.global().chat('a', {})
})
afterEach(() => {
  home.remove()
  vi.clearAllMocks()
})

/** What is noted while a command that finds no daemon reads this folder of Cursor's itself. */
async function notes(userDir: string): Promise<string[]> {
  const dataDir = mkdtempSync(join(homedir(), 'data-'))
  const flags = { dataDir, cursorUserDir: [userDir], cursorHome: [] }
  const settings = loadSettings({ flags, env: {}, platform: 'linux', homeDir: homedir() })
  const noted: string[] = []
  const world = { version: '1.2.3', zone: () => 'UTC', note: (text: string) => void noted.push(text) }
  const answers = await mirrorAnswers(settings, world)
  await answers.close()
  return noted
}

test('a command that reads Cursor itself counted the whole mirror, whether or not there was anything to say of it', async () => {
  expect(await notes(home.userDir)).toEqual([])
  expect(census.countEverything).not.toHaveBeenCalled()
})

test('of a folder that is none of Cursor’s it says so where nothing is mirrored', async () => {
  expect(await notes(join(home.userDir, 'globalStorage'))).toEqual([expect.stringContaining('Perhaps you meant')])
  expect(await notes(join(home.userDir, 'nowhere'))).toEqual([expect.stringContaining('No Cursor found')])
})
