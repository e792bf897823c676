import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { giveChat, renameMachine } from '../../src/mirror/machines/write-machines.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { dropChat } from '../../src/mirror/purge/drop-chat.ts'
import { salvage } from '../../src/mirror/salvage/salvage.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { emptyBatch } from '../../src/mirror/write/batch.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId } from '../../src/model/ids.ts'
import { draftOf } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

let opened: OpenMirror
let source: number
beforeEach(() => {
  opened = new OpenMirror()
  // A store of this machine would hide what another machine has of a chat.
  source = opened.source('hub')
})
afterEach(() => opened.remove())

const laptop = { uuid: 'u-1', name: 'laptop', user: 'ada' }
const desk = { uuid: 'u-2', name: 'desk', user: 'grace' }
const [A, B] = [asChatId('a'), asChatId('b')]

const writeChats = (): void => {
  const chats = [A, B].map((id) => {
    const messages = [packMessage(draftOf(`m-${id}`, 'walnut'))]
    return { id, ownRow: { kind: 'unread' as const }, messages, vanished: [] }
  })
  writeBatch(opened.db, { ...emptyBatch, source, nowMs: 1_760_000_000_000, chats })
}

const MACHINES = `
select c.id || ' ' || ifnull(uuid || ' ' || m.user || '/' || m.name, 'here')
from chats c left join machines m on m.id = machine order by c.id
`
const machinesOf = (db = opened.db) => db.prepare<[], string>(MACHINES).pluck().all()
const uuids = () => opened.db.prepare<[], string>('select uuid from machines order by uuid').pluck().all()
const revision = (id: string) => opened.db.prepare<[string], number>('select revision from chats where id = ?').get(id)

test('a chat belongs to this machine until it is given to another, and a later write of it changes nothing', () => {
  writeChats()
  expect(machinesOf()).toEqual(['a here', 'b here'])
  const before = revision('a')
  giveChat(opened.db, A, laptop)
  expect(revision('a')).not.toEqual(before)
  writeChats()
  expect(machinesOf()).toEqual(['a u-1 ada/laptop', 'b here'])
})

test('a machine gets its new name and user, and none is added that has no chat', () => {
  writeChats()
  giveChat(opened.db, A, laptop)
  renameMachine(opened.db, { ...laptop, name: 'old laptop' })
  renameMachine(opened.db, desk)
  expect(machinesOf()).toEqual(['a u-1 ada/old laptop', 'b here'])
  giveChat(opened.db, B, { ...laptop, user: 'lovelace' })
  expect(machinesOf()).toEqual(['a u-1 lovelace/laptop', 'b u-1 lovelace/laptop'])
  expect(uuids()).toEqual(['u-1'])
})

test('a machine goes with its last chat: given to another machine, to this one, or removed', () => {
  writeChats()
  giveChat(opened.db, A, laptop)
  giveChat(opened.db, B, laptop)
  giveChat(opened.db, A, desk)
  expect(uuids()).toEqual(['u-1', 'u-2'])
  giveChat(opened.db, B, null)
  expect(uuids()).toEqual(['u-2'])
  opened.db.exec('delete from messages')
  dropChat(opened.db, opened.db.prepare<[], number>(`select num from chats where id = 'a'`).pluck().get() ?? 0)
  expect(uuids()).toEqual([])
})

test('a chat that does not exist cannot be given away', () => {
  expect(() => giveChat(opened.db, A, laptop)).toThrow('there is no chat a')
})

test('a salvaged mirror still knows the machine of each chat, also of one whose row was lost', () => {
  writeChats()
  giveChat(opened.db, A, laptop)
  giveChat(opened.db, B, desk)
  // As if its page were damaged.
  opened.db.pragma('foreign_keys = off')
  opened.db.exec(`delete from machines where uuid = 'u-2'`)
  opened.db.pragma('wal_checkpoint(truncate)')
  copyFileSync(opened.path, join(opened.folder, 'damaged.db'))
  const db = openWriter(join(opened.folder, 'new.db'))
  for (const _ of salvage(db, { path: join(opened.folder, 'new.db'), file: 'damaged.db', nowMs: 0 }));
  expect(machinesOf(db)).toEqual(['a u-1 ada/laptop', 'b salvaged-2 /salvaged-2'])
  expect(db.pragma('foreign_key_check')).toEqual([])
  db.close()
})
