import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { emptyBatch, type Batch, type ChatFacts, type ChatWrite } from '../../../src/mirror/write/batch.ts'
import type { Mirror } from '../../../src/mirror/open.ts'
import { packMessage } from '../../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../../src/mirror/write/write-batch.ts'
import { asChatId, asMessageId } from '../../../src/model/ids.ts'
import { ArchiveFolder } from '../../helpers/archive-folder.ts'
import { draftOf, noFacts } from '../../helpers/mirror-writes.ts'
import { OpenMirror } from '../../helpers/open-mirror.ts'
import { restoreHere } from '../../helpers/restored-mirror.ts'

const T0 = 1_760_000_000_000
let archive: ArchiveFolder
let opened: OpenMirror
let mirror: Mirror
let store: number

/** A chat as a store has it. Every message is from the user. */
function chatOf(id: string, texts: readonly string[], facts: Partial<ChatFacts> = {}): ChatWrite {
  const ids = texts.map((text) => asMessageId(text.split(' ')[0] ?? ''))
  const outline = ids.map((name) => ({ id: name, role: null, createdAtMs: null, startedAtMs: null }))
  const messages = texts.map((text, at) => packMessage(draftOf(ids[at] ?? '', text)))
  const all = { ...noFacts, createdAtMs: T0, updatedAtMs: T0, ...facts }
  const ownRow = { kind: 'read', facts: all, outline, embeddedIds: new Set<never>(), octets: 10 } as const
  return { id: asChatId(id), ownRow, messages, vanished: [] }
}

const write = (db: Mirror, source: number, chats: readonly ChatWrite[], more: Partial<Batch> = {}) =>
  writeBatch(db, { ...emptyBatch, source, nowMs: T0 + 1000, chats, ...more })

const rowOf = (sql: string, ...values: unknown[]): unknown => mirror.prepare(sql).get(...values)
const chatRow = (id: string): unknown =>
  rowOf(`select chats.*, kind from chats join sources on sources.num = source where chats.id = ?`, id)
const found = (term: string): unknown =>
  rowOf(`select count(*) as n from message_terms where message_terms match ?`, term)
const lossCount = (): unknown => rowOf('select count(*) as n from losses')

/** `id:position` of every message, or its other state. */
function placesOf(id: string): string[] {
  const sql = `
    select messages.id, position, is_orphan, messages.is_live, kind from messages
    join chats on chats.num = chat join sources on sources.num = messages.source
    where chats.id = ? order by is_orphan, position, messages.id, kind`
  const rows = mirror.prepare(sql).all(id) as Record<string, string | number>[]
  return rows.map((row) => {
    const place = ['', 'orphan', 'copy'][Number(row['is_orphan'])] || row['position']
    return `${row['id']}:${place}:${row['kind']}${row['is_live'] === 1 ? '' : ':gone'}`
  })
}

beforeEach(async () => {
  const first = new OpenMirror()
  write(first.db, first.source('store'), [
    chatOf('c', ['a1 plant an apple', 'a2 the apple is planted', 'a3 and a walnut'], {
      name: 'Trees',
      isArchived: true,
    }),
    chatOf('empty', [], { name: 'Nothing said' }),
  ])
  archive = new ArchiveFolder()
  await archive.run(first.db)
  first.remove()
  opened = new OpenMirror()
  mirror = opened.db
  store = opened.source('store')
})
afterEach(() => {
  archive.remove()
  opened.remove()
})

test('a restored chat is found, is marked as deleted, and is not a new loss', async () => {
  expect(await restoreHere(mirror, archive.dir)).toMatchObject({
    chats: 1,
    unlisted: 1,
    messages: 3,
    added: 3,
    addedChats: 1,
  })
  expect(placesOf('c')).toEqual(['a1:0:archive:gone', 'a2:1:archive:gone', 'a3:2:archive:gone'])
  expect(chatRow('c')).toMatchObject({ title: 'Trees', is_live: 0, deleted_at: null, kind: 'archive', is_archived: 1 })
  expect([found('walnut'), lossCount()]).toEqual([{ n: 1 }, { n: 0 }])
})

describe.each([
  ['before', true],
  ['after', false],
])('a chat that a store tells %s the restore', (_, isBefore) => {
  beforeEach(async () => {
    const now = chatOf('c', ['a1 plant an apple', 'a2 the apple was planted'], { name: 'Orchard' })
    if (isBefore) write(mirror, store, [now])
    await restoreHere(mirror, archive.dir)
    if (!isBefore) write(mirror, store, [now])
  })

  test('belongs to the store, and keeps what only the archive has', () => {
    const copies = isBefore ? [] : ['a1:copy:archive:gone', 'a2:copy:archive:gone']
    expect(placesOf('c')).toEqual(['a1:0:store', 'a2:1:store', 'a3:orphan:archive:gone', ...copies])
    // The archive no longer counts as its source.
    expect(chatRow('c')).toMatchObject({
      title: 'Orchard',
      is_live: 1,
      kind: 'store',
      message_count: 2,
      is_archived: 0,
    })
    expect([found('was'), found('is'), found('walnut'), lossCount()]).toEqual([{ n: 1 }, { n: 0 }, { n: 1 }, { n: 0 }])
  })

  test('is lost once when the store loses it again', () => {
    const ids = ['a1', 'a2'].map(asMessageId)
    const gone: ChatWrite = { id: asChatId('c'), ownRow: { kind: 'gone' }, messages: [], vanished: ids }
    expect(write(mirror, store, [gone]).losses).toEqual([{ kind: 'chat', chatId: 'c', messageId: null }])
    expect(chatRow('c')).toMatchObject({ is_live: 0, deleted_at: T0 + 1000, kind: 'store' })
  })

  test('is unchanged when it is read or restored again', async () => {
    expect(await restoreHere(mirror, archive.dir)).toMatchObject({ added: 0, addedChats: 0 })
    const again = chatOf('c', ['a1 plant an apple', 'a2 the apple was planted'], { name: 'Orchard' })
    expect(write(mirror, store, [again])).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })
})

test('if the store only has messages of a chat, its facts come from the archive', async () => {
  const left: ChatWrite = { ...chatOf('c', ['a2 the apple is planted']), ownRow: { kind: 'unread' } }
  write(mirror, store, [left])
  await restoreHere(mirror, archive.dir)
  expect(placesOf('c')).toEqual(['a1:0:archive:gone', 'a2:1:store', 'a3:2:archive:gone'])
  expect(chatRow('c')).toMatchObject({ title: 'Trees', is_live: 1, deleted_at: null })
  expect(write(mirror, store, [left])).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('a restored chat that is archived again keeps its origin', async () => {
  await restoreHere(mirror, archive.dir)
  const second = new ArchiveFolder()
  const third = new OpenMirror()
  await second.run(mirror)
  await restoreHere(third.db, second.dir)
  const originOf = (db: Mirror): unknown => db.prepare(`select path from sources where kind = 'archive'`).all()
  expect(originOf(third.db)).toEqual(originOf(mirror))
  second.remove()
  third.remove()
})

test('a newer archive of a restored chat adds its new messages and name, and an older one changes nothing', async () => {
  const older = archive
  const first = new OpenMirror()
  const source = first.source('store')
  const newest = ['a1 plant an apple', 'a2 the apple is planted', 'a3 and a walnut', 'a4 and a pear']
  write(first.db, source, [chatOf('c', newest, { name: 'Orchard', updatedAtMs: T0 + 5000 })])
  const newer = new ArchiveFolder()
  await newer.run(first.db)
  first.remove()
  for (const folder of [older, newer, older]) await restoreHere(mirror, folder.dir)
  expect(chatRow('c')).toMatchObject({ title: 'Orchard', message_count: 4 })
  expect(placesOf('c').at(-1)).toBe('a4:3:archive:gone')
  newer.remove()
})
