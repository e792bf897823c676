import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openWriter } from '../../../src/mirror/open.ts'
import { bytesField, type CliStore, encodeState } from '../../helpers/cursor.ts'
import {
  assistant,
  call,
  encodeArchive,
  result,
  say,
  shellStep,
  summary,
  system,
  textStep,
  user,
  writeTurn,
} from '../../helpers/eras/cli-store.ts'
import { harmedBlobs } from '../../helpers/harmed-blobs.ts'
import { CliHome } from './cli-home.ts'

let home: CliHome

beforeEach(() => {
  home = new CliHome()
})
afterEach(() => {
  home.remove()
})

const MISSING = 'ab'.repeat(32)
const T0 = Date.UTC(2026, 5, 2)

const before = [
  user('one'),
  assistant(say('I look.'), call('call-1', 'Shell', { command: 'ls' })),
  result('call-1', 'Shell', 'anvil.txt'),
  assistant(say('two')),
]
const put = (store: CliStore, messages: readonly unknown[]): string[] => messages.map((message) => store.blob(message))

/** The turn in which `before` was sent. */
const turnBefore = (store: CliStore): string =>
  writeTurn(store, { prompt: 'one', steps: [textStep('I look.'), shellStep('ls', 'call-1'), textStep('two')] })
const turnAfter = (store: CliStore): string => writeTurn(store, { prompt: 'three', steps: [textStep('four')] })
const after = [system, summary('what was'), user('three'), assistant(say('four'))]

const times = (chatId: string): unknown[] =>
  home
    .rows<{ at: number | null }>(
      'select sent_at as at from messages where chat = (select num from chats where id = ?) and is_live = 1 order by position',
      chatId,
    )
    .map(({ at }) => (at === null ? null : at - T0))

describe('the old list of turns', () => {
  test.each([
    ['beside the new one', true],
    ['alone', false],
  ])('%s is no issue and duplicates nothing, even if one of its blobs is missing', (_, hasNew) => {
    const store = home.store('a')
    const turns = [MISSING, turnBefore(store), turnAfter(store)]
    const entries = put(store, [user('zero'), assistant(say('none')), ...before, user('three'), assistant(say('four'))])
    home.say(store, { entries, oldTurns: turns, ...(hasNew ? { turns } : {}) })
    home.pass()
    expect(home.texts('a')).toEqual(['zero', 'none', 'one', 'I look.', 'two', 'three', 'four'])
    expect(home.issues).toEqual([])
    expect(home.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })
})

describe('times of turns and steps', () => {
  test('give their time to the message with the same content, and to no other', () => {
    const store = home.store('a')
    const steps = [textStep('I look.', T0 + 4), shellStep('ls', 'call-1', T0 + 3), textStep('else', T0 + 9)]
    const turns = [writeTurn(store, { prompt: 'one', steps, atMs: T0 + 1 })]
    home.say(store, { entries: put(store, before), turns })
    home.pass()
    expect(times('a')).toEqual([1, 3, null])
  })

  test('with equal texts give their times in order', () => {
    const store = home.store('a')
    const turns = [1, 2, 3].map((at) =>
      writeTurn(store, { prompt: 'go on', steps: [textStep(`${at}`)], atMs: T0 + at }),
    )
    const repeated = [1, 2, 3].flatMap((at) => [user('go on'), assistant(say(`${at}`))])
    home.say(store, { entries: put(store, repeated), turns })
    home.pass()
    expect(times('a')).toEqual([1, null, 2, null, 3, null])
  })

  test.each([
    ['seconds', Math.floor(T0 / 1000)],
    ['microseconds', T0 * 1000],
    ['before Cursor', Date.UTC(2022, 0)],
  ])('in %s are ignored', (_, atMs) => {
    const store = home.store('a')
    home.say(store, {
      entries: put(store, [user('one')]),
      turns: [writeTurn(store, { prompt: 'one', steps: [], atMs })],
    })
    home.pass()
    expect(times('a')).toEqual([null])
  })
})

describe('after a summary', () => {
  /** The chat is read before its summary, and then summarised. */
  function summarise(more: (store: CliStore) => object): CliStore {
    const store = home.store('a')
    home.say(store, { entries: put(store, [system, ...before]), turns: [turnBefore(store)] })
    home.pass()
    home.say(store, { entries: put(store, after), turns: [turnBefore(store), turnAfter(store)], ...more(store) })
    return store
  }
  const archived = (store: CliStore) => ({
    archives: [store.blob(encodeArchive(put(store, before), store.blob(after[1])))],
  })
  const whole = ['one', 'I look.', 'two', 'what was', 'three', 'four']

  test.each([
    ['the turns have', () => ({})],
    ['an archive names', archived],
  ])('messages in the mirror stay in place with their outputs if %s them', (_, more) => {
    summarise(more)
    const ids = home.held('a').map(({ id }) => id)
    expect(home.pass()).toMatchObject({ added: 3, gone: 0 })
    expect(home.texts('a')).toEqual(whole)
    const held = home.held('a')
    expect(held.slice(0, 3).map(({ id }) => id)).toEqual(ids)
    expect(held.map(({ isLive }) => isLive)).toEqual([1, 1, 1, 1, 1, 1])
    expect(held[1]?.parts[1]).toMatchObject({ name: 'Shell', output: 'anvil.txt', status: 'completed' })
    expect(home.rows('select * from losses')).toEqual([])
    expect(home.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('a rebuilt mirror reads from the archive everything that an old one has', () => {
    summarise(archived)
    home.pass()
    const held = home.held('a')
    home.mirror.close()
    rmSync(dirname(home.mirrorPath), { recursive: true })
    home.mirror = openWriter(home.mirrorPath)
    home.pass()
    expect(home.held('a')).toEqual(held)
  })

  test('a rebuilt mirror reads from the turns what they contain', () => {
    const store = home.store('a')
    home.say(store, { entries: put(store, after), turns: [turnBefore(store), turnAfter(store)] })
    home.pass()
    expect(home.texts('a')).toEqual(['one', 'I look.', null, 'two', 'what was', 'three', 'four'])
    expect(home.held('a')[2]?.parts).toMatchObject([{ kind: 'tool', name: 'shell', input: { command: 'ls' } }])
    expect(home.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
    home.say(store, {
      entries: put(store, [system, summary('more'), user('five')]),
      turns: [turnBefore(store), turnAfter(store), writeTurn(store, { prompt: 'five', steps: [] })],
    })
    home.pass()
    expect(home.texts('a').slice(0, 6)).toEqual(['one', 'I look.', null, 'two', 'three', 'four'])
  })

  test('in the middle of a turn its prompt and its first steps stay', () => {
    const store = home.store('a')
    const entries = put(store, [system, summary('what was'), assistant(say('two'))])
    home.say(store, { entries, turns: [turnBefore(store)] })
    home.pass()
    expect(home.texts('a')).toEqual(['one', 'I look.', null, 'what was', 'two'])
  })

  test('a message that was taken back does not count as part of a turn', () => {
    const store = home.store('a')
    home.say(store, { entries: put(store, [...before, user('undone'), assistant(say('undone too'))]) })
    home.pass()
    home.say(store, { entries: put(store, after), turns: [turnBefore(store), turnAfter(store)] })
    expect(home.pass()).toMatchObject({ gone: 2 })
    expect(home.texts('a').slice(0, 6)).toEqual(whole)
  })
})

describe.each(['turn', 'old turn', 'prompt', 'step', 'archive'] as const)(
  'a damaged %s costs at most an issue:',
  (place) => {
    test.each(harmedBlobs)('%s', (_, bytes) => {
      const store = home.store('a')
      const harmedId = 'cd'.repeat(32)
      if (bytes !== null) store.blobAs(harmedId, bytes)
      const id = Buffer.from(harmedId, 'hex')
      const turn = { prompt: [bytesField(1, id)], step: [bytesField(2, id)] }
      const turns = {
        turn: [harmedId, turnAfter(store)],
        'old turn': [harmedId, turnAfter(store)],
        prompt: [store.blob(Buffer.concat([...turn.prompt])), turnAfter(store)],
        step: [store.blob(Buffer.concat([...turn.step])), turnAfter(store)],
        archive: [turnAfter(store)],
      }[place]
      const listed = place === 'old turn' ? { oldTurns: turns } : { turns }
      const archives = place === 'archive' ? { archives: [harmedId] } : {}
      home.say(store, { entries: put(store, after), ...listed, ...archives })
      home.chat('z', [user('neighbour')])
      home.pass()
      const texts = home.texts('a')
      expect(texts.slice(-3)).toEqual(['what was', 'three', 'four'])
      const reasons = bytes === null ? ['missing-blob'] : ['unknown-shape']
      const reported = home.issues.map((issue) => issue.replace(`a#${harmedId} `, ''))
      expect(reported.length === 0 && bytes !== null ? reasons : reported).toEqual(reasons)
      expect(home.texts('z')).toEqual(['neighbour'])
      expect(home.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
    })
  },
)

test.each(harmedBlobs)(
  'an invalid id in field 2 of the root, the list of turns, is no issue and no message: %s',
  (_, bytes) => {
    const store = home.store('a')
    const root = encodeState({ entries: put(store, after), turns: [turnAfter(store)] })
    store.facts({ latestRootBlobId: store.blob(Buffer.concat([root, bytesField(2, bytes ?? Buffer.alloc(32, 0xcd))])) })
    home.chat('z', [user('neighbour')])
    home.pass()
    expect([home.texts('a'), home.issues]).toEqual([['what was', 'three', 'four'], []])
    expect(home.texts('z')).toEqual(['neighbour'])
    expect(home.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  },
)

test('turns and archives that name themselves or each other do not loop forever', () => {
  const store = home.store('a')
  const [one, two] = ['11'.repeat(32), '22'.repeat(32)]
  const hex = (id: string) => Buffer.from(id, 'hex')
  store.blobAs(one, Buffer.concat([bytesField(1, hex(two)), bytesField(2, hex(one)), bytesField(2, hex(two))]))
  store.blobAs(two, Buffer.concat([bytesField(1, hex(one)), bytesField(2, hex(two)), bytesField(4, hex(two))]))
  home.say(store, { entries: put(store, after), turns: [one, two, one], archives: [one, two] })
  home.pass()
  expect(home.texts('a').slice(-3)).toEqual(['what was', 'three', 'four'])
  expect(new Set(home.issues).size).toBe(home.issues.length)
  expect(home.issues.length).toBeLessThanOrEqual(2)
})
