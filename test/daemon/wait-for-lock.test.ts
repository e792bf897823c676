import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeDaemonFile } from '../../src/engine/data-folder.ts'
import { takeLock, type Lock } from '../../src/engine/lock.ts'
import { startUnlessRead } from '../../src/daemon/lifecycle/wait-for-lock.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { untilReady, Workplace, type Cursordex } from '../helpers/spawn-cursordex.ts'
import { waitUntil } from '../helpers/wait-until.ts'

let place: Workplace
/** As a command has it while it reads Cursor itself. */
let lock: Lock
beforeEach(() => {
  place = new Workplace()
  fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 3 })
  mkdirSync(place.dataDir, { mode: 0o700 })
  lock = takeLock(place.dataDir)
})
afterEach(async () => {
  lock.release()
  await place.remove()
})

const untilItWaits = (daemon: Cursordex) =>
  waitUntil('the sentence', () => daemon.stderr.includes('A command is reading Cursor into this data folder'))

test('a daemon that is started while a command reads Cursor waits for it, and is not told of another daemon', async () => {
  const daemon = place.start()
  await untilItWaits(daemon)
  lock.release()
  expect(await untilReady(await daemon.listening())).toMatchObject({ counts: { chats: 2 } })
})

test('a daemon that waits for a command is stopped like any other', async () => {
  const daemon = place.start()
  await untilItWaits(daemon)
  expect(await daemon.stop('SIGTERM')).toMatchObject({ exitCode: 0, stdout: '' })
})

test('a daemon was refused where a command took the lock right before it, though no other daemon was there', async () => {
  let tries = 0
  const start = async (): Promise<string> => {
    tries += 1
    // As a command whose turn comes to an end while the daemon waits anew.
    if (tries === 1) setImmediate(() => lock.release())
    takeLock(place.dataDir).release()
    return 'started'
  }
  expect(await startUnlessRead(place.dataDir, start)).toBe('started')
  expect(tries).toBe(2)
})

test('one that is told to stop while it waits anew starts nothing', async () => {
  let tries = 0
  const start = async (): Promise<void> => {
    tries += 1
    takeLock(place.dataDir).release()
  }
  expect(await startUnlessRead(place.dataDir, start, () => tries > 0)).toBeNull()
  expect(tries).toBe(1)
})

test('a daemon beside another is refused at once', async () => {
  const told = { pid: process.pid, url: 'http://127.0.0.1:1', startedAt: new Date().toISOString(), version: '1' }
  writeDaemonFile(place.dataDir, told)
  const started = startUnlessRead(place.dataDir, async () => takeLock(place.dataDir))
  await expect(started).rejects.toMatchObject({ code: 'already-running', exitCode: 3 })
})
