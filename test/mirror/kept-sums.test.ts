import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keptSums } from '../../src/mirror/migrations/0021-kept-sums.ts'
import { seedMirror, type SeededMirror } from '../helpers/seed-mirror.ts'
import { wrongSums } from '../helpers/wrong-sums.ts'

let seeded: SeededMirror
beforeEach(() => {
  seeded = seedMirror()
})
afterEach(() => seeded.dispose())

const QUARTER_MS = 900_000
const times = fc.constantFrom(null, 0, -1, 1, QUARTER_MS - 1, QUARTER_MS, -QUARTER_MS, 1.8e12, 1.8e12 + QUARTER_MS)
const change = fc.record({
  created_at: times,
  model: fc.constantFrom(null, 'a', 'b'),
  is_orphan: fc.constantFrom(0, 1, 2),
  estimated_input: fc.constantFrom(null, 0, 7),
  estimated_output: fc.constantFrom(null, 0, 5),
  chat: fc.constantFrom(1, 2),
})
const steps = fc.array(
  fc.oneof(
    fc.record({ act: fc.constant('add' as const), change }),
    fc.record({ act: fc.constant('change' as const), at: fc.nat(9), change }),
    fc.record({ act: fc.constant('drop' as const), at: fc.nat(9) }),
  ),
  { maxLength: 30 },
)

test('after any additions, changes and removals the kept sums are those of the messages', () => {
  const { writer } = seeded
  const chats = [seeded.addChat({ id: 'one' }), seeded.addChat({ id: 'two' })]
  let count = 0
  const assign = (values: object): string =>
    Object.keys(values)
      .map((name) => `${name} = @${name}`)
      .join(', ')
  const nth = writer.prepare<[number], number>('select key from messages order by key limit 1 offset ?').pluck()
  fc.assert(
    fc.property(steps, (all) => {
      for (const step of all) {
        if (step.act === 'add') {
          const { chat, ...columns } = step.change
          count += 1
          seeded.addMessage(chats[chat - 1] ?? 1, { id: String(count), columns })
          continue
        }
        const key = nth.get(step.at)
        if (key === undefined) continue
        if (step.act === 'drop') writer.prepare('delete from messages where key = ?').run(BigInt(key))
        else {
          const columns = { ...step.change, chat: chats[step.change.chat - 1] ?? 1 }
          writer
            .prepare(`update messages set ${assign(columns)} where key = @key`)
            .run({ ...columns, key: BigInt(key) })
        }
      }
      expect(wrongSums(writer)).toEqual([])
    }),
    { numRuns: 60, seed: 20 },
  )
  expect(writer.prepare('select count(*) from token_sums').pluck().get()).toBeGreaterThan(0)
})

test('rows of a source are counted as they come, go, come again and are dropped', () => {
  const source = seeded.addSource()
  const row = { source, source_rowid: 1, octets: 1, checksum: 1 }
  seeded.insert('source_rows', { ...row, key: 'a', is_live: 1 })
  seeded.insert('source_rows', { ...row, key: 'b', is_live: 1 })
  seeded.insert('source_rows', { ...row, key: 'c', is_live: 0 })
  for (const sql of [
    `update source_rows set is_live = 0 where key = 'a'`,
    `update source_rows set is_live = 1, octets = 2`,
    `delete from source_rows where key = 'b'`,
    `update source_rows set is_live = 0`,
    `delete from source_rows`,
  ]) {
    seeded.writer.exec(sql)
    expect(wrongSums(seeded.writer)).toEqual([])
  }
})

test('a mirror of the version before gets the sums of its messages', () => {
  const chat = seeded.addChat({ id: 'one' })
  for (const [at, createdAt] of [1000, 2000, 1.8e12].entries()) {
    const columns = { model: at === 0 ? 'a' : null, estimated_input: at }
    seeded.addMessage(chat, { id: String(at), createdAt, columns })
  }
  seeded.addMessage(chat, { id: 'orphan', isOrphan: true })
  const { writer } = seeded
  const names = [...keptSums.matchAll(/create (table|trigger) (\w+)/g)].toReversed()
  for (const [, kind, name] of names) writer.exec(`drop ${kind} ${name}`)
  writer.exec(keptSums)
  expect(wrongSums(writer)).toEqual([])
  expect(writer.prepare('select sum(messages) from token_sums').pluck().get()).toBe(3)
})

test('this test would notice a sum that is not kept', () => {
  const chat = seeded.addChat({ id: 'one' })
  seeded.writer.exec('drop trigger message_counted')
  seeded.addMessage(chat, { id: '1' })
  expect(wrongSums(seeded.writer)).toEqual([expect.stringMatching(/^not kept: tokens/)])
})
