import { expect, test } from 'vitest'
import { search } from '../../src/api/search/search.ts'
import { indexBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { fencedCode } from '../../src/mirror/migrations/0010-to-0019.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { dropTerms, writeTerms } from '../../src/mirror/fulltext/write-terms.ts'
import type { Part } from '../../src/model/part.ts'
import { marksOf } from '../../src/text/terms/marks.ts'
import { indexTermBytes } from '../../src/text/terms/terms.ts'
import { mirrorBefore } from '../helpers/mirror-before.ts'
import { insertChat, insertMessage, requestOf } from '../helpers/mirror-rows.ts'

const fenced: Part = { kind: 'text', text: 'so:\n```\nneedle()\n```' }
const code: Part = { kind: 'code', language: null, path: null, text: 'thread()' }
const said: Part = { kind: 'text', text: 'plain' }

/** The parts of a message, and its marks from before fenced code counted as code. */
const messages: readonly [parts: readonly Part[], marks: readonly string[]][] = [
  [[fenced], ['in:text', 'has:code']],
  [
    [fenced, code],
    ['in:text', 'has:code', 'in:code'],
  ],
  [
    [code, fenced],
    ['in:code', 'has:code', 'in:text'],
  ],
  [
    [said, code],
    ['in:text', 'in:code', 'has:code'],
  ],
  [[said], ['in:text']],
]

test('after an upgrade, fenced code is found as code, and no message counts as changed', () => {
  const { path, db: before } = mirrorBefore(fencedCode)
  const chat = insertChat(before, { id: 'c' })
  for (const [at, [parts, marks]] of messages.entries()) {
    const key = insertMessage(before, chat, { id: `m${at}`, parts, createdAtMs: 1e12 + at })
    before.prepare('update messages set marks = ? where key = ?').run(JSON.stringify(marks), key)
    dropTerms(before, key)
    const asText = indexTermBytes(parts.map((part) => ('text' in part ? part.text : '')).join('\n'))
    writeTerms(before, key, [asText, ...Array.from({ length: 5 }, () => Buffer.alloc(0))])
  }
  before.close()

  const after = openWriter(path)
  const findIn = (q: string): readonly string[] =>
    search(after, requestOf(q, { sort: 'oldest' })).items.map(({ message }) => message.id)
  expect(findIn('needle')).toEqual([])
  while (indexBacklog(after) > 0);
  expect(findIn('in:code needle')).toEqual(['m0', 'm1', 'm2'])
  expect(findIn('in:code')).toEqual(['m0', 'm1', 'm2', 'm3'])
  expect(findIn('plain')).toEqual(['m3', 'm4'])
  const marks = after.prepare<[], string>('select marks from messages order by key').pluck().all()
  expect(marks.map((each) => JSON.parse(each) as unknown)).toEqual(messages.map(([parts]) => marksOf(parts)))
  after.close()
})
