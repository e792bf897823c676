import { beforeEach, describe, expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { openIndexed, type Indexer } from '../../helpers/in-process.ts'

let store: Store
let indexer: Indexer

beforeEach(() => {
  ;({ store, indexer } = openIndexed())
})

const MESSAGES = 300
const ids = Array.from({ length: MESSAGES }, (_, at) => `m${at}`)
/** Every fiftieth is not in the chat's list, and repeats another. */
const named = ids.filter((_, at) => at % 50 !== 49)
const START_MS = Date.UTC(2026, 4, 1)
/** Long enough that the chat is read in five portions. */
const textOf = (id: string): string => `what ${id} says, `.repeat(2000)

function writeMessage(at: number, text = textOf(`m${at}`)): void {
  // Most have a time, as new rows do; the others get the times of their neighbours.
  const time = at % 7 < 3 ? {} : { createdAt: new Date(START_MS + at * 60_000).toISOString() }
  store.message('long', `m${at}`, { type: at % 5 === 0 ? 1 : 2, text, ...time })
}

const writeOwnRow = (name = 'Long'): void =>
  store.chat('long', { name, createdAt: START_MS, fullConversationHeadersOnly: headers(named) })

/** Written neither in the order of the chat nor in reverse. */
function writeLong(): void {
  store.db.transaction(() => {
    for (let at = 0; at < MESSAGES; at += 1) {
      const next = (at * 119) % MESSAGES
      writeMessage(next, next % 50 === 49 ? textOf(`m${next - 1}`) : undefined)
    }
    writeOwnRow()
  })()
}

/** What the API says about places and times. */
const places = (): unknown[] => [
  indexer.chat('long')?.messageCount,
  ...indexer
    .messages('long')
    .map(({ id, position, createdAt, createdAtSource, isOrphan }) =>
      [id, position, createdAt, createdAtSource, isOrphan].join(' '),
    ),
]

/** The chat's own row is rewritten with another name: all of its messages get new places at once, and they are the same. */
function expectPlaced(): void {
  const before = places()
  expect(before.length).toBeGreaterThan(100)
  store.delete('composerData:long')
  writeOwnRow('Long, named anew')
  indexer.pass()
  expect(places()).toEqual(before)
}

/** Ends the program during a pass, after this many steps with messages and this many rewritten messages. */
function cutShort(after: { readonly steps: number; readonly changed?: number }): void {
  const steps = indexer.steps()
  let [read, changed] = [0, 0]
  while (read < after.steps || changed < (after.changed ?? 0)) {
    const step = steps.next()
    if (step.done === true) throw new Error('the pass ended before it was cut short')
    const outcome = step.value.outcome ?? { added: 0, changed: 0 }
    if (outcome.added + outcome.changed > 0) read += 1
    changed += outcome.changed
  }
  steps.return({ added: 0, changed: 0, gone: 0, ends: [], backlog: 0, needsMerge: false, isWhole: false })
  indexer.restart()
}

test('a chat that is read in several portions is the same as one that is read at once', () => {
  writeLong()
  expect(indexer.pass()).toMatchObject({ added: MESSAGES, gone: 0 })
  expect(indexer.thread('long').slice(0, 3)).toEqual([0, 1, 2].map((at) => [`m${at}`, at, textOf(`m${at}`)]))
  expectPlaced()
})

test('while a long chat is read, each message is at its place in the chat', () => {
  writeLong()
  cutShort({ steps: 3 })
  const thread = indexer.thread('long').filter(([, position]) => position !== null)
  expect(thread.length).toBeGreaterThan(100)
  for (const [id, position] of thread) expect(id).toBe(named[position ?? -1])
})

test.each([1, 4])('a long chat that was interrupted after %i portions is finished by the next pass', (portions) => {
  writeLong()
  cutShort({ steps: portions })
  indexer.pass()
  expect(indexer.thread('long').filter(([, position]) => position !== null)).toHaveLength(named.length)
  expectPlaced()
})

test('the messages of a partly read long chat get their final places even if the rest is deleted before the next pass', () => {
  writeLong()
  cutShort({ steps: 3 })
  const held = new Set(indexer.messages('long').map(({ id }) => String(id)))
  for (const id of ids.filter((one) => !held.has(one))) store.delete(`bubbleId:long:${id}`)
  indexer.pass('reconcile')
  expect(indexer.messages('long')).toHaveLength(held.size)
  expectPlaced()
})

test('a rewritten long chat whose last rows were not read because of a kill is finished by the next pass', () => {
  writeLong()
  indexer.pass()
  store.db.transaction(() => {
    for (let at = 0; at < MESSAGES; at += 1) {
      store.delete(`bubbleId:long:m${at}`)
      // All an hour later, so that each has a new time; the last ones are unchanged.
      const createdAt = new Date(START_MS + at * 60_000 + 3_600_000).toISOString()
      store.message('long', `m${at}`, { type: 2, text: textOf(`m${at} again`), createdAt })
    }
  })()
  cutShort({ steps: 1, changed: MESSAGES - 100 })
  indexer.pass()
  expect(indexer.chat('long')?.messageCount).toBe(named.length)
  expectPlaced()
})

describe('of 60 chats of 5 messages that take several portions together', () => {
  beforeEach(() => {
    store.db.transaction(() => {
      const few = ids.slice(0, 5)
      for (let chat = 0; chat < 60; chat += 1) {
        for (const id of few) store.message(`c${chat}`, id, { type: 1, text: textOf(id) })
        store.chat(`c${chat}`, { name: `Chat ${chat}`, createdAt: START_MS, fullConversationHeadersOnly: headers(few) })
      }
    })()
  })

  test('only one at the end of a portion is written twice', () => {
    const outcomes = [...indexer.steps()].map(({ outcome }) => outcome)
    const portions = outcomes.flatMap((each) => (each === null || each.added === 0 ? [] : [each.chatIds]))
    expect(portions.length).toBeGreaterThan(3)
    expect(portions.flat().length).toBeLessThan(60 + portions.length)
    expect(new Set(portions.flat()).size).toBe(60)
  })

  test('one whose own row was read before a kill, but not written, is whole after the next pass', () => {
    cutShort({ steps: 1 })
    expect(indexer.chats.length).toBeLessThan(60)
    indexer.pass()
    const whole = indexer.chats.filter(
      ({ titleSource, messageCount }) => titleSource === 'cursor' && messageCount === 5,
    )
    expect(whole).toHaveLength(60)
  })
})
