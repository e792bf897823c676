import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeLock, type Lock } from '../../src/engine/lock.ts'
import { fillStore } from '../helpers/fill-store.ts'
import { untilReady, Workplace } from '../helpers/spawn-cursordex.ts'

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

/** Long enough to start, and longer than another daemon would have for its end. */
const START_MS = 2500

test('a daemon that starts while a command reads Cursor waits, and reports no other daemon', async () => {
  const daemon = place.start()
  await sleep(START_MS)
  lock.release()
  expect(await untilReady(await daemon.listening())).toMatchObject({ counts: { chats: 2 } })
})

test('a daemon that waits for a command can be stopped like any other', async () => {
  const daemon = place.start()
  await sleep(START_MS)
  expect(await daemon.stop('SIGTERM')).toMatchObject({ exitCode: 0, stdout: '' })
})
