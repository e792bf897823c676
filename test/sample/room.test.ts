import { expect, test } from 'vitest'
import * as rules from '../helpers/architecture-rules.ts'
import type { Rule } from '../helpers/architecture-rules.ts'

const complaints = (rule: Rule, path: string, line: string): number =>
  rule([rules.parseFile({ path, text: `${line}\n` })]).length

test.each(['daemon', 'indexer', 'api', 'mirror', 'settings', 'text'])('src/%s may not import the sample', (room) => {
  expect(complaints(rules.layers, `src/${room}/a.ts`, `import { b } from '../sample/b.ts'`)).toBe(1)
})

test.each(['mirror', 'indexer', 'daemon', 'cli', 'text', 'api'])('the sample may not import src/%s', (room) => {
  expect(complaints(rules.layers, 'src/sample/a.ts', `import { b } from '../${room}/b.ts'`)).toBe(1)
})

test.each([
  ['src/cli/a.ts', `import { b } from '../sample/b.ts'`],
  ['src/sample/a.ts', `import { b } from '../model/b.ts'`],
  ['src/sample/chats/a.ts', `import { b } from '../script.ts'`],
])('%s may contain %s', (path, line) => {
  expect(complaints(rules.layers, path, line)).toBe(0)
})

test('the sample may use Cursor’s terms, but the command line may not', () => {
  const line = `const key = 'composerData:1'`
  expect(complaints(rules.words, 'src/sample/a.ts', line)).toBe(0)
  expect(complaints(rules.words, 'src/cli/a.ts', line)).toBe(1)
})

test('in the sample, only the writer of stores and the dialogues contain SQL', () => {
  const line = `const all = 'select id from chats'`
  expect(complaints(rules.sql, 'src/sample/a.ts', line)).toBe(1)
  expect(complaints(rules.sql, 'src/sample/cursor-home.ts', line)).toBe(0)
  expect(complaints(rules.sql, 'src/sample/chats/a.ts', line)).toBe(0)
})

test('in the sample, only the writing process waits and reads the clock', () => {
  for (const line of ['setTimeout(act, 10)', 'const nowMs = Date.now()']) {
    expect(complaints(rules.time, 'src/sample/a.ts', line)).toBe(1)
    expect(complaints(rules.time, 'src/sample/grow-child.ts', line)).toBe(0)
  }
})
