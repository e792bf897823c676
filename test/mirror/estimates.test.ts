import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readLedger } from '../../src/api/tokens/ledger.ts'
import { countUncounted, listUncounted, readUncounted, saveEstimates } from '../../src/mirror/usage/estimates.ts'
import { keptSums } from '../../src/mirror/migrations/0021-kept-sums.ts'
import { tokenLedger } from '../../src/mirror/migrations/0002-to-0009.ts'
import { timesAndForks } from '../../src/mirror/migrations/0025-times-and-forks.ts'
import { migrations } from '../../src/mirror/migrations/index.ts'
import { sumByGroup, sumOfPeriod } from '../../src/api/queries/tokens/token-sums.ts'
import { spokenTexts } from '../../src/text/passages/spoken-texts.ts'
import { CursorHome, headers, type Store } from '../helpers/cursor.ts'
import { estimateAll } from '../helpers/estimate-all.ts'
import { Indexer } from '../helpers/in-process.ts'

let home: CursorHome
let store: Store
let indexer: Indexer

beforeEach(() => {
  home = new CursorHome()
  store = home.global()
  indexer = new Indexer(home.userDir)
})
afterEach(() => {
  indexer.remove()
  home.remove()
})

function write(text: string, more: Record<string, unknown> = {}): void {
  store.message('c', 'm', { type: 2, text, createdAt: '2026-01-10T10:00:00.000Z', ...more })
  store.chat('c', { fullConversationHeadersOnly: headers(['u', 'm']) })
  indexer.pass('full')
}

const coverage = (): unknown => {
  const any = { projects: null, machines: null, models: null, fromMs: null, toMs: null }
  const request = { ...any, groupBy: 'day', timeZone: 'UTC', limit: 10, hasPrices: false } as const
  const { totals } = readLedger(indexer.mirror, request)
  return { ...totals.coverage, output: totals.estimated?.output ?? null }
}

test('a rewritten message is counted again; a message that only moved is not', () => {
  write('one')
  expect(coverage()).toMatchObject({ estimated: 0, unknown: 1, output: null })
  expect(estimateAll(indexer.mirror)).toBe(1)
  expect(coverage()).toMatchObject({ estimated: 1, unknown: 0, output: 1 })
  write('one', { createdAt: '2026-01-11T10:00:00.000Z' })
  expect(countUncounted(indexer.mirror)).toBe(0)
  write('one two three')
  expect(coverage()).toMatchObject({ estimated: 0, unknown: 1, output: null })
  expect(estimateAll(indexer.mirror)).toBe(1)
  expect(coverage()).toMatchObject({ estimated: 1, output: 3 })
})

test('counts of a former state of a message are not saved', () => {
  write('one')
  const [key = 0] = listUncounted(indexer.mirror, Number.MAX_SAFE_INTEGER, 10)
  const message = readUncounted(indexer.mirror, key)
  if (message === null) throw new Error('there is a message')
  write('another text')
  expect(saveEstimates(indexer.mirror, [{ ...message, input: 0, output: 1 }])).toBe(0)
  expect(coverage()).toMatchObject({ unknown: 1, output: null })
})

test('a recorded count replaces an estimate', () => {
  write('one')
  estimateAll(indexer.mirror)
  write('one', { tokenCount: { inputTokens: 400, outputTokens: 20 } })
  expect(coverage()).toMatchObject({ messages: 1, recorded: 1, estimated: 0, unknown: 0, output: null })
})

test('texts of a message are split into input and output, each text once', () => {
  const file = 'const a = 1\nconst b = 2\n'
  const tool = { kind: 'tool', name: 'write', status: 'completed', callId: null, error: null, paths: [] } as const
  expect(
    spokenTexts('assistant', [
      { kind: 'thinking', text: 'hm', durationMs: null },
      { kind: 'text', text: 'done' },
      { ...tool, input: { path: 'a.ts', contents: file }, output: 'ok' },
      { kind: 'code', language: 'ts', path: 'a.ts', text: file },
      { kind: 'code', language: 'diff', path: 'a.ts', text: `+${file}` },
      { kind: 'error', text: 'The connection was lost.' },
    ]),
  ).toEqual({ input: ['ok'], output: ['hm', 'done', 'write', JSON.stringify({ path: 'a.ts', contents: file })] })
  const attachment = { kind: 'attachment', path: 'a.ts', text: file } as const
  const asked = spokenTexts('user', [{ kind: 'text', text: 'please' }, attachment])
  expect(asked).toEqual({ input: ['please', file], output: [] })
})

test('sums read kept sums, and messages only by key', () => {
  const any = { projectNums: null, machineNums: null, draftNums: [], models: null, fromMs: null, toMs: null }
  const plan = (sql: string): string =>
    indexer.mirror
      .prepare<[object], { detail: string }>(`explain query plan ${sql}`)
      .all(Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1])))
      .map(({ detail }) => detail)
      .join('\n')
  for (const sql of [sumByGroup('chat', any), sumByGroup('model', any), sumOfPeriod(any)]) {
    expect(plan(sql)).toMatch(/SEARCH token_sums USING PRIMARY KEY \(quarter>\? AND quarter<\?\)/)
    expect(plan(sql)).toMatch(/SEARCH messages USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/)
    expect(plan(sql)).not.toMatch(/SCAN messages/)
  }
})

const columnsOf = (db: Database.Database): unknown =>
  db.prepare(`select name from pragma_table_info('messages')`).pluck().all()

test('a mirror of the former version is migrated without loss', () => {
  write('one')
  const before = new Database(':memory:')
  for (const sql of migrations.slice(0, migrations.indexOf(tokenLedger))) before.exec(sql)
  const { mirror, path } = indexer
  for (const [, kind, name] of [...keptSums.matchAll(/create (table|trigger) (\w+)/g)].toReversed()) {
    mirror.exec(`drop ${kind} ${name}`)
  }
  mirror.exec(`
    drop index token_counts; drop index recorded_tokens; drop table usage_events;
    drop index recorded_ids; drop index recorded_requests; drop table misdated;
    alter table messages drop column request_id;
    alter table messages drop column estimated_input; alter table messages drop column estimated_output;
  `)
  expect(columnsOf(mirror)).toEqual(columnsOf(before))
  mirror.exec(tokenLedger)
  mirror.exec(keptSums)
  mirror.exec(timesAndForks)
  before.close()
  indexer.restart()
  expect(indexer.path).toBe(path)
  expect(coverage()).toMatchObject({ messages: 1, unknown: 1 })
  expect(estimateAll(indexer.mirror)).toBe(1)
})
