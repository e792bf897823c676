import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunOutcome } from '../../../src/engine/writer/messages.ts'
import { CursorHome, type Store } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'

const SLICE_MS = 400
const REST_MS = 600_000
const DAY_MS = 86_400_000

let home: CursorHome
let store: Store
let indexer: Indexer
let nowMs: number

beforeEach(() => {
  home = new CursorHome()
  store = home.global('wal')
  // More than fits in two slices, most of it in a field that is not read.
  const supportedTools = 'x'.repeat(40_000)
  store.db.transaction(() => {
    for (let at = 0; at < 720; at += 1)
      store.message(`chat-${at % 6}`, `m${at}`, { type: 1, text: 'plum', supportedTools })
  })()
  nowMs = Date.UTC(2026, 0, 5, 9)
  indexer = new Indexer(home.userDir)
  indexer.now = () => nowMs
  indexer.pass()
  store.message('chat-0', 'late', { type: 1, text: 'so that there is something to compare' })
  indexer.pass('count')
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

/** When the next slice, or the next comparison of all values, is due. */
const nextSweepMs = ({ ends }: RunOutcome): number | undefined =>
  ends.flatMap(({ again }) => again).find(({ depth }) => depth === 'sweep')?.inMs

/** The first slice of a comparison that finds the store changed at its end. */
function beginSweep(): void {
  expect(nextSweepMs(indexer.pass('sweep'))).toBe(SLICE_MS)
  store.message('chat-1', 'later', { type: 1, text: 'Cursor goes on' })
  nowMs += SLICE_MS
  expect(nextSweepMs(indexer.pass('sweep'))).toBe(SLICE_MS)
}

function endSweep(): number | undefined {
  for (;;) {
    nowMs += SLICE_MS
    const inMs = nextSweepMs(indexer.pass('sweep'))
    if (inMs !== SLICE_MS) return inMs
  }
}

test('a long comparison is followed by a pause of ten minutes', () => {
  beginSweep()
  expect(endSweep()).toBe(REST_MS)
})

test('the next comparison does not wait for a month after the machine slept for three days during one', () => {
  beginSweep()
  nowMs += 3 * DAY_MS
  expect(endSweep()).toBe(REST_MS)
})

test('a daemon that ended during a comparison and started days later compares again soon', () => {
  beginSweep()
  indexer.restart()
  nowMs += 2 * DAY_MS
  expect(endSweep()).toBe(REST_MS)
})

test('after the clock was set back, the next comparison does not wait for the old time', () => {
  beginSweep()
  nowMs += 30 * DAY_MS
  endSweep()
  nowMs -= 30 * DAY_MS
  store.message('chat-2', 'after', { type: 1, text: 'and on' })
  expect(nextSweepMs(indexer.pass())).toBe(REST_MS)
})
