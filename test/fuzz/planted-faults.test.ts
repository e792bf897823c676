import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type * as Changes from '../../src/indexer/sources/composer-kv/detect/find-changes.ts'
import type * as Values from '../../src/indexer/sources/composer-kv/detect/compare-values.ts'
import type * as Reading from '../../src/indexer/sources/composer-kv/read/read.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { FakeClock } from '../daemon/fake-clock.ts'
import { Writer } from '../helpers/shapes/writer.ts'
import { differences } from './compare-at-rest.ts'
import { runSeed } from './run-seed.ts'
import { SimulatedDaemon } from './simulated-daemon.ts'

/** The steps of the algorithm; each can be switched off. */
const off = vi.hoisted(() => ({ values: false, keys: false, canary: false, tail: false }))

vi.mock(import('../../src/indexer/sources/composer-kv/detect/compare-values.ts'), async (original) => {
  const actual: typeof Values = await original()
  return {
    compareValues: function* (...given: Parameters<typeof actual.compareValues>) {
      return off.values ? 0 : yield* actual.compareValues(...given)
    },
    compareAbove: function* (...given: Parameters<typeof actual.compareAbove>) {
      return off.values ? { octets: 0, last: null } : yield* actual.compareAbove(...given)
    },
  }
})

vi.mock(import('../../src/indexer/sources/composer-kv/detect/find-changes.ts'), async (original) => {
  const actual: typeof Changes = await original()
  const findByKeys: typeof actual.findByKeys = function* (file, mirror, source) {
    const isFirst = mirror.prepare('select 1 from source_rows').get() === undefined
    const found = yield* actual.findByKeys(file, mirror, source)
    if (!off.keys || isFirst) return found
    return { ...found, dirty: new (Object.getPrototypeOf(found.dirty).constructor)(), missing: [], backKeys: [] }
  }
  return { ...actual, findByKeys }
})

vi.mock(import('../../src/indexer/sources/composer-kv/read/read.ts'), async (original) => {
  const actual: typeof Reading = await original()
  return {
    ...actual,
    isCanaryWell: (...given: Parameters<typeof actual.isCanaryWell>) => off.canary || actual.isCanaryWell(...given),
    listTail: (...given: Parameters<typeof actual.listTail>) => (off.tail ? [] : actual.listTail(...given)),
  }
})

afterEach(() => {
  Object.assign(off, { values: false, keys: false, canary: false, tail: false })
})

describe('the fuzz test fails without', () => {
  test.each([
    ['the comparison of values', { values: true }],
    ['the comparison of keys', { keys: true, values: true }],
  ])('%s', async (_, fault) => {
    Object.assign(off, fault)
    const outcomes = [await runSeed(1, 300), await runSeed(2, 300)]
    const wrong = outcomes.flatMap((outcome) => outcome.wrong)
    console.log(`planted ${JSON.stringify(fault)}: ${wrong.length} wrong at rest`)
    expect(wrong.length).toBeGreaterThan(0)
  })
})

describe('within seconds, and without comparing keys or values,', () => {
  let home: CursorHome
  let writer: Writer
  let clock: FakeClock
  let daemon: SimulatedDaemon

  beforeEach(async () => {
    home = new CursorHome()
    writer = new Writer(home.global())
    clock = new FakeClock()
    writer.atOnce(() => {
      for (let chat = 0; chat < 80; chat += 1) writer.chat(`chat${chat}`, wordsOf('early', chat))
    })
    daemon = new SimulatedDaemon(join(home.root, 'mirror.db'), home.userDir, clock)
    daemon.start()
    await clock.advance(30_000)
    if (differences(home.globalPath, daemon.mirror).length > 0) throw new Error('the first pass left something out')
  })

  afterEach(() => {
    daemon.mirror.close()
    writer.close()
    home.remove()
  })

  const letter = (number: number): string => String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))

  const wordsOf = (start: string, chat: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [`m${at + 1}`, `${start}${letter(chat)}${letter(at)}`] as const),
    )

  /** Deletes more rows than the tail has, but too few for a mass loss, and writes others at their rowids. */
  function reuseRowids(): void {
    const gone = Array.from({ length: 12 }, (_, at) => 68 + at)
    writer.atOnce(() => {
      for (const chat of gone) writer.deleteChat(`chat${chat}`)
      for (const chat of gone) writer.chat(`other${chat}`, wordsOf('later', chat))
    })
  }

  const rewriteLast = (): void => writer.update('chat79', 'm10', 'anotherwordofanotherlength')

  test.each([
    ['rowids that were used again are noticed', 'canary', reuseRowids],
    ['a late row that was updated in place is noticed', 'tail', rewriteLast],
  ] as const)('%s, but for the %s', async (_, step, act) => {
    off[step] = true
    act()
    await clock.advance(5000)
    const wrong = differences(home.globalPath, daemon.mirror).length
    console.log(`planted ${step}: ${wrong} wrong after five seconds`)
    expect(wrong).toBeGreaterThan(0)
  })

  test.each([
    ['rowids that were used again', reuseRowids],
    ['a late row that was updated in place', rewriteLast],
  ])('%s: otherwise nothing is missed', async (_, act) => {
    act()
    await clock.advance(5000)
    expect(differences(home.globalPath, daemon.mirror)).toEqual([])
  })
})
