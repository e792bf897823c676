import { afterAll, beforeAll, expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import { openReader, type Mirror } from '../../../src/mirror/open.ts'
import { insertChat, insertMessage, insertProject, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

let writer: Mirror
let db: Mirror

beforeAll(() => {
  writer = openTestMirror()
  const march = Date.UTC(2026, 2, 1)
  const plum = insertChat(writer, { id: 'plum' })
  insertMessage(writer, plum, { id: 'early', role: 'user', parts: 'a plum', createdAtMs: march })
  insertMessage(writer, plum, { id: 'map', role: 'user', parts: 'a HashMap<String, Vec<u8>>', createdAtMs: march + 1 })
  const pear = insertChat(writer, { id: 'pear', project: insertProject(writer, 'orchard') })
  for (const at of [20, 21]) {
    insertMessage(writer, pear, {
      id: `p${at}`,
      role: 'assistant',
      parts: 'a pear',
      createdAtMs: march + at * 86_400_000,
    })
  }
  db = openReader(writer.name)
})

afterAll(() => {
  db.close()
  writer.close()
})

test('a warning names the only word if the fields and filters alone find something', () => {
  const filters = { project: ['orchard'], chat: ['pear'], role: ['assistant'] }
  const beside = search(db, requestOf('plum after:2026-03-15', { filters }))
  expect([beside.total, beside.suggestions, beside.warnings]).toEqual([
    0,
    [],
    ['Nothing matches "plum"; without it, the rest leaves 2 messages.'],
  ])
  const either = search(db, requestOf('(plum OR "a plum") after:2026-03-15 -fig', { filters }))
  expect(either.warnings).toEqual([`Nothing matches "plum OR "a plum""; without it, the rest leaves 2 messages.`])
})

test('a suggestion must not consist of function words only', () => {
  const sentences = openTestMirror()
  const chat = insertChat(sentences, { id: 'chat' })
  const texts = ['how do we fix the lamp', 'how do we get there', 'the CORS error of the login page']
  for (const [at, parts] of texts.entries()) insertMessage(sentences, chat, { id: `s${at}`, parts })
  const help = (q: string): readonly unknown[] => {
    const { suggestions, warnings } = search(sentences, requestOf(q))
    return [suggestions.map(({ text, count }) => [text, count]), warnings]
  }
  expect(help('how do we xylophone')).toEqual([
    [],
    ['Nothing matches "xylophone"; without it, the rest leaves 2 messages.'],
  ])
  expect(help('how do we fix xylophone')).toEqual([[['how do we fix', 1]], []])
  expect(help('how cors error')).toEqual([[['cors error', 1]], []])
  // If all words of the query are function words, they are suggested.
  expect(help('there the')).toEqual([
    [
      ['the', 2],
      ['there', 1],
    ],
    [],
  ])
  sentences.close()
})

test('dropping any one filter or word that prevents a match is suggested, or named in a warning', () => {
  const words = ['plum', 'pear', 'quux', 'a']
  const filters = [{}, { project: ['orchard'] }, { project: ['nowhere'] }, { role: ['user'] }]
  const found = (q: string, filter: object): number => search(db, requestOf(q, { filters: filter })).total
  let asked = 0
  for (const filter of filters) {
    for (const one of words) {
      for (const other of words) {
        const q = one === other ? one : `${one} ${other}`
        const answer = search(db, requestOf(q, { filters: filter, isLiteral: true }))
        if (answer.total > 0) continue
        const rests = one === other ? [''] : [one, other]
        const isHelpless = found(q, {}) === 0 && rests.every((rest) => found(rest, filter) === 0)
        asked += 1
        expect([q, filter, answer.suggestions.length + answer.warnings.length > 0]).toEqual([q, filter, !isHelpless])
      }
    }
  }
  expect(asked).toBeGreaterThan(20)
})
