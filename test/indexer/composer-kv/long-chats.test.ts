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
async function expectPlaced(): Promise<void> {
  const before = places()
  expect(before.length).toBeGreaterThan(100)
  store.delete('composerData:long')
  writeOwnRow('Long, named anew')
  await indexer.pass()
  expect(places()).toEqual(before)
}

/** Ends the program during a pass, after this many steps with messages and this many rewritten messages. */
async function cutShort(after: { readonly steps: number; readonly changed?: number }): Promise<void> {
  let [read, changed] = [0, 0]
  await indexer.stoppedPass(({ outcome }) => {
    if (outcome !== null && outcome.added + outcome.changed > 0) read += 1
    changed += outcome?.changed ?? 0
    return read >= after.steps && changed >= (after.changed ?? 0)
  })
  indexer.restart()
}

test('a chat that is read in several portions is the same as one that is read at once', async () => {
  writeLong()
  expect(await indexer.pass()).toMatchObject({ added: MESSAGES, gone: 0 })
  expect(indexer.thread('long').slice(0, 3)).toEqual([0, 1, 2].map((at) => [`m${at}`, at, textOf(`m${at}`)]))
  await expectPlaced()
})

test('while a long chat is read, each message is at its place in the chat', async () => {
  writeLong()
  await cutShort({ steps: 3 })
  const thread = indexer.thread('long').filter(([, position]) => position !== null)
  expect(thread.length).toBeGreaterThan(100)
  for (const [id, position] of thread) expect(id).toBe(named[position ?? -1])
})

test.each([1, 4])(
  'a long chat that was interrupted after %i portions is finished by the next pass',
  async (portions) => {
    writeLong()
    await cutShort({ steps: portions })
    await indexer.pass()
    expect(indexer.thread('long').filter(([, position]) => position !== null)).toHaveLength(named.length)
    await expectPlaced()
  },
)

test('the messages of a partly read long chat get their final places even if the rest is deleted before the next pass', async () => {
  writeLong()
  await cutShort({ steps: 3 })
  const held = new Set(indexer.messages('long').map(({ id }) => String(id)))
  for (const id of ids.filter((one) => !held.has(one))) store.delete(`bubbleId:long:${id}`)
  await indexer.pass('keys')
  expect(indexer.messages('long')).toHaveLength(held.size)
  await expectPlaced()
})

test('a rewritten long chat whose last rows were not read because of a kill is finished by the next pass', async () => {
  writeLong()
  await indexer.pass()
  store.db.transaction(() => {
    for (let at = 0; at < MESSAGES; at += 1) {
      store.delete(`bubbleId:long:m${at}`)
      // All an hour later, so that each has a new time; the last ones are unchanged.
      const createdAt = new Date(START_MS + at * 60_000 + 3_600_000).toISOString()
      store.message('long', `m${at}`, { type: 2, text: textOf(`m${at} again`), createdAt })
    }
  })()
  await cutShort({ steps: 1, changed: MESSAGES - 100 })
  await indexer.pass()
  expect(indexer.chat('long')?.messageCount).toBe(named.length)
  await expectPlaced()
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

  test('only one at the end of a portion is written twice', async () => {
    const outcomes = (await indexer.steps()).map(({ outcome }) => outcome)
    const portions = outcomes.flatMap((each) => (each === null || each.added === 0 ? [] : [each.chatIds]))
    expect(portions.length).toBeGreaterThan(3)
    expect(portions.flat().length).toBeLessThan(60 + portions.length)
    expect(new Set(portions.flat()).size).toBe(60)
  })

  test('one whose own row was read before a kill, but not written, is whole after the next pass', async () => {
    await cutShort({ steps: 1 })
    expect(indexer.chats.length).toBeLessThan(60)
    await indexer.pass()
    const whole = indexer.chats.filter(
      ({ titleSource, messageCount }) => titleSource === 'cursor' && messageCount === 5,
    )
    expect(whole).toHaveLength(60)
  })
})
