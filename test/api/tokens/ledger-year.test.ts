import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChatDetail } from '../../../src/api/answers/chats.ts'
import type { Page } from '../../../src/api/answers/common.ts'
import type { Project } from '../../../src/api/answers/projects.ts'
import type { TokensAnswer, TokensRow } from '../../../src/api/answers/tokens.ts'
import { World } from '../../helpers/world.ts'
import { planYear } from '../../helpers/year/plan-year.ts'
import { writeYear } from '../../helpers/year/write-year.ts'
import { Recount, type RecountedRow, type RecountRequest } from './recount.ts'

const zones = ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC'] as const
const plan = planYear('ledger', { chatCount: 240, zones })
const tokenGroupings = ['day', 'week', 'month', 'project', 'model', 'chat'] as const
let world: World
let recount: Recount
let pathOf: ReadonlyMap<string, string | null>

beforeAll(async () => {
  world = await World.open()
  const { path } = writeYear(world.home, plan)
  await world.sync(true)
  recount = new Recount(path, plan)
  const { items } = await world.get<Page<Project>>('/api/projects?limit=200')
  pathOf = new Map(items.map((project) => [project.id, project.path]))
})
afterAll(() => world.remove())

function ask({ groupBy, timeZone, fromMs, toMs, project, model }: RecountRequest): Promise<TokensAnswer> {
  const given = {
    groupBy,
    tz: timeZone,
    from: fromMs === undefined ? undefined : new Date(fromMs).toISOString(),
    to: toMs === undefined ? undefined : new Date(toMs).toISOString(),
    project,
    model,
    limit: '10000',
  }
  const query = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
  return world.get(`/api/tokens?${new URLSearchParams(query).toString()}`)
}

/** The part of a row that the recount can compute. */
const comparable = ({
  recorded,
  estimated,
  contextSnapshot,
  recordedCents,
  coverage,
}: RecountedRow | TokensRow): RecountedRow => ({ recorded, estimated, contextSnapshot, recordedCents, coverage })

async function compare(request: RecountRequest): Promise<number> {
  const { rows, totals, coverage } = await ask(request)
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

test.each(questions)('a year by %s in %s equals a recount of the raw store', async (groupBy, timeZone) => {
  expect(await compare({ groupBy, timeZone })).toBeGreaterThan(1000)
})

test.each(tokenGroupings)('and so does a part of it, by %s', async (groupBy) => {
  const timeZone = 'Europe/Berlin'
  const fromMs = Date.UTC(2025, 9, 25, 22)
  const some = [
    await compare({ groupBy, timeZone, fromMs }),
    await compare({ groupBy, timeZone, toMs: fromMs }),
    await compare({ groupBy, timeZone, fromMs, toMs: fromMs + 40 * 86_400_000 + 12_345 }),
    await compare({ groupBy, timeZone, project: '/home/ada/家計簿 🧾' }),
    await compare({ groupBy, timeZone, model: 'gpt-5', fromMs }),
    await compare({ groupBy, timeZone, model: 'claude-4-sonnet', project: '/home/ada/shop' }),
  ]
  expect(Math.min(...some)).toBeGreaterThan(0)
  expect(await compare({ groupBy, timeZone, project: '/home/ada/nowhere' })).toBe(0)
})

test('the year contains the difficult cases: undated messages, records, cents and contexts', async () => {
  const { rows, totals } = await ask({ groupBy: 'day', timeZone: 'UTC' })
  expect(rows[0]).toMatchObject({ key: null, label: 'undated' })
  expect(rows[0]?.coverage.messages).toBeGreaterThan(0)
  expect(totals.recorded?.messages).toBeGreaterThan(20)
  expect(totals.recordedCents).toBeGreaterThan(0)
  expect(totals.contextSnapshot?.chats).toBeGreaterThan(10)
})

test('the sums of one chat are those of its row', async () => {
  const { rows } = await ask({ groupBy: 'chat', timeZone: 'UTC' })
  const wrong = []
  for (const { key, recorded, estimated } of rows) {
    const { tokens } = await world.get<ChatDetail>(`/api/chats/${encodeURIComponent(key ?? '')}`)
    if (JSON.stringify(tokens) !== JSON.stringify({ recorded: inOrder(recorded), estimated }))
      wrong.push({ key, tokens })
  }
  expect(wrong).toEqual([])
  expect(rows.filter(({ recorded }) => recorded !== null).length).toBeGreaterThan(10)
  expect(rows.filter(({ estimated }) => estimated !== null).length).toBeGreaterThan(10)
})

const inOrder = (recorded: TokensRow['recorded']): TokensRow['recorded'] =>
  recorded === null ? null : { input: recorded.input, output: recorded.output, messages: recorded.messages }
