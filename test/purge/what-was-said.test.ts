import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../src/sample/cursor-home.ts'
import { minute, PurgeHome } from '../helpers/purge-home.ts'
import { findBytes } from '../helpers/purge-world.ts'

// A purge of a text looks at what was said, and not at the JSON in which it is kept.
let place: PurgeHome

beforeEach(() => {
  place = new PurgeHome()
})
afterEach(() => place.remove())

// "none" stands in no message: the escape of a line feed and "one" do.
test.each(['text', 'kind', 'none of them'])('no message says "%s": none goes', async (match) => {
  place.chat('a', ['good morning', 'There are two:\none of them is red'])
  place.pass()
  expect(await place.purging.look({ match })).toMatchObject({ messages: 0 })
  expect(await place.purging.look({ match: 'one of them' })).toMatchObject({ messages: 1 })
})

test('after a purge of a word of the format, new messages still come in', async () => {
  place.chat('a', ['good morning'])
  place.pass()
  await place.purging.purge({ match: 'text' })
  place.chat('c', ['a new day'])
  place.pass()
  expect(place.messages('c')).toEqual(['c1'])
})

test('a Greek text is found within a longer word, in which the lower case of its last letter is another', async () => {
  place.chat('a', ['ΚΩΔΙΚΟΣ42', 'ΜΥΣΤΙΚΟΣΑΒ'])
  place.pass()
  expect(findBytes(place.folder, 'ΜΥΣΤΙΚΟΣ')).toEqual(['mirror.db'])
  const report = await place.purging.purge({ match: 'ΜΥΣΤΙΚΟΣ' })
  expect(report).toMatchObject({ messages: 1, check: { found: [] } })
  expect(findBytes(place.folder, 'ΜΥΣΤΙΚΟΣ')).toEqual([])
})

const keyLines = ['-----BEGIN KEY-----', 'QUFrwalzend', '-----END KEY-----']

test.each([
  ['\r\n', '\n'],
  ['\n', '\r\n'],
])('a text of several lines that end with %j is removed where they end with %j', async (given, said) => {
  place.chat('a', ['good morning', `here: ${keyLines.join(said)} thanks`])
  place.pass()
  const report = await place.purging.purge({ match: keyLines.join(given) })
  expect(report).toMatchObject({ messages: 1, check: { found: [] } })
  expect(findBytes(place.folder, 'QUFrwalzend')).toEqual([])
})

test.each([
  ['PHP', 'ab/walzwerk/ü77', String.raw`ab\/walzwerk\/\u00fc77`],
  ['PHP within PHP', 'ab/walzwerk/ü77', String.raw`ab\\\/walzwerk\\\/\\u00fc77`],
  ['a program that keeps letters', 'ab/walzwerk/ü77', String.raw`ab\/walzwerk\/ü77`],
  ['Go', 'ab&<walzwerk>ü', String.raw`ab\u0026\u003cwalzwerk\u003eü`],
  ['.NET', `ab+"walzwerk'ü`, String.raw`ab\u002B\u0022walzwerk\u0027\u00FC`],
])('a text that a tool printed as %s writes JSON is removed', async (_, match, written) => {
  place.chat('a', ['good morning', `it said {"key": "${written}", "n": 1}`, `and ${match} itself`])
  place.pass()
  const report = await place.purging.purge({ match })
  expect(report).toMatchObject({ messages: 2, check: { found: [] } })
  expect(findBytes(place.folder, 'walzwerk')).toEqual([])
})

/** A chat of one message, in which a tool was called. */
function toolCall(id: string, params: object, result: unknown): void {
  place.store.chat(id, { name: id, fullConversationHeadersOnly: headers([`${id}1`, `${id}2`]) })
  const call = { name: 'run_it', status: 'completed', toolCallId: id, params: JSON.stringify(params), result }
  place.store.message(id, `${id}1`, { type: 2, text: '', toolFormerData: call, createdAt: minute(1) })
  place.store.message(id, `${id}2`, { type: 2, text: 'all done', createdAt: minute(2) })
}

test('a card number that a tool was given, or gave, as a number is removed', async () => {
  toolCall('a', { pay: { card: 4111222233334444 } }, '{}')
  toolCall('b', {}, JSON.stringify({ cards: [5, 4111222233334444] }))
  place.pass()
  await place.archive()
  const report = await place.purging.purge({ match: '4111222233334444' })
  expect(report).toMatchObject({ messages: 2, archives: { messages: 2 }, check: { found: [] } })
  place.pass()
  expect([place.messages('a'), place.messages('b'), await place.archived()]).toEqual([['a2'], ['b2'], ['a2', 'b2']])
  expect(findBytes(place.folder, '4111222233334444')).toEqual([])
})

const hexOf = (text: string, toCase: (hex: string) => string): string =>
  encodeURI(text).replace(/%../g, (hex) => toCase(hex))
const asPythonWrites = (text: string): string =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

test.each([
  ['acme merger plan', 'acme%20merger%20plan'],
  ['Acme (merger) plan', 'acme%20%28merger%29%20plan'],
  ['机密计划', hexOf('机密计划', (hex) => hex.toUpperCase())],
  ['机密计划', hexOf('机密计划', (hex) => hex.toLowerCase())],
  ['geheime Änderung', encodeURI('Geheime Änderung')],
  ['geheime änderung', encodeURI('GEHEIME ÄNDERUNG')],
  ['geheime änderung', encodeURI('geheime änderung'.normalize('NFD'))],
])('a file or folder named "%s" is removed where its name is percent-encoded: %s', async (match, encoded) => {
  const uri = `file:///home/ada/shop/${encoded}/a.ts`
  place.chat('a', ['good morning', 'and a good day'], { context: { fileSelections: [{ uri: { external: uri } }] } })
  toolCall('b', { target: uri }, '{}')
  place.pass()
  await place.archive()
  expect(findBytes(place.folder, encoded)).not.toEqual([])
  const report = await place.purging.purge({ match })
  expect(report).toMatchObject({ messages: 1, facts: 1, archives: { objects: 2 }, check: { found: [], unread: [] } })
  place.pass()
  expect(findBytes(place.folder, encoded)).toEqual([])
  expect(place.messages('a')).toEqual(['a1', 'a2'])
})

test('a name that is percent-encoded, and left, is found in the end', async () => {
  place.chat('a', ['good morning'])
  place.pass()
  writeFileSync(join(place.folder, 'notes.txt'), 'file:///home/ada/acme%20merger%20plan/a.ts')
  const { check } = await place.purging.purge({ match: 'acme merger plan' })
  expect(check?.found).toMatchObject([{ file: 'notes.txt', times: 1 }])
})

test.each(['机密计划', '机密 "计划" 😀', 'geheime Änderung'])(
  'a tool’s output that writes "%s" as Python does, in signs of ASCII, is removed',
  async (match) => {
    const told = JSON.stringify({ told: asPythonWrites(JSON.stringify({ plan: match })) })
    toolCall('a', {}, told)
    place.pass()
    await place.archive()
    const report = await place.purging.purge({ match })
    expect(report).toMatchObject({ messages: 1, archives: { messages: 1 }, check: { found: [] } })
    place.pass()
    expect(findBytes(place.folder, asPythonWrites(match).slice(-6))).toEqual([])
    expect(place.messages('a')).toEqual(['a2'])
  },
)
