import { beforeEach, describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../../src/engine/writer/messages.ts'
import type { Store } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

let store: Store
let indexer: Indexer

beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

describe('a comparison of all values', () => {
  const TEXT_LENGTH = 2000
  const MESSAGES = 1200

  beforeEach(() => {
    fillStore(store, { chats: MESSAGES / 20, messagesPerChat: 20, textLength: TEXT_LENGTH })
    indexer.pass()
    store.message('chat-0', 'late', { type: 1, text: 'so that there is something to compare' })
  })

  /**
   * Bytes of its next slice.
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

  test('stops while Cursor writes, and continues later', () => {
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

  test('takes a whole slice if it is undisturbed', () => {
    expect(sweep(() => undefined)).toBeGreaterThan(MESSAGES * TEXT_LENGTH)
  })
})

describe('after a long comparison, the next one', () => {
  const SLICE_MS = 400
  const REST_MS = 600_000
  const DAY_MS = 86_400_000
  let nowMs: number

  beforeEach(() => {
    // More than fits in two slices, most of it in a field that is not read.
    const supportedTools = 'x'.repeat(40_000)
    store.db.transaction(() => {
      for (let at = 0; at < 720; at += 1)
        store.message(`chat-${at % 6}`, `m${at}`, { type: 1, text: 'plum', supportedTools })
    })()
    nowMs = Date.UTC(2026, 0, 5, 9)
    indexer.now = () => nowMs
    indexer.pass()
    store.message('chat-0', 'late', { type: 1, text: 'so that there is something to compare' })
    indexer.pass('count')
  })

  /** The first slice of a comparison that finds the store changed at its end. */
  function beginSweep(): void {
    expect(nextSweepMs(indexer.pass('sweep'))).toBe(SLICE_MS)
    store.message('chat-1', 'later', { type: 1, text: 'Cursor goes on' })
    nowMs += SLICE_MS
    expect(nextSweepMs(indexer.pass('sweep'))).toBe(SLICE_MS)
  }

  /** When the next slice, or the next comparison of all values, is due. */
  const nextSweepMs = ({ ends }: RunOutcome): number | undefined =>
    ends.flatMap(({ again }) => again).find(({ depth }) => depth === 'sweep')?.inMs

  function endSweep(): number | undefined {
    for (;;) {
      nowMs += SLICE_MS
      const inMs = nextSweepMs(indexer.pass('sweep'))
      if (inMs !== SLICE_MS) return inMs
    }
  }

  test.each<[string, () => void]>([
    ['waits for ten minutes', () => undefined],
    ['does not wait for a month if the machine slept for three days', () => (nowMs += 3 * DAY_MS)],
    [
      'comes soon if the daemon ended and started days later',
      () => {
        indexer.restart()
        nowMs += 2 * DAY_MS
      },
    ],
  ])('%s', (_, act) => {
    beginSweep()
    act()
    expect(endSweep()).toBe(REST_MS)
  })

  test('does not wait for the old time after the clock was set back', () => {
    beginSweep()
    nowMs += 30 * DAY_MS
    endSweep()
    nowMs -= 30 * DAY_MS
    store.message('chat-2', 'after', { type: 1, text: 'and on' })
    expect(nextSweepMs(indexer.pass())).toBe(REST_MS)
  })
})
