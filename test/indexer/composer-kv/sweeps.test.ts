import { beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

let store: Store
let indexer: Indexer
let nowMs: number

const REST_MS = 10_000
const LONG_REST_MS = 600_000
const DAY_MS = 86_400_000

beforeEach(() => {
  ;({ store, indexer } = openIndexed())
  nowMs = Date.UTC(2027, 0, 5, 9)
  indexer.now = () => nowMs
})

describe('a comparison of all values', () => {
  const TEXT_LENGTH = 2000
  const MESSAGES = 1200

  beforeEach(async () => {
    fillStore(store, { chats: MESSAGES / 20, messagesPerChat: 20, textLength: TEXT_LENGTH })
    await indexer.pass()
    nowMs += 2 * DAY_MS
    store.message('chat-0', 'late', { type: 1, text: 'so that there is something to compare' })
  })

  /**
   * Bytes of its next slice.
   * @param act runs once it has begun to read
   */
  async function sweep(act: () => void): Promise<number> {
    let bytes = 0
    nowMs += REST_MS
    await indexer.run({ depth: 'values' }, ({ bytesRead }) => {
      if (bytes === 0 && bytesRead > 0) act()
      bytes += bytesRead
    })
    return bytes
  }

  test('stops while Cursor writes, and continues later', async () => {
    const whole = MESSAGES * TEXT_LENGTH
    let written = 0
    let slices = 0
    for (let bytes = 0; bytes < whole; slices += 1) {
      const read = await sweep(() =>
        store.message('chat-1', `new-${(written += 1)}`, { type: 1, text: 'Cursor is at work' }),
      )
      expect(read).toBeLessThan(whole / 3)
      bytes += read
    }
    expect(slices).toBeGreaterThan(3)
  })

  test('takes a whole slice if it is undisturbed', async () => {
    expect(await sweep(() => undefined)).toBeGreaterThan(MESSAGES * TEXT_LENGTH)
  })
})

describe('after a comparison, the next one', () => {
  const SLICE_MS = 400

  /** @param octets of each message, most of them in a field that is not read */
  async function fill(octets: number): Promise<void> {
    const supportedTools = 'x'.repeat(octets)
    store.db.transaction(() => {
      for (let at = 0; at < 720; at += 1)
        store.message(`chat-${at % 6}`, `m${at}`, { type: 1, text: 'plum', supportedTools })
    })()
    await indexer.pass()
    store.message('chat-0', 'late', { type: 1, text: 'so that there is something to compare' })
    nowMs += LONG_REST_MS
  }

  /** When the next slice, or the next comparison of all values, is due. */
  async function nextMs(depth: 'tail' | 'values', onStep = (): void => undefined): Promise<number | undefined> {
    const { ends } = await indexer.run({ depth }, onStep)
    return ends.flatMap(({ again }) => again).find((again) => again.depth === 'values')?.inMs
  }

  /** A comparison that finds the store changed at its end. @returns when the next one is due */
  async function compare(): Promise<number | undefined> {
    let inMs = await nextMs('values', () => store.message('chat-1', 'later', { type: 1, text: 'Cursor goes on' }))
    while (inMs === SLICE_MS) {
      nowMs += SLICE_MS
      inMs = await nextMs('values')
    }
    return inMs
  }

  test.each([
    ['in a small store comes soon', 40, REST_MS],
    ['in a store of several slices waits for ten minutes', 40_000, LONG_REST_MS],
  ])('%s', async (_, octets, restMs) => {
    await fill(octets)
    expect(await compare()).toBe(restMs)
  })

  test('goes on where it was after the daemon ended', async () => {
    await fill(40_000)
    expect(await nextMs('values')).toBe(SLICE_MS)
    indexer.restart()
    nowMs += 2 * DAY_MS
    expect(await nextMs('tail')).toBe(SLICE_MS)
    expect(await compare()).toBe(LONG_REST_MS)
  })

  test('does not wait for the old time after the clock was set back', async () => {
    await fill(40_000)
    nowMs += 30 * DAY_MS
    await compare()
    nowMs -= 30 * DAY_MS
    store.message('chat-2', 'after', { type: 1, text: 'and on' })
    expect(await nextMs('values')).toBe(LONG_REST_MS)
  })
})
