import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodeConversationState,
  decodeStep,
  decodeTurn,
} from '../../../src/indexer/sources/records/conversation-state.ts'
import type { ReadBlobs } from '../../../src/indexer/sources/records/walk-state.ts'
import { walkState } from '../../../src/indexer/sources/records/walk-state.ts'
import { bytesField, encodeState, numberField, type StatePlan } from '../../helpers/cursor.ts'
import { system, user } from '../../helpers/eras/cli-store.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'

/** Blobs by their ids, and which were read. */
class Blobs {
  readonly held = new Map<string, Buffer>()
  readonly asked: string[][] = []

  put(value: unknown): string {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))
    const id = createHash('sha256').update(bytes).digest('hex')
    this.held.set(id, bytes)
    return id
  }

  state = (plan: StatePlan): string => this.put(encodeState(plan))

  readonly read: ReadBlobs = (ids) => {
    this.asked.push([...ids])
    return new Map(ids.map((id) => [id, this.held.get(id) ?? null]))
  }

  walk = (plan: StatePlan) => walkState(encodeState(plan), this.read)
}

const textsOf = ({ entries }: ReturnType<typeof walkState>): unknown[] =>
  entries.map(({ message }) =>
    JSON.stringify(message['content'] ?? null)
      .replace(/^.*"text":"([^"]*)".*$/, '$1')
      .replace(/<\/?user_query>|\\n/g, ''),
  )
const id = (digit: string): string => digit.repeat(64)

test('a state is read in order, and each blob once', () => {
  const blobs = new Blobs()
  const [one = '', two = ''] = ['one', 'two'].map((text) => blobs.put(user(text)))
  const walked = blobs.walk({ entries: [one, { inline: user('here') }, two, one] })
  expect(textsOf(walked)).toEqual(['one', 'here', 'two', 'one'])
  expect(walked.issues).toEqual([])
  expect(blobs.asked).toEqual([[one, two]])
})

test('a blob of several messages gives each a key of its own', () => {
  const blobs = new Blobs()
  const both = blobs.put([user('one'), user('two')])
  expect(blobs.walk({ entries: [both] }).entries.map(({ key }) => key)).toEqual([`${both}/0`, `${both}/1`])
})

test('a message as short as an id is recognised as a message', () => {
  const short = { role: 'user', content: 'abcde' }
  expect(Buffer.byteLength(JSON.stringify(short))).toBe(33)
  const shorter = { role: 'user', content: 'abcd' }
  expect(Buffer.byteLength(JSON.stringify(shorter))).toBe(32)
  const walked = new Blobs().walk({ entries: [{ inline: shorter }, { inline: short }] })
  expect(walked.entries.map(({ message }) => message)).toEqual([shorter, short])
})

test('a list longer than any chat is an issue, and is read up to that length', () => {
  const blobs = new Blobs()
  const one = blobs.put(user('one'))
  const cpuMs = startCpuClock()
  const walked = walkState(Buffer.concat(Array(200_001).fill(encodeState({ entries: [one] }))), blobs.read)
  expect(walked.issues).toEqual([{ key: 'root', reason: 'too-large' }])
  expect(walked.entries).toHaveLength(200_000)
  expect(cpuMs()).toBeLessThan(5000)
})
describe('turns', () => {
  const text = (words: string) => bytesField(1, Buffer.from(words))
  const hex = (digits: string) => Buffer.from(digits, 'hex')

  function turnOf(blobs: Blobs, words: string, ...steps: readonly Buffer[]): string {
    const prompt = bytesField(1, hex(blobs.put(text(words))))
    return blobs.put(Buffer.concat([prompt, ...steps.map((step) => bytesField(2, hex(blobs.put(step))))]))
  }

  test('give the thread if its own list shows nothing', () => {
    const blobs = new Blobs()
    const turn = turnOf(blobs, 'one', bytesField(1, text('two')), bytesField(3, text('three')))
    const preface = user('').content
    const walked = blobs.walk({
      entries: [blobs.put(system), blobs.put({ role: 'user', content: preface })],
      turns: [turn],
    })
    expect(walked.entries.map(({ message }) => message)).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      { role: 'assistant', content: [{ type: 'reasoning', text: 'three', durationMs: null }] },
    ])
  })

  test('that are missing or of an unknown format are issues', () => {
    const blobs = new Blobs()
    const odd = blobs.put(bytesField(7, Buffer.from('new')))
    const turn = turnOf(blobs, 'one', bytesField(9, text('new')))
    const { entries, issues } = blobs.walk({ entries: [], turns: [id('a'), odd, turn] })
    expect(issues.map(({ reason }) => reason)).toEqual(['missing-blob', 'unknown-shape', 'unknown-shape'])
    expect(entries).toHaveLength(2)
  })

  test('are read directly, and one level deeper', () => {
    const plain = Buffer.concat([bytesField(1, hex(id('a'))), bytesField(2, hex(id('b'))), bytesField(2, hex(id('c')))])
    const turn = { userMessage: id('a'), steps: [id('b'), id('c')], atMs: null }
    expect([decodeTurn(plain), decodeTurn(bytesField(1, plain))]).toEqual([turn, turn])
    expect(decodeTurn(bytesField(2, hex(id('b'))))).toEqual({ userMessage: null, steps: [id('b')], atMs: null })
    expect(decodeTurn(bytesField(1, hex('aa')))).toBeNull()
  })

  test.each<[string, Buffer, object | null]>([
    ['words', bytesField(1, text('a')), [{ type: 'text', text: 'a' }]],
    ['no words', bytesField(1, text(' ')), []],
    [
      'thinking',
      bytesField(3, Buffer.concat([text('a'), numberField(2, 5)])),
      [{ type: 'reasoning', text: 'a', durationMs: 5 }],
    ],
    [
      'a call of the shell',
      bytesField(2, bytesField(1, bytesField(1, Buffer.concat([text('ls'), bytesField(2, Buffer.from('/w'))])))),
      [{ type: 'tool-call', toolName: 'shell', input: { command: 'ls', working_directory: '/w' } }],
    ],
    [
      'a call of a tool to come',
      bytesField(2, bytesField(99, text('a'))),
      [{ type: 'tool-call', toolName: 'unknown', input: {} }],
    ],
    ['something else', bytesField(8, text('a')), null],
    ['no message', Buffer.from([0x0a, 0x7f]), null],
  ])('have steps that are %s', (_, bytes, content) => {
    expect(decodeStep(bytes)?.content ?? null).toEqual(content)
  })
})

test('any bytes are a state, or null', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (array) => {
      const bytes = Buffer.from(array)
      const { entries, issues } = walkState(bytes, () => new Map())
      expect(entries.length > 0 || issues.length > 0 || decodeConversationState(bytes) !== null).toBe(true)
      decodeTurn(bytes)
      decodeStep(bytes)
    }),
    { numRuns: 2000 },
  )
})
