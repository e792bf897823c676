import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cached } from '../../../src/api/queries/snapshot.ts'
import { countEverything, EMPTY_CENSUS } from '../../../src/api/queries/count-everything.ts'
import { measureTermsBytes } from '../../../src/api/queries/measure-mirror.ts'
import { seedMirror, type SeededMirror } from '../../helpers/seed-mirror.ts'

let mirror: SeededMirror
beforeEach(() => {
  mirror = seedMirror()
})
afterEach(() => mirror.dispose())

it('an empty mirror has the same counts as no mirror', () => {
  expect(countEverything(mirror.reader)).toEqual(EMPTY_CENSUS)
})

it('every row of a source is read, an issue, or noise', () => {
  const source = mirror.addSource({ total_rows: 100, null_keys: 2 })
  const row = (key: string, isLive: number) =>
    mirror.insert('source_rows', { source, key, source_rowid: 1, octets: 1, checksum: 1, is_live: isLive })
  const issue = (key: string, reason: string) => mirror.insert('row_issues', { source, key, reason, noted_at: 1 })
  for (let index = 0; index < 10; index += 1) row(`key-${index}`, 1)
  row('gone', 0)
  issue('key-0', 'bad-json')
  issue('key-1', 'bad-json')
  issue('never read', 'too-large')
  issue('gone', 'bad-key')
  const chat = mirror.addChat({ id: 'a' })
  mirror.addChat({ id: 'sub', columns: { is_subagent: 1 } })
  mirror.addChat({ id: 'empty', messageCount: 0 })
  mirror.addMessage(chat, { id: '1' })
  mirror.addMessage(chat, { id: '2', columns: { is_live: 0 } })
  mirror.addMessage(chat, { id: '3', isOrphan: true, columns: { is_live: 0 } })
  mirror.addWorkspace('w', mirror.addProject('shop'))
  mirror.insert('losses', { chat, kind: 'message', message_id: '2', at: 9000 })
  mirror.insert('losses', { chat, kind: 'chat', message_id: '', at: 8000 })

  expect(countEverything(mirror.reader)).toEqual({
    counts: { projects: 1, chats: 1, subagents: 1, messages: 2, orphans: 1, deleted: 2 },
    losses: { messages: 1, chats: 1, lastAt: '1970-01-01T00:00:09.000Z' },
    issues: { 'bad-json': 2, 'bad-key': 1, 'null-key': 2, 'too-large': 1 },
    coverage: { rows: 100, read: 8, orphans: 1, issues: 6, noise: 86 },
  })
})

it('only the full-text tables are measured', () => {
  const empty = measureTermsBytes(mirror.reader)
  expect(empty).toBeGreaterThan(0)
  mirror.writer.prepare('insert into message_terms (rowid, text) values (1, ?)').run('word '.repeat(50_000))
  const grown = measureTermsBytes(mirror.reader)
  expect(grown).toBeGreaterThan(empty)
  mirror.addMessage(mirror.addChat({ id: 'a' }), { id: '1', parts: [{ kind: 'text', text: 'x'.repeat(500_000) }] })
  expect(measureTermsBytes(mirror.reader)).toBe(grown)
})

describe('a cached answer', () => {
  let nowMs = 0
  let asked = 0
  let tookMs = 0
  const now = () => nowMs
  const ask = (keepMs?: number) =>
    cached(() => {
      nowMs += tookMs
      return ++asked
    }, keepMs)
  beforeEach(() => {
    nowMs = 1_000_000
    asked = 0
    tookMs = 0
  })

  it('is reused until another connection writes', () => {
    const question = ask()
    expect([question(mirror.reader, now), question(mirror.reader, now)]).toEqual([1, 1])
    mirror.addProject('new')
    expect(question(mirror.reader, now)).toBe(2)
  })

  it('is reused for ten times as long as it took if it was slow, even after a write', () => {
    tookMs = 100
    const question = ask()
    question(mirror.reader, now)
    mirror.addProject('new')
    nowMs += 999
    expect(question(mirror.reader, now)).toBe(1)
    nowMs += 1
    expect(question(mirror.reader, now)).toBe(2)
  })

  it('is reused for the given time, but expires even if the clock goes back', () => {
    const question = ask(60_000)
    question(mirror.reader, now)
    mirror.addProject('new')
    nowMs += 59_999
    expect(question(mirror.reader, now)).toBe(1)
    nowMs -= 1_000_000
    expect(question(mirror.reader, now)).toBe(2)
  })
})
