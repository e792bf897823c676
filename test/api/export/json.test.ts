import { describe, expect, it } from 'vitest'
import { toJson, toJsonl } from '../../../src/api/export/formats.ts'
import { hostileChat, hostileMessages, messageOf, plainChat } from './hostile-chat.ts'

const stamp = { version: '1.2.3', exportedAt: '2026-02-20T00:00:00.000Z' }

/** As a file keeps it: whatever UTF-8 cannot carry would be lost here. */
const kept = (stretches: Iterable<string>): string => Buffer.from([...stretches].join('')).toString('utf8')

const thread = Array.from({ length: 300 }, (_, position) => messageOf(`m${position}`, [], { position }))

describe.each([
  ['an empty thread', plainChat, []],
  ['one message', plainChat, hostileMessages.slice(0, 1)],
  ['a hostile chat', hostileChat, hostileMessages],
  ['300 messages', plainChat, thread],
])('%s', (_, chat, messages) => {
  it('comes back whole out of JSON', () => {
    expect(JSON.parse(kept(toJson(chat, messages, stamp)))).toEqual({ ...stamp, chat, messages })
  })

  it('comes back whole out of JSONL, line by line', () => {
    const text = kept(toJsonl(chat, messages, stamp))
    const lines = text.split('\n')
    expect(lines.pop()).toBe('')
    const [head, ...rest] = lines.map((line) => JSON.parse(line) as unknown)
    expect(head).toEqual({ kind: 'chat', ...stamp, ...chat })
    expect(rest).toEqual(messages)
  })
})

it('a stretch is at most a message long: the thread is never in memory at once', () => {
  let taken = 0
  const counted = (function* () {
    for (const message of thread) {
      taken += 1
      yield message
    }
  })()
  for (const write of [toJson, toJsonl]) {
    taken = 0
    const stretches = write(plainChat, counted, stamp)
    stretches.next()
    expect(taken).toBe(0)
    stretches.next()
    expect(taken).toBeLessThanOrEqual(1)
  }
})
