import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { countBacklog, indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { emptyBatch, type Batch } from '../../src/mirror/write/batch.ts'
import type { Aside, AsideTask, AsideTaskName, Taken } from '../../src/mirror/aside.ts'
import { CutAhead, cutBacklog, type CutOrder } from '../../src/mirror/fulltext/cut-ahead.ts'
import { mergeLater, mergeSome, needsMerge } from '../../src/mirror/fulltext/merge-terms.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId } from '../../src/model/ids.ts'
import { draftOf } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
let opened: OpenMirror
let mirror: Mirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  mirror = opened.db
  source = opened.source('composer-kv')
})

afterEach(() => opened.remove())

function write(texts: Readonly<Record<string, string>>, more: Partial<Batch> = {}): void {
  const messages = Object.entries(texts).map(([id, text], at) =>
    packMessage(draftOf(id, text, { sentAtMs: T0 + at * 1000 })),
  )
  const chat = { id: asChatId('chat'), ownRow: { kind: 'unread' } as const, messages, vanished: [] }
  writeBatch(mirror, { ...emptyBatch, source, nowMs: T0, chats: [chat], ...more })
}

const later = { isIndexedLater: true }

const found = (term: string): number =>
  (mirror.prepare('select count(*) as n from message_terms where message_terms match ?').get(term) as { n: number }).n

test('a deferred message can be read at once and is searchable after the backlog was indexed', () => {
  write({ m1: 'apple', m2: 'pear' }, later)
  expect([countBacklog(mirror), found('apple'), found('pear')]).toEqual([2, 0, 0])
  expect(indexBacklog(mirror)).toBe(2)
  expect([countBacklog(mirror), found('apple'), found('pear')]).toEqual([0, 1, 1])
  expect(indexBacklog(mirror)).toBe(0)
})

test('a message that is rewritten while in the backlog is found only by its new words', () => {
  write({ m1: 'apple', m2: 'pear' }, later)
  write({ m1: 'plum' })
  expect([countBacklog(mirror), found('plum')]).toEqual([1, 1])
  indexBacklog(mirror)
  expect([found('apple'), found('plum'), found('pear')]).toEqual([0, 1, 1])
  mirror.exec(`insert into message_terms (message_terms) values ('integrity-check')`)
})

test('a message that is rewritten and deferred again is found only by its new words', () => {
  write({ m1: 'apple', m2: 'pear' }, later)
  write({ m1: 'plum' }, later)
  expect([countBacklog(mirror), indexBacklog(mirror), indexBacklog(mirror)]).toEqual([2, 2, 0])
  expect([found('apple'), found('plum'), found('pear')]).toEqual([0, 1, 1])
})

test('indexed messages leave the backlog, and messages added later are found once', () => {
  write({ m1: 'apple' }, later)
  indexBacklog(mirror)
  write({ m2: 'apple' }, later)
  expect([countBacklog(mirror), indexBacklog(mirror), countBacklog(mirror)]).toEqual([1, 1, 0])
  expect(found('apple')).toBe(2)
})

test('the newest messages are indexed first, and few long messages per transaction', () => {
  const long = `word ${'x '.repeat(5 * 1024 * 1024)}`
  write({ m1: long, m2: long, m3: long, m4: 'newest' }, later)
  expect(indexBacklog(mirror)).toBeLessThan(4)
  expect([found('newest'), countBacklog(mirror) > 0]).toEqual([1, true])
  while (indexBacklog(mirror) > 0);
  expect(found('word')).toBe(3)
})

/** Cuts the whole backlog at once, like a thread that is far ahead. */
const farAhead: Aside = {
  wake: () => undefined,
  start<Value>(_: AsideTaskName, input: unknown): AsideTask<Value> {
    const cut = [...cutBacklog(input as CutOrder)]
    const take = (): Taken<Value> => {
      const value = cut.shift()
      return value === undefined ? { kind: 'end' } : { kind: 'value', value: value as Value }
    }
    return { take, cancel: () => undefined }
  },
}

test('a message that is rewritten after its terms were cut ahead is found only by its new words', () => {
  const old = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`m${at}`, 'apple']))
  write({ ...old, newest: `word ${'x '.repeat(5 * 1024 * 1024)}` }, later)
  const ahead = new CutAhead(farAhead, opened.path)
  // The first batch is the long message alone.
  expect(indexBacklog(mirror, ahead)).toBe(1)
  write({ m0: 'plum' }, later)
  while (indexBacklog(mirror, ahead) > 0);
  expect([found('plum'), found('apple')]).toEqual([1, 1999])
})

const segments = (): unknown => mirror.prepare('select count(distinct segid) from message_terms_idx').pluck().get()

test('the many segments of a large backlog are merged into one, with the same search results', () => {
  const rounds = 8
  for (let round = 0; round < rounds; round += 1) {
    const texts = Array.from(
      { length: 600 },
      (_, at) => [`m${round}-${at}`, `all ${at === 7 ? 'plum' : 'fig'} ${round === 3 ? 'pear' : 'fig'}`] as const,
    )
    write(Object.fromEntries(texts), later)
    expect(needsMerge(mirror)).toBe(round * 600 >= 4000)
    while (indexBacklog(mirror) > 0);
  }
  expect([segments(), needsMerge(mirror)]).toEqual([rounds, true])
  const finds = (): number[] => ['all', 'plum', 'pear'].map(found)
  const before = finds()
  expect(before).toEqual([4800, 8, 600])
  while (needsMerge(mirror)) {
    mergeSome(mirror)
    expect(finds()).toEqual(before)
  }
  expect(segments()).toBe(1)
  mirror.exec(`insert into message_terms (message_terms) values ('integrity-check')`)
})

test('rows that are to be merged later stay in their segments, also over a kill, until a merge ends it', () => {
  let number = 0
  const add = (count: number): void => {
    for (let at = 0; at < count; at += 1) {
      write({ [`m${(number += 1)}`]: 'fig' }, later)
      indexBacklog(mirror)
    }
  }
  mergeLater(mirror)
  add(40)
  // Another connection knows only what is stored, like one after a kill.
  mirror = openWriter(opened.path)
  onTestFinished(() => void mirror.close())
  add(20)
  expect([segments(), needsMerge(mirror)]).toEqual([60, true])
  while (needsMerge(mirror)) mergeSome(mirror)
  expect(segments()).toBe(1)
  add(60)
  expect(segments()).toBeLessThan(20)
  expect(found('fig')).toBe(120)
})

test('a page of the full-text index fills one page of the file and never needs a second one', () => {
  const texts = Array.from({ length: 3000 }, (_, at) => [`m${at}`, `all ${`fig${at} `.repeat(at % 9)}`] as const)
  write(Object.fromEntries(texts), later)
  while (indexBacklog(mirror) > 0);
  const longest = mirror.prepare('select max(length(block)) from message_terms_data').pluck().get()
  expect(longest).toBeGreaterThan(16_320)
  const types = `select distinct pagetype from dbstat where name = 'message_terms_data' order by 1`
  expect(mirror.prepare(types).pluck().all()).toEqual(['internal', 'leaf'])
})
