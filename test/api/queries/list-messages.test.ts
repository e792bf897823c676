import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  COUNT_MESSAGES,
  listMessages,
  ORPHAN_KEYS,
  THREAD_KEYS,
} from '../../../src/api/queries/messages/list-messages.ts'
import { asChatId, asMessageId } from '../../../src/model/ids.ts'
import { seedMirror } from '../../helpers/seed-mirror.ts'
import type { SeededMirror } from '../../helpers/seed-mirror.ts'
import type { Message } from '../../../src/api/http/schemas/messages.ts'

let mirror: SeededMirror
let chat: number
beforeEach(() => {
  mirror = seedMirror()
  chat = mirror.addChat({ id: 'talk' })
})
afterEach(() => mirror.dispose())

interface Asked {
  readonly around?: string
  readonly includeOrphans?: boolean
  readonly limit?: number
  readonly offset?: number
}

function ask(asked: Asked) {
  return listMessages(mirror.reader, {
    chatId: asChatId('talk'),
    around: asked.around === undefined ? null : asMessageId(asked.around),
    includeOrphans: asked.includeOrphans ?? false,
    limit: asked.limit ?? 20,
    offset: asked.offset ?? 0,
  })
}

function page(asked: Asked) {
  const list = ask(asked)
  if (list.kind !== 'page') throw new Error(list.kind)
  return list.page
}

const ids = (items: readonly Message[]) => items.map((message) => message.id)

function plan(sql: string): string {
  const steps = mirror.reader.prepare<[object], { detail: string }>(`explain query plan ${sql}`)
  return steps
    .all({ chat, limit: 1, offset: 0 })
    .map((step) => step.detail)
    .join('\n')
}

describe('a thread of ten with three orphans', () => {
  beforeEach(() => {
    mirror.addMessage(chat, { id: 'o2', isOrphan: true, createdAt: 50 })
    for (let index = 9; index >= 0; index -= 1) {
      mirror.addMessage(chat, { id: `m${index}`, position: index * 2, createdAt: 1000 - index })
    }
    mirror.addMessage(chat, { id: 'o-unknown', isOrphan: true, createdAt: null })
    mirror.addMessage(chat, { id: 'o1', isOrphan: true, createdAt: 40 })
    mirror.addMessage(mirror.addChat({ id: 'other' }), { id: 'm0', position: 0 })
  })
  const thread = Array.from({ length: 10 }, (_, index) => `m${index}`)
  const all = [...thread, 'o1', 'o2', 'o-unknown']

  it("is in Cursor's order, not in order of time", () => {
    expect(page({})).toMatchObject({ total: 10, limit: 20, offset: 0 })
    expect(ids(page({}).items)).toEqual(thread)
    expect(page({}).items.map((message) => message.position)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
  })

  it('has orphans at the end, by time, on request', () => {
    const { items, total } = page({ includeOrphans: true })
    expect(ids(items)).toEqual(all)
    expect(total).toBe(13)
    expect(items.at(-1)).toMatchObject({ isOrphan: true, position: null, createdAt: null })
  })

  it('gives any page, even one with both messages and orphans', () => {
    fc.assert(
      fc.property(fc.nat(15), fc.integer({ min: 1, max: 15 }), fc.boolean(), (offset, limit, includeOrphans) => {
        const expected = includeOrphans ? all : thread
        expect(ids(page({ offset, limit, includeOrphans }).items)).toEqual(expected.slice(offset, offset + limit))
      }),
    )
  })

  it('centres a page on a message as far as possible, and says where the page starts', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.integer({ min: 1, max: 15 }), (index, limit) => {
        const around = all[index] ?? ''
        const { items, offset } = page({ around, limit, includeOrphans: true })
        expect(ids(items)).toEqual(all.slice(offset, offset + limit))
        expect(ids(items)).toContain(around)
        expect(items).toHaveLength(Math.min(limit, all.length))
        const centred = index - Math.floor(limit / 2)
        expect(offset).toBe(Math.max(0, Math.min(centred, all.length - limit)))
      }),
    )
  })

  it.each<[string, Asked, object]>([
    ['a message that is not in the chat', { around: 'nobody' }, { kind: 'unknown-message', isOrphan: false }],
    ['an orphan if orphans are left out', { around: 'o1' }, { kind: 'unknown-message', isOrphan: true }],
  ])('cannot be shown around %s', (_claim, asked, expected) => {
    expect(ask(asked)).toEqual(expected)
  })

  it('a page and its total use only indexes', () => {
    expect(plan(THREAD_KEYS)).toContain('USING INDEX messages_by_chat')
    expect(plan(THREAD_KEYS)).not.toContain('TEMP B-TREE')
    expect(plan(ORPHAN_KEYS)).toContain('USING INDEX orphans')
    expect(plan(COUNT_MESSAGES)).not.toContain('SCAN messages')
  })
})

it('a message has the documented shape', () => {
  mirror.addMessage(chat, {
    id: 'full',
    role: 'assistant',
    position: 7,
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    parts: [
      { kind: 'text', text: ' verbatim \n' },
      { kind: 'attachment', path: 'a.ts', text: null },
    ],
    columns: { model: 'sonnet', input_tokens: 12, output_tokens: 0, is_simulated: 1, is_live: 0 },
  })
  expect(page({}).items).toEqual([
    {
      id: 'full',
      chatId: 'talk',
      position: 7,
      role: 'assistant',
      createdAt: '2026-01-02T03:04:05.006Z',
      createdAtSource: 'message',
      model: 'sonnet',
      tokens: { input: 12, output: null, source: 'recorded' },
      parts: [
        { kind: 'text', text: ' verbatim \n' },
        { kind: 'attachment', path: 'a.ts', text: null },
      ],
      isOrphan: false,
      isSimulated: true,
      deletedInCursor: true,
      isIndexCapped: false,
      source: expect.any(String),
    },
  ])
})

it.each([
  [null, null],
  [0, 0],
])('token counts of %s and %s are no record', (input, output) => {
  mirror.addMessage(chat, { id: 'm', columns: { input_tokens: input, output_tokens: output } })
  expect(page({}).items[0]?.tokens).toBeNull()
})

it('an unknown chat and an empty one have different answers', () => {
  const asked = { around: null, includeOrphans: false, limit: 1, offset: 0 }
  expect(listMessages(mirror.reader, { ...asked, chatId: asChatId('nobody') })).toEqual({ kind: 'unknown-chat' })
  expect(page({})).toEqual({ items: [], total: 0, limit: 20, offset: 0 })
})
