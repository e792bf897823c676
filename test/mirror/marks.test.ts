import { afterEach, beforeEach, expect, test } from 'vitest'
import { search } from '../../src/api/search/search.ts'
import { indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { emptyBatch, type Batch } from '../../src/mirror/write/batch.ts'
import { packMessage } from '../../src/mirror/write/messages/pack-message.ts'
import { writeBatch } from '../../src/mirror/write/write-batch.ts'
import { asChatId } from '../../src/model/ids.ts'
import type { ToolStatus } from '../../src/model/part.ts'
import { requestOf } from '../helpers/mirror-rows.ts'
import { draftOf } from '../helpers/mirror-writes.ts'
import { OpenMirror } from '../helpers/open-mirror.ts'

const T0 = 1_760_000_000_000
let opened: OpenMirror
let source: number

beforeEach(() => {
  opened = new OpenMirror()
  source = opened.source('composer-kv')
})

afterEach(() => opened.remove())

function write(status: ToolStatus, more: Partial<Batch> = {}): void {
  const call = { callId: null, input: null, output: null, error: null, paths: ['src/api/plum.ts'] }
  const parts = [{ kind: 'tool', name: 'read_file', status, ...call } as const]
  const messages = [packMessage(draftOf('m1', '', { sentAtMs: T0, parts, model: 'gpt-5' }))]
  const chat = { id: asChatId('chat'), ownRow: { kind: 'unread' } as const, messages, vanished: [] }
  writeBatch(opened.db, { ...emptyBatch, source, nowMs: T0, chats: [chat], ...more })
}

const count = (q: string): number => search(opened.db, requestOf(q)).total

test('a message is found by its tool, its path, its model and parts of its words', () => {
  write('completed')
  expect(['tool:read_file', 'tool:read', 'path:src/api', 'model:gpt', 'in:tool', '*lum*'].map(count)).toEqual(
    Array(6).fill(1),
  )
  expect(['tool:edit', 'path:api/src', 'model:claude', 'in:text', 'has:error', '*lumm*'].map(count)).toEqual(
    Array(6).fill(0),
  )
})

test('a call that fails later is found as an error, although no word changed', () => {
  write('running')
  expect(count('has:error')).toBe(0)
  write('error')
  expect([count('has:error'), count('tool:read_file')]).toEqual([1, 1])
})

test('a call that fails while it is in the backlog is found as an error', () => {
  write('running', { isIndexedLater: true })
  write('error', { isIndexedLater: true })
  expect(indexBacklog(opened.db)).toBe(1)
  expect(count('has:error')).toBe(1)
})
