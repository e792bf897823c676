import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import { checkSomeParts, noteChecked } from '../../src/mirror/maintenance/check-in-parts.ts'
import { openReader, openWriter } from '../../src/mirror/open.ts'
import { lossyHome, type LossyHome } from '../helpers/guard/lossy-home.ts'
import { keepNow } from '../helpers/guard/healed.ts'
import { spoilMirror } from '../helpers/spoil-mirror.ts'

const DAY_MS = 24 * 3_600_000

let home: LossyHome
let path: string
let kept: MirrorMaintenance

beforeAll(() => {
  home = lossyHome(10, 20)
})
afterAll(() => home.remove())

/** A sound mirror that was closed in order. */
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'cursordex-mark-')), 'mirror.db')
  home.indexer.mirror.pragma('wal_checkpoint(truncate)')
  copyFileSync(home.indexer.path, path)
  kept = new MirrorMaintenance(path, Date.now)
  keepNow(kept, 'start')
  kept.close()
})

afterEach(() => {
  kept.close()
  rmSync(join(path, '..'), { recursive: true, force: true })
})

const isMarked = (): boolean => existsSync(`${path}-clean`)

test('the mark is there only while nobody can write: a kill leaves none', () => {
  expect(isMarked()).toBe(true)
  expect(kept.db.open).toBe(true)
  expect(isMarked()).toBe(false)
  kept.close()
  expect(isMarked()).toBe(true)
})

test('a mirror without a mark is checked at the start, and has no mark before', () => {
  rmSync(`${path}-clean`)
  expect(kept.db.open).toBe(true)
  kept.close()
  expect(isMarked()).toBe(false)
  spoilMirror(path, 'chat_digests', true)
  expect(keepNow(kept, 'start').damage).toBe('rows')
  kept.close()
  expect(isMarked()).toBe(false)
})

test('a mark does not count after anybody changed the file', () => {
  spoilMirror(path, 'chat_digests', false)
  expect(keepNow(kept, 'start').damage).toBe('rows')
})

test.each(['', 'nonsense'])('a mark with the text "%s" does not count', (text) => {
  spoilMirror(path, 'chat_digests', true)
  writeFileSync(`${path}-clean`, text)
  expect(keepNow(kept, 'start').damage).toBe('rows')
})

test('after an error that means damage a mirror gets no mark until its pages were checked', () => {
  expect(kept.db.open).toBe(true)
  kept.doubt()
  kept.close()
  expect(isMarked()).toBe(false)
  keepNow(kept, 'check')
  kept.close()
  expect(isMarked()).toBe(true)
})

test.each([
  ['chat_digests', 'rows'],
  ['bodies', 'rows'],
  ['message_terms_data', 'terms'],
])('a page of %s that went bad after a clean end is found by the check in parts', (table, damage) => {
  spoilMirror(path, table, true)
  expect(keepNow(kept, 'start').damage).toBe('none')
  const reader = openReader(path)
  // The check at the first start was just now.
  expect(checkSomeParts(reader, Infinity, Date.now)).toEqual({ sound: [], damage: 'none', hasMore: false })
  expect(checkSomeParts(reader, Infinity, () => Date.now() + DAY_MS)).toMatchObject({ damage })
  reader.close()
})

test('the check in parts continues where it ended, and begins again a day later or with another clock', () => {
  const db = openWriter(path)
  let nowMs = Date.now() + DAY_MS
  const round = (): string[] => {
    const names: string[] = []
    for (let hasMore = true; hasMore;) {
      const some = checkSomeParts(db, 0, () => nowMs)
      expect([some.damage, some.sound.length]).toEqual(['none', 1])
      noteChecked(db, some.sound, nowMs)
      names.push(...some.sound)
      hasMore = some.hasMore
      nowMs += 1000
    }
    return names
  }
  const first = round()
  expect(new Set(first).size).toBe(first.length)
  expect(first).toEqual(expect.arrayContaining(['messages', 'bodies', 'message_terms_data', 'all tables']))
  expect(checkSomeParts(db, 0, () => nowMs).sound).toEqual([])
  nowMs += DAY_MS
  expect(round()).toEqual(first)
  nowMs -= 365 * DAY_MS
  expect(round()).toEqual(first)
  db.close()
})
