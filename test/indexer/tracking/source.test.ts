import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { trackingSources } from '../../../src/indexer/sources/tracking/index.ts'
import type { PassDepth, PassEnd, PassStep } from '../../../src/indexer/source.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { type CursorHome, headers } from '../../helpers/cursor.ts'
import { TrackingStore, trackingCanary } from '../../helpers/eras/tracking.ts'
import { line, lines, query, said, writeTranscript } from '../../helpers/eras/transcripts.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'
import { PurgeHere } from '../../helpers/purge-world.ts'
import { bytesBelow } from '../../helpers/oracle/canaries.ts'

const T0 = Date.UTC(2026, 3, 1, 10)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const at = (minutes: number): number => T0 + minutes * MINUTE_MS
const iso = (minutes: number): string => new Date(at(minutes)).toISOString()
const unchanged = { added: 0, changed: 0, gone: 0 }

let home: CursorHome
let indexer: Indexer
let store: TrackingStore
let nowMs: number
beforeEach(() => {
  ;({ home, indexer } = openIndexed())
  indexer.homes = [cursorHome()]
  nowMs = T0 + 24 * HOUR_MS
  indexer.now = () => nowMs
  store = new TrackingStore(cursorHome())
})
afterEach(() => {
  store.close()
})

const cursorHome = (): string => join(home.root, '.cursor')

const transcript = (id: string): string =>
  writeTranscript(
    cursorHome(),
    'w-shop',
    `${id}.jsonl`,
    lines(line('user', said(query(`asked in ${id}`))), line('assistant', said(`answered in ${id}`))),
  )

/** A pass, late enough that it is never too early. */
function pass(depth: PassDepth = 'nudge') {
  nowMs += 2 * MINUTE_MS
  return indexer.pass(depth)
}

const times = (id: string): unknown[] =>
  indexer.messages(id).map(({ createdAt, createdAtSource }) => [createdAt, createdAtSource])
/** A row for each chat and hour. */
const trackedRows = (): unknown[] => indexer.mirror.prepare('select * from tracked').all()

describe('a chat that has neither times nor a model', () => {
  beforeEach(() => {
    transcript('a')
    store.record({ conversationId: 'a', timestamp: at(0), model: 'early' })
    store.record({ conversationId: 'a', timestamp: at(90), model: 'late' })
    store.record({ conversationId: 'a', timestamp: at(95), model: 'default' })
  })

  test('takes both from Cursor’s record of its code, marked as such', () => {
    pass()
    expect(indexer.chat('a')).toMatchObject({
      createdAt: iso(0),
      lastActivityAt: iso(95),
      model: 'late',
      models: ['late', 'early'],
      modelSource: 'tracking',
    })
    expect(times('a')).toEqual([0, 1].map(() => [iso(0), 'tracking']))
  })

  test('takes them if it was read first, and again when the record grows', () => {
    indexer.homes = []
    pass()
    indexer.homes = [cursorHome()]
    pass()
    store.record({ conversationId: 'a', timestamp: at(200), model: 'newest' })
    expect(pass()).toMatchObject({ added: 0, gone: 0 })
    expect(indexer.chat('a')).toMatchObject({
      lastActivityAt: iso(200),
      model: 'newest',
      models: ['newest', 'late', 'early'],
    })
  })

  test('keeps what was recorded when Cursor deletes it, or the whole file', () => {
    pass()
    const before = indexer.chat('a')
    store.db.exec('delete from ai_code_hashes')
    expect(pass('full')).toMatchObject(unchanged)
    store.close()
    rmSync(join(cursorHome(), 'ai-tracking'), { recursive: true })
    pass('full')
    expect(indexer.chat('a')).toEqual(before)
  })

  test.each(['nudge', 'count', 'reconcile', 'full'] as const)('is not changed by a second pass, %s', (depth) => {
    pass()
    expect(pass(depth)).toMatchObject(unchanged)
  })
})

test('facts in the chat’s own rows are left unchanged', () => {
  const shop = home.global()
  shop.chat('own', {
    createdAt: at(-60),
    lastUpdatedAt: at(-30),
    modelConfig: { modelName: 'mine' },
    fullConversationHeadersOnly: headers(['m1']),
  })
  shop.message('own', 'm1', { type: 1, text: 'hello' })
  store.record({ conversationId: 'own', timestamp: at(0), model: 'other' })
  pass()
  expect(indexer.chat('own')).toMatchObject({
    createdAt: iso(-60),
    lastActivityAt: iso(-30),
    model: 'mine',
    models: ['mine'],
    modelSource: 'cursor',
  })
  expect(times('own')).toEqual([[iso(-60), 'chat']])
})

test('a recorded chat that is in no store does not exist', () => {
  store.record({ conversationId: 'nowhere', timestamp: at(0), model: 'm' })
  pass()
  expect(indexer.chats).toEqual([])
})

test('what a person typed or accepted from a completion counts for no chat', () => {
  transcript('a')
  store.record({ conversationId: 'a', timestamp: at(0), model: 'm', source: 'human' })
  store.record({ conversationId: 'a', timestamp: at(0), model: 'm', source: 'tab' })
  store.record({ conversationId: '', timestamp: at(0), model: 'm' })
  pass()
  expect(indexer.chat('a')).toMatchObject({ createdAt: null, model: null, modelSource: null })
  expect(indexer.issues).toEqual([])
  store.record({ conversationId: 'a', timestamp: at(1), model: 'm', source: 'cli' })
  pass()
  expect(indexer.chat('a')).toMatchObject({ createdAt: iso(1), model: 'm', modelSource: 'tracking' })
})

test('for ten thousand recorded lines the mirror has one row per chat and hour', () => {
  store.db.transaction(() => {
    for (let n = 0; n < 10_000; n += 1)
      store.record({ conversationId: `c${n % 2}`, timestamp: at(n / 100), model: 'm' })
  })()
  pass()
  expect(trackedRows()).toHaveLength(4)
})

test('code, file names, summaries and contents in the same file never reach the mirror', () => {
  transcript('a')
  store.record({ conversationId: 'a', timestamp: at(0), model: 'm' })
  store.score('ab'.repeat(20), 4)
  store.hide('a')
  pass()
  pass('full')
  expect(readFileSync(store.path).includes(trackingCanary)).toBe(true)
  expect(trackedRows()).toHaveLength(1)
  expect(bytesBelow(indexer.folder)).not.toContain(trackingCanary)
})

test('nothing is left of a purged chat, and nothing comes back', async () => {
  for (const id of ['a', 'b']) {
    transcript(id)
    store.record({ conversationId: id, timestamp: at(0), model: 'm' })
  }
  pass()
  indexer.mirror.close()
  await new PurgeHere(indexer.folder).purge({ chatIds: [asChatId('a')] })
  indexer.restart()
  store.record({ conversationId: 'a', timestamp: at(1), model: 'm' })
  pass('full')
  expect(trackedRows()).toMatchObject([{ chat_id: 'b' }])
})

describe('how often and how much is read', () => {
  const read = (depth: PassDepth = 'nudge') => steps(depth).seen

  function steps(depth: PassDepth, between: () => void = () => undefined) {
    const [source] = trackingSources(cursorHome())
    if (source === undefined) throw new Error('there is no source')
    const run = source.pass(indexer.mirror, { depth, now: () => nowMs })
    const seen: PassStep[] = []
    for (let next: IteratorResult<PassStep, PassEnd> = run.next(); ; next = run.next()) {
      if (next.done === true) return { seen, end: next.value }
      seen.push(next.value)
      between()
    }
  }

  test('a changed file is read at most once a minute, and is not forgotten', () => {
    store.record({ conversationId: 'a', timestamp: at(0) })
    expect(read()).not.toEqual([])
    nowMs += 20_000
    store.record({ conversationId: 'b', timestamp: at(1) })
    expect(steps('nudge')).toMatchObject({ seen: [], end: { state: 'ok', again: [{ depth: 'count', inMs: 40_000 }] } })
    nowMs += 40_000
    expect(read('count')).not.toEqual([])
    expect(trackedRows()).toHaveLength(2)
  })

  test('old rows are not read again while the last row is unchanged; otherwise all are', () => {
    store.db.transaction(() => {
      for (let n = 0; n < 5000; n += 1) store.record({ conversationId: 'a', timestamp: at(0) })
    })()
    const whole = read().length
    nowMs += 2 * MINUTE_MS
    store.record({ conversationId: 'a', timestamp: at(1) })
    expect(read().length).toBeLessThan(whole)
    nowMs += 2 * MINUTE_MS
    store.db.exec('delete from ai_code_hashes where rowid > 10')
    store.record({ conversationId: 'later', timestamp: at(2) })
    read()
    expect(trackedRows()).toHaveLength(2)
  })

  test('for a file too large to be copied no lock is held between two pages, and Cursor can write', () => {
    const padding = 'x'.repeat(40_000)
    store.db.transaction(() => {
      for (let n = 0; n < 1200; n += 1) store.record({ conversationId: 'a', timestamp: at(0) })
      store.db.prepare('insert into tracking_state values (?, ?)').run('pad', '')
      for (let n = 0; n < 900; n += 1)
        store.db.prepare('insert into tracking_state values (?, ?)').run(`pad${n}`, padding)
    })()
    const cursor = new Database(store.path, { timeout: 0 })
    let written = 0
    const { seen, end } = steps('nudge', () => {
      cursor.exec(`update tracking_state set value = '${(written += 1)}' where key = 'pad'`)
    })
    cursor.close()
    expect(end.state).toBe('ok')
    expect(seen.length).toBeGreaterThan(2)
    expect(written).toBe(seen.length)
    expect(trackedRows()).toHaveLength(1)
  })
})
