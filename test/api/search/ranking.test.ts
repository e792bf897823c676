import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CLOSE_MAX, RANKED_MAX, READ_MAX } from '../../../src/api/search/match/rank.ts'
import { search } from '../../../src/api/search/search.ts'
import type { SearchRequest } from '../../../src/api/search/request.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import type { Part } from '../../../src/model/part.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2025, 0, 5)

let db: Mirror
let count = 0
beforeEach(() => {
  db = openTestMirror()
  count = 0
})
afterEach(() => void db.close())

/** Each message is a minute later than the one before. */
function say(chat: number, id: string, parts: string | readonly Part[], createdAtMs = START_MS + count * 60_000): void {
  count += 1
  insertMessage(db, chat, { id, parts, position: count, createdAtMs })
}

const printed = (output: string): readonly Part[] => [
  { kind: 'tool', name: 'grep', status: 'completed', callId: null, input: null, output, error: null, paths: [] },
]

const ids = (q: string, changes: Partial<SearchRequest> = {}): readonly string[] =>
  search(db, requestOf(q, changes)).items.map(({ message }) => message.id)

describe('relevant hits come before frequent, new or long ones', () => {
  test('text comes before tool output with a hundred occurrences', () => {
    const chat = insertChat(db, { id: 'chat' })
    say(chat, 'text', `The toucan scheduler, which loses jobs. ${'And more of it. '.repeat(20)}`)
    for (let at = 0; at < 300; at += 1) say(chat, `log${at}`, printed('toucan jobs=0\n'.repeat(100)))
    expect(ids('toucan jobs')[0]).toBe('text')
  })

  test('a name comes before longer names that begin with it', () => {
    const chat = insertChat(db, { id: 'chat' })
    say(chat, 'exact', 'How long does ibis_index take?')
    for (let at = 0; at < 40; at += 1) say(chat, `longer${at}`, 'ibisIndexBuilder, ibisIndexReader, ibisIndexWriter')
    expect(ids('ibisIndex')[0]).toBe('exact')
  })

  test('adjacent words come before separate ones, even if thousands of those are newer', () => {
    const chat = insertChat(db, { id: 'chat' })
    db.transaction(() => {
      say(chat, 'together', 'We have many things here, of which the stork batch size is only one.')
      for (let at = 0; at < RANKED_MAX + 100; at += 1) say(chat, `apart${at}`, 'A batch of one size for a stork.')
    })()
    expect(ids('stork batch size')[0]).toBe('together')
  })

  test('an exact sentence comes first, even if two of its words are adjacent in thousands of newer messages', () => {
    const chat = insertChat(db, { id: 'chat' })
    db.transaction(() => {
      say(chat, 'whole', 'We have many things here, and of all of them this can be used to feed a heron.')
      for (let at = 0; at < RANKED_MAX + 100; at += 1) say(chat, `apart${at}`, 'It can be that he used to do this.')
    })()
    expect(ids('this can be used to')[0]).toBe('whole')
    expect(ids('this can be used to -stork')[0]).toBe('whole')
    expect(ids('in:text this can be us*')[0]).toBe('whole')
  })

  test('with OR, messages with more of the words come first', () => {
    const chat = insertChat(db, { id: 'chat' })
    say(chat, 'all', 'A heron, an egret and a stork stood there, and they talked for very long of this and that.')
    for (let at = 0; at < 100; at += 1) say(chat, `one${at}`, 'heron heron')
    expect(ids('heron OR egret OR stork')[0]).toBe('all')
  })

  test('a short answer comes before a long output', () => {
    const chat = insertChat(db, { id: 'chat' })
    say(chat, 'short', 'Set plover to 5.')
    for (let at = 0; at < 20; at += 1)
      say(chat, `dump${at}`, `plover is one of them: ${'many words of a dump '.repeat(2000)}`)
    expect(ids('plover')[0]).toBe('short')
  })

  test('a chat with a matching title comes before passing mentions, even if its only match is tool output', () => {
    const other = insertChat(db, { id: 'other', title: 'Something else' })
    for (let at = 0; at < 10; at += 1) say(other, `mention${at}`, 'And then parseRobin was in our way.')
    const called = insertChat(db, { id: 'called', title: 'parseRobin' })
    say(called, 'printed', printed('src/parse_robin.ts'), START_MS - DAY_MS)
    say(called, 'again', printed('src/parse_robin.test.ts'), START_MS - 2 * DAY_MS)
    expect(ids('parseRobin')[0]).toBe('printed')
    expect(ids('parseRobin').at(-1)).toBe('again')
    expect(ids('parseRobin', { group: 'chat' })[0]).toBe('printed')
  })

  test('a title comes before a passing mention, and messages of a chat with that title come before others', () => {
    const called = insertChat(db, { id: 'called', title: 'Rounding of puffin invoices' })
    say(called, 'opening', 'Have a look at these.')
    const about = insertChat(db, { id: 'about', title: 'Puffin exports' })
    say(about, 'own', 'The puffin invoices are late.')
    const other = insertChat(db, { id: 'other', title: 'Something else' })
    for (let at = 0; at < 10; at += 1) say(other, `other${at}`, 'The puffin invoices are late.')
    for (let at = 0; at < 10; at += 1) say(other, `passing${at}`, 'Invoices are printed, and later there is a puffin.')
    expect(ids('puffin invoices').slice(0, 2)).toEqual(['opening', 'own'])
  })

  test('of equal messages the newer comes first, but a better old one comes before both', () => {
    const chat = insertChat(db, { id: 'chat' })
    say(chat, 'better', 'avocet restarts', START_MS)
    say(chat, 'old', 'avocet, which now and then restarts', START_MS + 100 * DAY_MS)
    say(chat, 'new', 'avocet, which now and then restarts', START_MS + 300 * DAY_MS)
    expect(ids('avocet restarts')).toEqual(['better', 'new', 'old'])
  })
})

test('scores decrease along the list, and pages have no overlaps and no gaps, even beyond the messages that are read', () => {
  const chat = insertChat(db, { id: 'chat' })
  const titled = insertChat(db, { id: 'titled', title: 'All about the needle' })
  say(titled, 'carrier', 'hello')
  db.transaction(() => {
    for (let at = 0; at < RANKED_MAX + 300; at += 1) say(chat, `m${at}`, `needle ${'word '.repeat(at % 7)}`)
  })()
  const pages = Array.from({ length: 13 }, (_, page) =>
    search(db, requestOf('needle', { limit: 200, offset: page * 200 })),
  )
  const items = pages.flatMap((page) => page.items)
  expect(new Set(items.map(({ message }) => message.id)).size).toBe(items.length)
  expect(items.length).toBe(RANKED_MAX + 301)
  const scores = items.map(({ score }) => score)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(scores[READ_MAX]).toBeGreaterThan(0)
  expect(CLOSE_MAX).toBeLessThan(READ_MAX)
  expect(pages[0]).toMatchObject({ total: 1000, totalIsExact: false })
})

test('up to 1,000 hits are counted exactly, with any sort and filter', () => {
  const chat = insertChat(db, { id: 'chat' })
  const extra = insertChat(db, { id: 'extra', title: 'needle' })
  db.transaction(() => {
    for (let at = 0; at < 999; at += 1) say(chat, `m${at}`, 'needle')
  })()
  say(extra, 'carrier', 'hello')
  for (const sort of ['relevance', 'newest', 'oldest'] as const) {
    expect(search(db, requestOf('needle', { sort }))).toMatchObject({ total: 1000, totalIsExact: true })
    const filters = { role: ['user'] }
    expect(search(db, requestOf('needle', { sort, filters }))).toMatchObject({ total: 1000, totalIsExact: true })
  }
  say(chat, 'more', 'needle')
  for (const sort of ['relevance', 'newest', 'oldest'] as const) {
    expect(search(db, requestOf('needle', { sort }))).toMatchObject({ total: 1000, totalIsExact: false })
  }
})

test('title hits are sorted by time even if there are too many messages to count', () => {
  const chat = insertChat(db, { id: 'chat' })
  const titles = (['first', 'middle', 'last'] as const).map(
    (id) => [id, insertChat(db, { id, title: 'The needle' })] as const,
  )
  db.transaction(() => {
    for (let at = 0; at < 3000; at += 1) say(chat, `m${at}`, 'needle', START_MS + at * 60_000)
  })()
  for (const [index, [id, num]] of titles.entries()) say(num, id, 'hello', START_MS + index * 1500 * 60_000 - 30_000)
  expect(ids('needle', { sort: 'oldest', limit: 3 })).toEqual(['first', 'm0', 'm1'])
  expect(ids('needle', { sort: 'newest', limit: 3 })).toEqual(['last', 'm2999', 'm2998'])
  expect(ids('needle', { sort: 'newest', limit: 3, offset: 1500 })).toEqual(['m1500', 'middle', 'm1499'])
})
