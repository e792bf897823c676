import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeLock, type Lock } from '../../src/engine/lock.ts'
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
