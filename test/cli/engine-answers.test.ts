import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as census from '../../src/api/queries/count-everything.ts'
import type { Answers } from '../../src/cli/client/answers.ts'
import { engineAnswers } from '../../src/cli/client/engine-answers.ts'
import { CursorHome, type Store } from '../../src/sample/cursor-home.ts'
import { loadSettings } from '../../src/settings.ts'

vi.mock('../../src/api/queries/count-everything.ts', { spy: true })

let home: CursorHome
let store: Store
beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  store.chat('a', {})
})
afterEach(() => {
  home.remove()
  vi.clearAllMocks()
})

/** What is noted while a command that finds no daemon reads this folder of Cursor's itself, and asks this. */
async function notes(
  userDir: string,
  ask: (answers: Answers) => Promise<unknown> = () => Promise.resolve(),
): Promise<string[]> {
  const dataDir = mkdtempSync(join(homedir(), 'data-'))
  const flags = { dataDir, cursorUserDir: [userDir], cursorHome: [] }
  const settings = loadSettings({ flags, env: {}, platform: 'linux', homeDir: homedir() })
  const noted: string[] = []
  const world = { version: '1.2.3', zone: () => 'UTC', note: (text: string) => void noted.push(text) }
  const answers = await engineAnswers(settings, world)
  await ask(answers)
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

/** As while Cursor writes to it for long. */
function lockStore(): void {
  store.db.pragma('locking_mode = exclusive')
  store.chat('b', {})
}

const isBusy = expect.stringMatching(/^Not everything is as Cursor holds it: busy: .*state\.vscdb/)

test('while Cursor held its store a search found nothing, and said so without a reason', async () => {
  lockStore()
  const search = (answers: Answers): Promise<unknown> => answers.get('/api/search', new URLSearchParams({ q: 'plum' }))
  expect(await notes(home.userDir, search)).toEqual([isBusy])
  expect(await notes(home.userDir, (answers) => answers.get('/api/status', new URLSearchParams()))).toEqual([])
})

test('a sync that could read nothing told "0 added" as if there was nothing', async () => {
  lockStore()
  const answered: unknown[] = []
  const sync = async (answers: Answers): Promise<void> => {
    answered.push(await answers.post('/api/sync', { full: true }))
  }
  expect(await notes(home.userDir, sync)).toEqual([])
  expect(answered).toEqual([
    expect.objectContaining({ added: 0, reasons: [expect.stringMatching(/^busy: .*state\.vscdb/)] }),
  ])
})

test('a sync told of none of the messages that its own first look had read', async () => {
  store.message('a', 'm', { type: 1, text: 'plum' })
  const answered: unknown[] = []
  const twice = async (answers: Answers): Promise<void> => {
    answered.push(await answers.post('/api/sync', {}), await answers.post('/api/sync', {}))
  }
  await notes(home.userDir, twice)
  expect(answered).toMatchObject([
    { added: 1, reasons: [] },
    { added: 0, reasons: [] },
  ])
})
