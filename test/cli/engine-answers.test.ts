import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as census from '../../src/api/queries/count-everything.ts'
import type { Answers } from '../../src/cli/client/answers.ts'
import { engineAnswers } from '../../src/cli/client/engine-answers.ts'
import { CursorHome, type Store } from '../helpers/cursor.ts'
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

/** The notes of a command without a daemon that reads this folder and sends this request. */
async function notes(
  userDir: string,
  ask: (answers: Answers) => Promise<unknown> = () => Promise.resolve(),
  demoDir?: string,
): Promise<string[]> {
  const dataDir = mkdtempSync(join(homedir(), 'data-'))
  const flags = { dataDir, cursorUserDir: [userDir], cursorHome: [] }
  const settings = loadSettings({ flags, env: {}, platform: 'linux', homeDir: homedir() })
  const noted: string[] = []
  const world = {
    version: '1.2.3',
    zone: () => 'UTC',
    note: (text: string) => void noted.push(text),
    ...(demoDir && { demoDir }),
  }
  const answers = await engineAnswers(settings, world)
  await ask(answers)
  await answers.close()
  return noted
}

test('a command without a daemon always counted the whole mirror, even without a warning to print', async () => {
  expect(await notes(home.userDir)).toEqual([])
  expect(census.countEverything).not.toHaveBeenCalled()
})

test('a folder that is not Cursor’s is reported if the mirror is empty', async () => {
  expect(await notes(join(home.userDir, 'globalStorage'))).toEqual([expect.stringContaining('Perhaps you meant')])
  expect(await notes(join(home.userDir, 'nowhere'))).toEqual([expect.stringContaining('No Cursor found')])
})

test('without Cursor the running demo is named, and else the command that starts one', async () => {
  const nowhere = join(home.userDir, 'nowhere')
  const notesWith = (demoDir: string) => notes(nowhere, () => Promise.resolve(), demoDir)
  expect(await notesWith(home.userDir)).toEqual([expect.stringMatching(/ A demo is running; .* add --demo/)])
  expect(await notesWith(nowhere)).toEqual([expect.stringMatching(/: cursordex demo\.$/)])
})

/** Locks the store, as Cursor does during a long write. */
function lockStore(): void {
  store.db.pragma('locking_mode = exclusive')
  store.chat('b', {})
}

const isBusy = expect.stringMatching(/^The mirror is not complete: busy: .*state\.vscdb/)

test('while Cursor locked its store, a search found nothing and gave no reason', async () => {
  lockStore()
  const search = (answers: Answers): Promise<unknown> => answers.get('/api/search', new URLSearchParams({ q: 'plum' }))
  expect(await notes(home.userDir, search)).toEqual([isBusy])
  expect(await notes(home.userDir, (answers) => answers.get('/api/status', new URLSearchParams()))).toEqual([])
})

test('a sync that could read nothing reported "0 added", as if there was nothing', async () => {
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

test('a sync did not count the messages that its own first pass had read', async () => {
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
