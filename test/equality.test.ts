import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome } from './helpers/cursor.ts'
import { readExpected } from './helpers/oracle.ts'
import { bytesBelow, canaries, canariesIn } from './helpers/oracle/canaries.ts'
import { expectAnswers } from './helpers/oracle/compare.ts'
import { RunningDaemon } from './helpers/running-daemon.ts'
import { writeShapes } from './helpers/shapes/write-shapes.ts'

const home = new CursorHome()
let daemon: RunningDaemon

beforeAll(async () => {
  const store = home.global()
  writeShapes(store)
  daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  await daemon.waitReady()
})

afterAll(async () => {
  await daemon?.stop()
  home.remove()
})

test('the answers for a store with all shapes equal those of an independent reader', async () => {
  const { chats } = readExpected(home.globalPath)
  expect(chats.size).toBeGreaterThan(40)
  await expectAnswers(daemon, chats)
})

test('every unreadable row is counted under its reason', async () => {
  const { issues } = readExpected(home.globalPath)
  const reasons = ['null-key', 'bad-key', 'bad-json', 'not-an-object', 'too-large', 'too-deep']
  expect(Object.keys(issues).sort()).toEqual(reasons.sort())
  expect(await daemon.get('/api/status')).toMatchObject({ state: 'ready', issues })
})

test('drafts, secrets and noise are not in the data folder or the log', async () => {
  expect(canariesIn(bytesBelow(home.userDir))).toEqual(Object.keys(canaries))
  const bytes = bytesBelow(daemon.dataDir)
  expect(bytes).toContain('Sound after the damage')
  expect(canariesIn(bytes)).toEqual([])
  expect(canariesIn(daemon.stderr + daemon.stdout)).toEqual([])
})

test('a second pass over the same store changes nothing', async () => {
  expect(await daemon.post('/api/sync', { full: true })).toMatchObject({ changed: 0, added: 0, gone: 0 })
})
