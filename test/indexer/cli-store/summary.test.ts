import { afterEach, beforeEach, describe, expect, test } from 'vitest'
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
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

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
  home.indexer
    .messages(chatId)
    .map(({ createdAt, createdAtSource }) =>
      createdAtSource === 'message' && createdAt !== null ? Date.parse(createdAt) - T0 : null,
    )

describe('the old list of turns', () => {
  test.each([
    ['beside the new one', true],
    ['alone', false],
  ])('%s is no issue and duplicates nothing, even if one of its blobs is missing', async (_, hasNew) => {
    const store = home.store('a')
    const turns = [MISSING, turnBefore(store), turnAfter(store)]
    const entries = put(store, [user('zero'), assistant(say('none')), ...before, user('three'), assistant(say('four'))])
    home.say(store, { entries, oldTurns: turns, ...(hasNew ? { turns } : {}) })
    await home.pass()
    expect(home.texts('a')).toEqual(['zero', 'none', 'one', 'I look.', 'two', 'three', 'four'])
    expect(home.issues).toEqual([])
    expect(await home.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })
})

describe('times of turns and steps', () => {
  test('give their time to the message with the same content, and to no other', async () => {
    const store = home.store('a')
    const steps = [textStep('I look.', T0 + 4), shellStep('ls', 'call-1', T0 + 3), textStep('else', T0 + 9)]
    const turns = [writeTurn(store, { prompt: 'one', steps, atMs: T0 + 1 })]
    home.say(store, { entries: put(store, before), turns })
    await home.pass()
    expect(times('a')).toEqual([1, 3, null])
  })

  test('with equal texts give their times in order', async () => {
    const store = home.store('a')
    const turns = [1, 2, 3].map((at) =>
      writeTurn(store, { prompt: 'go on', steps: [textStep(`${at}`)], atMs: T0 + at }),
    )
    const repeated = [1, 2, 3].flatMap((at) => [user('go on'), assistant(say(`${at}`))])
    home.say(store, { entries: put(store, repeated), turns })
    await home.pass()
    expect(times('a')).toEqual([1, null, 2, null, 3, null])
  })

  test.each(cases<[string, number]>('in are ignored'))('in %s are ignored', async (_, atMs) => {
    const store = home.store('a')
    home.say(store, {
      entries: put(store, [user('one')]),
      turns: [writeTurn(store, { prompt: 'one', steps: [], atMs })],
    })
    await home.pass()
    expect(times('a')).toEqual([null])
  })
})

describe('after a summary', () => {
  /** The chat is read before its summary, and then summarised. */
  async function summarise(more: (store: CliStore) => object): Promise<CliStore> {
    const store = home.store('a')
    home.say(store, { entries: put(store, [system, ...before]), turns: [turnBefore(store)] })
    await home.pass()
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
  ])('messages in the mirror stay in place with their outputs if %s them', async (_, more) => {
    await summarise(more)
    const ids = home.held('a').map(({ id }) => id)
    expect(await home.pass()).toMatchObject({ added: 3, gone: 0 })
    expect(home.texts('a')).toEqual(whole)
    const held = home.held('a')
    expect(held.slice(0, 3).map(({ id }) => id)).toEqual(ids)
    expect(held.map(({ isLive }) => isLive)).toEqual(Array(6).fill(true))
    expect(held[1]?.parts[1]).toMatchObject({ name: 'Shell', output: 'anvil.txt', status: 'completed' })
    expect(home.indexer.losses()).toEqual([])
    expect(await home.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  })

  test('a rebuilt mirror reads from the archive everything that an old one has', async () => {
    await summarise(archived)
    await home.pass()
    const held = home.held('a')
    home.rebuild()
    await home.pass()
    expect(home.held('a')).toEqual(held)
  })

  test('a rebuilt mirror reads from the turns what they contain', async () => {
    const store = home.store('a')
    home.say(store, { entries: put(store, after), turns: [turnBefore(store), turnAfter(store)] })
    await home.pass()
    expect(home.texts('a')).toEqual(['one', 'I look.', null, 'two', 'what was', 'three', 'four'])
    expect(home.held('a')[2]?.parts).toMatchObject([{ kind: 'tool', name: 'shell', input: { command: 'ls' } }])
    expect(await home.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
    home.say(store, {
      entries: put(store, [system, summary('more'), user('five')]),
      turns: [turnBefore(store), turnAfter(store), writeTurn(store, { prompt: 'five', steps: [] })],
    })
    await home.pass()
    expect(home.texts('a').slice(0, 6)).toEqual(['one', 'I look.', null, 'two', 'three', 'four'])
  })

  test('in the middle of a turn its prompt and its first steps stay', async () => {
    const store = home.store('a')
    const entries = put(store, [system, summary('what was'), assistant(say('two'))])
    home.say(store, { entries, turns: [turnBefore(store)] })
    await home.pass()
    expect(home.texts('a')).toEqual(['one', 'I look.', null, 'what was', 'two'])
  })

  test('a message that was taken back does not count as part of a turn', async () => {
    const store = home.store('a')
    home.say(store, { entries: put(store, [...before, user('undone'), assistant(say('undone too'))]) })
    await home.pass()
    home.say(store, { entries: put(store, after), turns: [turnBefore(store), turnAfter(store)] })
    expect(await home.pass()).toMatchObject({ gone: 2 })
    expect(home.texts('a').slice(0, 6)).toEqual(whole)
  })
})

const places = ['turn', 'old turn', 'prompt', 'step', 'archive', 'list of turns'] as const

/** A summarised chat whose blob at this place is damaged. */
function writeHarmed(chatId: string, place: (typeof places)[number], bytes: Buffer | null): void {
  const store = home.store(chatId)
  if (bytes !== null) store.blobAs(harmedId, bytes)
  const id = Buffer.from(harmedId, 'hex')
  const entries = put(store, after)
  if (place === 'list of turns') {
    const root = encodeState({ entries, turns: [turnAfter(store)] })
    const odd = bytesField(2, bytes ?? Buffer.alloc(32, 0xcd))
    return store.facts({ latestRootBlobId: store.blob(Buffer.concat([root, odd])) })
  }
  const harmed =
    place === 'prompt' || place === 'step' ? store.blob(bytesField(place === 'prompt' ? 1 : 2, id)) : harmedId
  const turns = place === 'archive' ? [turnAfter(store)] : [harmed, turnAfter(store)]
  const listed = place === 'old turn' ? { oldTurns: turns } : { turns }
  home.say(store, { entries, ...listed, ...(place === 'archive' ? { archives: [harmedId] } : {}) })
}
const harmedId = 'cd'.repeat(32)

test.each(places)('a damaged %s costs at most one issue, whatever the damage', async (place) => {
  for (const [at, [, bytes]] of harmedBlobs.entries()) writeHarmed(`a${at}`, place, bytes)
  home.chat('z', [user('neighbour')])
  await home.pass()
  for (const [at, [name, bytes]] of harmedBlobs.entries()) {
    expect([name, home.texts(`a${at}`).slice(-3)]).toEqual([name, ['what was', 'three', 'four']])
    const issues = home.issues.filter((issue) => issue.startsWith(`a${at}#`) || issue.startsWith(`a${at} `))
    const reason = bytes === null ? 'missing-blob' : 'unknown-shape'
    const mayBe = bytes === null ? [[`a${at} ${reason}`]] : [[], [`a${at} ${reason}`]]
    expect([name, place === 'list of turns' ? [[]] : mayBe]).toEqual([name, expect.arrayContaining([issues])])
  }
  expect(home.texts('z')).toEqual(['neighbour'])
  expect(await home.pass('values')).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('turns and archives that name themselves or each other do not loop forever', async () => {
  const store = home.store('a')
  const [one, two] = ['11'.repeat(32), '22'.repeat(32)]
  const hex = (id: string) => Buffer.from(id, 'hex')
  store.blobAs(one, Buffer.concat([bytesField(1, hex(two)), bytesField(2, hex(one)), bytesField(2, hex(two))]))
  store.blobAs(two, Buffer.concat([bytesField(1, hex(one)), bytesField(2, hex(two)), bytesField(4, hex(two))]))
  home.say(store, { entries: put(store, after), turns: [one, two, one], archives: [one, two] })
  await home.pass()
  expect(home.texts('a').slice(-3)).toEqual(['what was', 'three', 'four'])
  expect(new Set(home.issues).size).toBe(home.issues.length)
  expect(home.issues.length).toBeLessThanOrEqual(2)
})
