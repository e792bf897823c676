import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Piece, WholeContent } from '../../../src/indexer/open-safely/whole-store.ts'
import { writeWhole } from '../../../src/indexer/open-safely/write-whole.ts'
import { asChatId, asSourceId } from '../../../src/model/ids.ts'
import { draftOf, noFacts } from '../../helpers/mirror-writes.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'

let mirror: OpenMirror

beforeEach(() => {
  mirror = new OpenMirror()
})
afterEach(() => {
  mirror.remove()
})

const pieceOf = (key: string, chatId: string, stamp?: number): Piece => ({
  key,
  octets: 1,
  checksum: 1,
  chats: [{ id: asChatId(chatId), facts: noFacts, outline: null, messages: [draftOf('m', `said in ${chatId}`)] }],
  evidence: [],
  heads: [],
  issue: null,
  ...(stamp === undefined ? {} : { stamp }),
})

function write(pieces: readonly Piece[], keptKeys?: readonly string[]): void {
  const source = { id: asSourceId('pieces'), kind: 'pieces', path: '/pieces', rank: 0 }
  const store = { workspaces: [], identity: '', signature: null, bytesRead: 0, longestReadMs: 0 }
  const content: WholeContent = { ...store, pieces, ...(keptKeys === undefined ? {} : { keptKeys: new Set(keptKeys) }) }
  for (const step of writeWhole(mirror.db, source, content, { depth: 'nudge', now: Date.now }))
    expect(step.backlog).toBeNull()
}

const chats = (): unknown => mirror.db.prepare('select id, is_live as isLive from chats order by id').all()
const rows = (): unknown =>
  mirror.db.prepare('select key, source_rowid as stamp from source_rows where is_live = 1 order by key').raw().all()

test('a piece that was not read this time stays; a piece that is neither read nor kept is gone', () => {
  write([pieceOf('a', 'one'), pieceOf('b', 'two'), pieceOf('c', 'three')])
  write([pieceOf('a', 'one')], ['b'])
  expect(chats()).toEqual([
    { id: 'one', isLive: 1 },
    { id: 'three', isLive: 0 },
    { id: 'two', isLive: 1 },
  ])
  expect(mirror.db.prepare('select total_rows from sources').pluck().get()).toBe(2)
})

test('a chat in a kept piece is not gone when another of its pieces is', () => {
  write([pieceOf('a', 'one'), pieceOf('b', 'one')])
  write([], ['b'])
  expect(chats()).toEqual([{ id: 'one', isLive: 1 }])
  write([], [])
  expect(chats()).toEqual([{ id: 'one', isLive: 0 }])
})

test('a stamp is stored with the piece, and a new stamp is written even if the bytes are the same', () => {
  write([pieceOf('a', 'one', 7), pieceOf('b', 'two')])
  expect(rows()).toEqual([
    ['a', 7],
    ['b', 0],
  ])
  write([pieceOf('a', 'one', 8), pieceOf('b', 'two')])
  expect(rows()).toEqual([
    ['a', 8],
    ['b', 0],
  ])
})
