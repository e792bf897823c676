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

test('a word with a field beside it, far from what its filters leave, found nothing without a word of why', () => {
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

test('a quoted piece of code that nothing holds so was not offered with its words apart', () => {
  const asked = search(db, requestOf('"hashmap<string, vec<u8>>"'))
  expect([asked.total, asked.suggestions]).toEqual([
    0,
    [{ text: 'hashmap string vec u8', reason: 'without-word', count: 1 }],
  ])
})

test('a question typed as a sentence found nothing, and was told nothing', () => {
  const sentences = openTestMirror()
  const chat = insertChat(sentences, { id: 'chat' })
  const said = [
    'the login page shows a CORS error',
    'how did the export of the invoice go wrong',
    'we did fix the order of the routes in the router',
    'in the morning we fix the lamp',
    'did the test of the page pass in the end',
  ]
  for (const [at, parts] of said.entries()) insertMessage(sentences, chat, { id: `s${at}`, parts })
  const asked = search(sentences, requestOf('how did we fix the cors error in the login page'))
  expect(asked.total).toBe(0)
  expect(asked.suggestions[0]).toEqual({ text: 'cors error the login page', reason: 'without-word', count: 1 })
  expect(asked.suggestions.length).toBe(2)
  // What narrows the question is no word of it, and stays.
  const beside = search(sentences, requestOf('how did we fix the cors error in the login page role:user -invoice'))
  expect(beside.suggestions.map(({ text }) => text)).toContain('cors error the login page role:user -invoice')
  sentences.close()
})
