import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeDaemonFile } from '../../src/engine/data-folder.ts'
import { takeLock, type Lock } from '../../src/engine/lock.ts'
import { startUnlessRead } from '../../src/daemon/lifecycle/wait-for-lock.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { untilReady, Workplace, type Cursordex } from '../helpers/spawn-cursordex.ts'
import { waitUntil } from '../helpers/wait-until.ts'

let place: Workplace
/** Takes the lock as a command does while it reads Cursor. */
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

test('a daemon that starts while a command reads Cursor waits, and reports no other daemon', async () => {
  const daemon = place.start()
  await untilItWaits(daemon)
  lock.release()
  expect(await untilReady(await daemon.listening())).toMatchObject({ counts: { chats: 2 } })
})

test('a daemon that waits for a command can be stopped like any other', async () => {
  const daemon = place.start()
  await untilItWaits(daemon)
  expect(await daemon.stop('SIGTERM')).toMatchObject({ exitCode: 0, stdout: '' })
})

test('a daemon could not start if a command took the lock right before it', async () => {
  let tries = 0
  const start = async (): Promise<string> => {
    tries += 1
    // Like a command that ends while the daemon waits again.
    if (tries === 1) setImmediate(() => lock.release())
    takeLock(place.dataDir).release()
    return 'started'
  }
  expect(await startUnlessRead(place.dataDir, start)).toBe('started')
  expect(tries).toBe(2)
})

test('a daemon that is stopped while it waits again starts nothing', async () => {
  let tries = 0
  const start = async (): Promise<void> => {
    tries += 1
    takeLock(place.dataDir).release()
  }
  expect(await startUnlessRead(place.dataDir, start, () => tries > 0)).toBeNull()
  expect(tries).toBe(1)
})

test('a daemon cannot start beside another, and reports it at once', async () => {
  const content = { pid: process.pid, url: 'http://127.0.0.1:1', startedAt: new Date().toISOString(), version: '1' }
  writeDaemonFile(place.dataDir, content)
  const started = startUnlessRead(place.dataDir, async () => takeLock(place.dataDir))
  await expect(started).rejects.toMatchObject({ code: 'already-running', exitCode: 3 })
})
