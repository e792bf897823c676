import { afterEach, beforeEach, expect, test } from 'vitest'
import { emptyBatch, type Batch } from '../../src/mirror/write/batch.ts'
import { inBulk } from '../../src/mirror/fulltext/bulk.ts'
import type { Mirror } from '../../src/mirror/open.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId, asMessageId } from '../../src/model/ids.ts'
import { draftOf } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

let opened: OpenMirror
let mirror: Mirror
let source: number
/** Levels of `synchronous` of the last commits; 2 (full) means synced to the disk. */
let levels: number[]

beforeEach(() => {
  opened = new OpenMirror()
  mirror = opened.db
  source = opened.source('composer-kv')
  levels = []
  let level = 2
  const pragma = mirror.pragma.bind(mirror)
  mirror.pragma = (text, options) => {
    level = { 'synchronous = full': 2, 'synchronous = normal': 1 }[text] ?? level
    return pragma(text, options)
  }
  mirror.function('level', () => levels.push(level))
  mirror.exec(`create temp trigger commits after update on sources begin select level(); end`)
})

afterEach(() => opened.remove())

function write(more: Partial<Batch>): void {
  writeBatch(mirror, { ...emptyBatch, source, nowMs: 1, ...more })
}

const chat = (more: object) => ({
  id: asChatId('c'),
  ownRow: { kind: 'unread' as const },
  messages: [],
  vanished: [],
  ...more,
})

function inBulkDo(act: () => void): void {
  const steps = inBulk(mirror, function* () {
    act()
    yield
  })
  while (steps.next().done !== true);
}

test('marking a message as gone is synced at once, also during bulk writing', () => {
  write({ chats: [chat({ messages: [packMessage(draftOf('m1', 'apple'))] })] })
  inBulkDo(() => {
    write({ chats: [chat({ messages: [packMessage(draftOf('m2', 'pear'))] })] })
    expect(levels).toEqual([])
    write({ chats: [chat({ vanished: [asMessageId('m1')] })] })
    expect(levels).toEqual([2])
    expect(mirror.pragma('synchronous', { simple: true })).toBe(1)
  })
  expect(mirror.pragma('synchronous', { simple: true })).toBe(2)
})

test('outside of bulk writing every commit is synced', () => {
  write({ chats: [chat({ messages: [packMessage(draftOf('m1', 'apple'))] })] })
  expect(mirror.pragma('synchronous', { simple: true })).toBe(2)
})
