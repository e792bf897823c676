import { expect, test } from 'vitest'
import { search } from '../../../src/api/search/search.ts'
import type { Part } from '../../../src/model/part.ts'
import { insertChat, insertMessage, openTestMirror, requestOf } from '../../helpers/mirror-rows.ts'

const json = String.raw`{"status":"broken\nfailed","at":"walnut\ttree"}`
const given = (output: string): Part[] => [
  { kind: 'tool', name: 'run', callId: 't', status: 'completed', input: null, output, error: null, paths: [] },
]

test('pasted JSON finds the same JSON in a tool’s output, in a text and after a word', () => {
  const db = openTestMirror()
  const chat = insertChat(db, { id: 'chat' })
  insertMessage(db, chat, { id: 'tool', parts: given(json) })
  insertMessage(db, chat, { id: 'behind', parts: given(`Result: ${json}`) })
  insertMessage(db, chat, { id: 'text', parts: `It says ${json}` })
  insertMessage(db, chat, { id: 'other', parts: 'status: broken at a walnut tree' })
  const { items } = search(db, requestOf(json, { isLiteral: true }))
  expect(items.map(({ message }) => message.id).toSorted()).toEqual(['behind', 'text', 'tool'])
  db.close()
})
