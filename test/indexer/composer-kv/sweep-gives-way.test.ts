import { afterEach, beforeEach, expect, test } from 'vitest'
import { CursorHome, type Store } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { Indexer } from '../../helpers/in-process.ts'

let home: CursorHome
let store: Store
let indexer: Indexer
const TEXT_LENGTH = 2000
const MESSAGES = 1200

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  fillStore(store, { chats: MESSAGES / 20, messagesPerChat: 20, textLength: TEXT_LENGTH })
  indexer = new Indexer(home.userDir)
  indexer.pass()
  store.message('chat-0', 'late', { type: 1, text: 'so that there is something to compare' })
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

/**
 * Bytes of the next slice of a comparison.
 * @param act runs once it has begun to read
 */
function sweep(act: () => void): number {
  let bytes = 0
  for (const step of indexer.steps('sweep')) {
    if (bytes === 0 && step.bytesRead > 0) act()
    bytes += step.bytesRead
  }
  return bytes
}

test('a comparison of values stops while Cursor writes, and continues later', () => {
  const whole = MESSAGES * TEXT_LENGTH
  let written = 0
  let slices = 0
  for (let bytes = 0; bytes < whole; slices += 1) {
    const read = sweep(() => store.message('chat-1', `new-${(written += 1)}`, { type: 1, text: 'Cursor is at work' }))
    expect(read).toBeLessThan(whole / 3)
    bytes += read
  }
  expect(slices).toBeGreaterThan(3)
})

test('undisturbed, it takes a whole slice', () => {
  expect(sweep(() => undefined)).toBeGreaterThan(MESSAGES * TEXT_LENGTH)
})
