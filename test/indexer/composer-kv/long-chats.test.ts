import { afterEach, beforeEach, expect, test } from 'vitest'
import { digestOf } from '../../../src/mirror/digests/digest-backlog.ts'
import { readDigest, DigestWords } from '../../../src/mirror/digests/write-digest.ts'
import { CursorHome, headers, type Store } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})

afterEach(() => {
  indexer.remove()
  home.remove()
})

const MESSAGES = 300
const ids = Array.from({ length: MESSAGES }, (_, at) => `m${at}`)
const START_MS = Date.UTC(2026, 4, 1)
/** Long enough that the chat is read in five portions. */
const textOf = (id: string): string => `what ${id} says, `.repeat(2000)

function writeMessage(at: number, text = textOf(`m${at}`)): void {
  // Most have a time, as new rows do; the others get the times of their neighbours.
  const time = at % 7 < 3 ? {} : { createdAt: new Date(START_MS + at * 60_000).toISOString() }
  store.message('long', `m${at}`, { type: at % 5 === 0 ? 1 : 2, text, ...time })
}

const writeOwnRow = (named: readonly string[], name = 'Long'): void =>
  store.chat('long', { name, createdAt: START_MS, fullConversationHeadersOnly: headers(named) })

/** Written neither in the order of the chat nor in reverse. Every fiftieth is not in the list, and repeats another. */
function writeLong(): void {
  store.db.transaction(() => {
    for (let at = 0; at < MESSAGES; at += 1) {
      const next = (at * 119) % MESSAGES
      writeMessage(next, next % 50 === 49 ? textOf(`m${next - 1}`) : undefined)
    }
    writeOwnRow(ids.filter((_, at) => at % 50 !== 49))
  })()
}

const PLACES = `
select id, position, created_at, created_at_source, is_orphan, is_shadowed, key from messages order by id
`
const places = (): unknown[] => indexer.mirror.prepare(PLACES).all()
const waiting = (): unknown[] => indexer.mirror.prepare('select * from unplaced').all()

/** Whether statistics count the messages correctly: compares the stored digest with a new one. */
function expectDigested(): void {
  const num = indexer.mirror.prepare<[], number>(`select num from chats where id = 'long'`).pluck().get() ?? 0
  expect(readDigest(indexer.mirror, num)).toEqual(digestOf(indexer.mirror, num, new DigestWords(indexer.mirror)))
}

/** Rewrites the chat's own row with another name: all of its messages get new places at once. */
function placeAllAgain(): unknown[] {
  store.delete('composerData:long')
  writeOwnRow(
    ids.filter((_, at) => at % 50 !== 49),
    'Long, named anew',
  )
  indexer.pass()
  return places()
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
  const read = places()
  expect(waiting()).toEqual([])
  expectDigested()
  expect(indexer.thread('long').slice(0, 3)).toEqual([0, 1, 2].map((at) => [`m${at}`, at, textOf(`m${at}`)]))
  expect(placeAllAgain()).toEqual(read)
  expectDigested()
})

test('while a long chat is read, each message is at its place in the chat', () => {
  writeLong()
  cutShort({ steps: 3 })
  expect(waiting()).toHaveLength(1)
  const named = ids.filter((_, at) => at % 50 !== 49)
  const thread = indexer.thread('long').filter(([, position]) => position !== null)
  expect(thread.length).toBeGreaterThan(100)
  for (const [id, position] of thread) expect(id).toBe(named[position ?? -1])
})

test.each([1, 2, 4])('a long chat that was interrupted after %i portions is finished by the next pass', (portions) => {
  writeLong()
  cutShort({ steps: portions })
  indexer.pass()
  const read = places()
  expect(waiting()).toEqual([])
  expectDigested()
  expect(placeAllAgain()).toEqual(read)
})

test('the messages of a partly read long chat get their final places even if the rest is deleted before the next pass', () => {
  writeLong()
  cutShort({ steps: 3 })
  const held = indexer.mirror.prepare<[], string>('select id from messages').pluck().all()
  for (const id of ids.filter((one) => !held.includes(one))) store.delete(`bubbleId:long:${id}`)
  indexer.pass('reconcile')
  expect(waiting()).toEqual([])
  expectDigested()
  const read = places()
  expect(read).toHaveLength(held.length)
  expect(placeAllAgain()).toEqual(read)
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
  const read = places()
  expect(waiting()).toEqual([])
  expect(placeAllAgain()).toEqual(read)
})

/** 60 chats of 5 messages, one after the other, that take several portions together. */
function writeMany(): void {
  store.db.transaction(() => {
    for (let chat = 0; chat < 60; chat += 1) {
      const named = ids.slice(0, 5)
      for (const id of named) store.message(`c${chat}`, id, { type: 1, text: textOf(id) })
      store.chat(`c${chat}`, { name: `Chat ${chat}`, createdAt: START_MS, fullConversationHeadersOnly: headers(named) })
    }
  })()
}

/** The chats that each transaction with messages wrote. */
function chatWrites(): (readonly string[])[] {
  const outcomes = [...indexer.steps()].map(({ outcome }) => outcome)
  return outcomes.flatMap((outcome) => (outcome === null || outcome.added === 0 ? [] : [outcome.chatIds]))
}

test('of chats that are read together, only one at the end of a portion is written twice', () => {
  writeMany()
  const portions = chatWrites()
  expect(portions.length).toBeGreaterThan(3)
  expect(portions.flat().length).toBeLessThan(60 + portions.length)
  expect(new Set(portions.flat()).size).toBe(60)
})

test('a chat whose own row was read before a kill, but not written, is whole after the next pass', () => {
  writeMany()
  cutShort({ steps: 1 })
  const count = (): unknown => indexer.mirror.prepare('select count(*) from chats').pluck().get()
  expect(count()).toBeLessThan(60)
  indexer.pass()
  const names = `select count(*) from chats where title_source = 'cursor' and message_count = 5 and own_row = 'live'`
  expect([count(), indexer.mirror.prepare(names).pluck().get()]).toEqual([60, 60])
})
