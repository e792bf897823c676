import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat } from '../../../src/api/queries/chats/get-chat.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { readLedger } from '../../../src/api/tokens/ledger.ts'
import { tokenGroupings, type TokensRequest } from '../../../src/api/tokens/request.ts'
import { CursorHome } from '../../helpers/cursor.ts'
import { estimateAll } from '../../helpers/estimate-all.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { planYear } from '../../helpers/year/plan-year.ts'
import { writeYear } from '../../helpers/year/write-year.ts'
import { Recount, type RecountedRow, type RecountRequest } from './recount.ts'
import type { TokensRow } from '../../../src/api/http/schemas/tokens.ts'

const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC'] as const
const plan = planYear('ledger', { chatCount: 240, zones })
const home = new CursorHome()
const indexer = new Indexer(home.userDir)
let recount: Recount

beforeAll(() => {
  const { path } = writeYear(home, plan)
  indexer.pass('full')
  estimateAll(indexer.mirror)
  recount = new Recount(path, plan)
})

afterAll(() => {
  indexer.remove()
  home.remove()
})

function ask({ groupBy, timeZone, fromMs, toMs, project, model }: RecountRequest): TokensRequest {
  return {
    groupBy,
    timeZone,
    fromMs: fromMs ?? null,
    toMs: toMs ?? null,
    projects: project === undefined ? null : [project],
    machines: null,
    models: model === undefined ? null : [model],
    limit: 10_000,
    hasPrices: false,
  }
}

/** The part of a row that the recount can compute. */
const comparable = ({
  recorded,
  estimated,
  contextSnapshot,
  recordedCents,
  coverage,
}: RecountedRow | TokensRow): RecountedRow => ({ recorded, estimated, contextSnapshot, recordedCents, coverage })

function compare(request: RecountRequest): number {
  const { rows, totals, coverage } = readLedger(indexer.mirror, ask(request))
  const paths = indexer.mirror.prepare<[], { id: string; path: string }>('select id, path from projects').all()
  const pathOf = new Map(paths.map(({ id, path }) => [id, path]))
  const named = rows.map((row): [string | null, RecountedRow] => [
    request.groupBy === 'project' && row.key !== null ? (pathOf.get(row.key) ?? 'unknown project') : row.key,
    comparable(row),
  ])
  // A chat without any known number has no row.
  const isSaid = (row: RecountedRow): boolean =>
    row.coverage.messages > 0 || row.contextSnapshot !== null || row.recordedCents !== null
  const expected = [...recount.rows(request)].filter(([, row]) => isSaid(row))
  expect(Object.fromEntries(named)).toEqual(Object.fromEntries(expected))
  expect(named).toHaveLength(expected.length)
  const total = recount.totals(request)
  expect(comparable({ ...totals, key: null, label: '' })).toEqual(total)
  expect(coverage).toEqual(total.coverage)
  expect(total.coverage.recorded + total.coverage.estimated + total.coverage.unknown).toBe(total.coverage.messages)
  return total.coverage.messages
}

const questions = zones.flatMap((timeZone) => tokenGroupings.map((groupBy) => [groupBy, timeZone] as const))

test.each(questions)('a year by %s in %s equals a recount of the raw store', (groupBy, timeZone) => {
  expect(compare({ groupBy, timeZone })).toBeGreaterThan(1000)
})

test.each(tokenGroupings)('and so does a part of it, by %s', (groupBy) => {
  const timeZone = 'Europe/Berlin'
  const fromMs = Date.UTC(2025, 9, 25, 22)
  const some = [
    compare({ groupBy, timeZone, fromMs }),
    compare({ groupBy, timeZone, toMs: fromMs }),
    compare({ groupBy, timeZone, fromMs, toMs: fromMs + 40 * 86_400_000 + 12_345 }),
    compare({ groupBy, timeZone, project: '/home/ada/家計簿 🧾' }),
    compare({ groupBy, timeZone, model: 'gpt-5', fromMs }),
    compare({ groupBy, timeZone, model: 'claude-4-sonnet', project: '/home/ada/shop' }),
  ]
  expect(Math.min(...some)).toBeGreaterThan(0)
  expect(compare({ groupBy, timeZone, project: '/home/ada/nowhere' })).toBe(0)
})

test('the year contains the difficult cases: undated messages, records, cents and contexts', () => {
  const { rows, totals } = readLedger(indexer.mirror, ask({ groupBy: 'day', timeZone: 'UTC' }))
  expect(rows[0]).toMatchObject({ key: null, label: 'undated' })
  expect(rows[0]?.coverage.messages).toBeGreaterThan(0)
  expect(totals.recorded?.messages).toBeGreaterThan(20)
  expect(totals.recordedCents).toBeGreaterThan(0)
  expect(totals.contextSnapshot?.chats).toBeGreaterThan(10)
})

test('the sums of one chat are those of its row', () => {
  const { rows } = readLedger(indexer.mirror, ask({ groupBy: 'chat', timeZone: 'UTC' }))
  const wrong = rows.flatMap(({ key, recorded, estimated }) => {
    const { tokens } = getChat(indexer.mirror, asChatId(key ?? '')) ?? {}
    return JSON.stringify(tokens) === JSON.stringify({ recorded: inOrder(recorded), estimated })
      ? []
      : [{ key, tokens }]
  })
  expect(wrong).toEqual([])
  expect(rows.filter(({ recorded }) => recorded !== null).length).toBeGreaterThan(10)
  expect(rows.filter(({ estimated }) => estimated !== null).length).toBeGreaterThan(10)
})

const inOrder = (recorded: TokensRow['recorded']): TokensRow['recorded'] =>
  recorded === null ? null : { input: recorded.input, output: recorded.output, messages: recorded.messages }
