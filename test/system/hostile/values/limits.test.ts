import { afterEach, beforeEach, expect, test } from 'vitest'
import { CursorHome } from '../../../helpers/cursor.ts'
import { Indexer } from '../../../helpers/in-process.ts'
import { askEverything } from './ask-everything.ts'

const MB = 1024 * 1024
const OCTETS_MAX = 32 * MB

let home: CursorHome
let indexer: Indexer
beforeEach(() => {
  home = new CursorHome()
  indexer = new Indexer(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

/** A message value with exactly this many bytes. */
function ofSize(octets: number): string {
  const [start, end] = ['{"type":1,"text":"', '"}']
  const length = octets - start.length - end.length
  return start + 'lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length) + end
}

test('values up to the limit are messages, the next byte is an issue, and their neighbours are read', async () => {
  const store = home.global()
  const sizes = [4 * MB, 4 * MB + 1, OCTETS_MAX, OCTETS_MAX + 1]
  for (const octets of sizes) {
    const value = ofSize(octets)
    expect(Buffer.byteLength(value)).toBe(octets)
    store.put(`bubbleId:chat-${octets}:large`, value)
    store.message('beside', `m${octets}`, { type: 1, text: `Beside ${octets}` })
  }
  expect(indexer.pass()).toMatchObject({ added: sizes.length - 1 + sizes.length })
  expect(indexer.pass('full')).toMatchObject({ added: 0, changed: 0, gone: 0 })
  const issues = indexer.mirror.prepare('select key, reason, octets from row_issues').all()
  expect(issues).toEqual([
    { key: `bubbleId:chat-${OCTETS_MAX + 1}:large`, reason: 'too-large', octets: OCTETS_MAX + 1 },
  ])
  expect(indexer.mirror.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(await askEverything(indexer.path, false)).toMatchObject({ messages: 7, faults: [] })
})
