import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Stats } from '../../../src/api/answers/stats.ts'
import { casesBeside } from '../../helpers/cases.ts'
import { headers } from '../../helpers/cursor.ts'
import { World } from '../../helpers/world.ts'
import { planYear } from '../../helpers/year/plan-year.ts'
import { readRawChats, type RawChat, type RawMessage } from '../../helpers/year/raw-chats.ts'
import { recountStats, type Recounting } from '../../helpers/year/recount-stats.ts'
import { writeYear } from '../../helpers/year/write-year.ts'

const cases = casesBeside(import.meta.url)

const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const plan = planYear('counted', { chatCount: 220, zones })
let world: World
let raw: readonly RawChat[]

beforeAll(async () => {
  world = await World.open()
  writeYear(world.home, plan)
  await world.sync()
  const storeOf = (n: number): string => join(world.home.userDir, 'workspaceStorage', `${n}`.repeat(32), 'state.vscdb')
  raw = readRawChats(world.home.globalPath, new Map(plan.projects.map((name, n) => [storeOf(n), name])))
})
afterAll(() => world.remove())

const ask = (path: string): Promise<Stats> => world.get(path)

/** The answer in the shape of the recount. */
function comparable(stats: Stats): object {
  const { totals, undated, series, byModel, byTool, byMode, byHour, byWeekday } = stats
  const { byHourOfWeek, topFiles, uncounted } = stats
  expect(uncounted).toEqual({ chats: 0 })
  return {
    totals,
    undated,
    series,
    byModel,
    byTool,
    byMode,
    byHour,
    byWeekday,
    byHourOfWeek,
    topFiles,
    byProject: stats.byProject.map(({ name, chats, messages }) => ({ name, chats, messages })),
  }
}

const at = (iso: string): number => Date.parse(iso)

describe('every number equals an independent recount of the store', () => {
  const all: readonly (readonly [string, Recounting])[] = zones.flatMap((timeZone) =>
    (['day', 'week', 'month'] as const).map((unit) => [`tz=${timeZone}&bucket=${unit}`, { timeZone, unit }] as const),
  )
  const ranges = cases<
    [query: string, order: Omit<Recounting, 'fromMs' | 'toMs'>, from: string | null, to: string | null]
  >('ranges').map(([query, order, from, to]): readonly [string, Recounting] => {
    const period = { ...(from === null ? {} : { fromMs: at(from) }), ...(to === null ? {} : { toMs: at(to) }) }
    return [query, { ...order, ...period }]
  })
  test.each([...all, ...ranges])('%s', async (query, order) => {
    const counted = recountStats(raw, order)
    expect(comparable(await ask(`/api/stats?${query}`))).toEqual(counted)
  })

  test.each(plan.projects)('of project %s', async (root) => {
    const project = (await ask('/api/stats')).byProject.find(({ name }) => name === root)
    const order = { timeZone: 'Asia/Kathmandu', unit: 'month', root } as const
    const counted = recountStats(raw, order)
    const query = 'tz=Asia/Kathmandu&bucket=month'
    for (const path of [`/api/stats?project=${encodeURIComponent(root)}&`, `/api/projects/${project?.id}/stats?`]) {
      expect(comparable(await ask(`${path}${query}`))).toEqual(counted)
    }
  })
})

/** What a wrong program would count. The generated year must be able to show each error. */
describe('the recount detects that', () => {
  const order = { timeZone: 'America/New_York', unit: 'day' } as const
  const eachMessage = (alter: (message: RawMessage) => RawMessage): RawChat[] =>
    raw.map((chat) => ({ ...chat, thread: chat.thread.map(alter) }))
  const eachRow = (alter: (row: RawChat['row']) => RawChat['row']): RawChat[] =>
    raw.map((chat) => ({ ...chat, row: alter(chat.row) }))
  const without = (row: RawChat['row'], ...names: readonly string[]): RawChat['row'] =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))
  /** The messages and the rows as a wrong program would read them. */
  const faults: Readonly<Record<string, () => readonly RawChat[]>> = {
    'times are a millisecond late': () =>
      eachMessage((each) => ({ ...each, atMs: each.atMs === null ? null : each.atMs + 1 })),
    'drafts count': () => eachRow((row) => without(row, 'isDraft')),
    'subagents count as chats': () => eachRow((row) => without(row, 'subagentInfo', 'subagentComposerIds')),
    'rejected calls count as done': () =>
      eachMessage((each) => ({
        ...each,
        call: each.call?.status === 'rejected' ? { ...each.call, status: 'completed' } : each.call,
      })),
    'messages without a time are left out': () =>
      raw.map((chat) => ({ ...chat, thread: chat.thread.filter(({ atMs }) => atMs !== null) })),
    'a chat without a row is lost': () => raw.filter(({ row }) => 'isArchived' in row),
    'archived chats are lost': () => raw.filter(({ row }) => row['isArchived'] !== true),
  }
  test.each(Object.entries(faults))('%s', async (_, misread) => {
    const counted = recountStats(misread(), order)
    expect(comparable(await ask('/api/stats?tz=America/New_York'))).not.toEqual(counted)
  })

  test.each([
    ['days are in UTC', 'America/New_York', 'UTC'],
    ['clocks were never changed', 'America/New_York', '-05:00'],
    ['the half-hour clock change of Lord Howe is taken as a whole hour', 'Australia/Lord_Howe', '+10:30'],
  ])('%s', async (_, tz, timeZone) => {
    const counted = recountStats(raw, { timeZone, unit: 'day' })
    expect(comparable(await ask(`/api/stats?tz=${tz}`))).not.toEqual(counted)
  })
})

describe('a request', () => {
  const status = async (query: string): Promise<readonly [number, string]> => {
    const response = await world.request(`/api/stats?${query}`)
    return [response.status, await response.text()]
  }

  test.each(cases<[query: string, name: string]>('refused'))('%s is a 400 that names %s', async (query, name) => {
    const [code, text] = await status(query)
    expect(code).toBe(400)
    expect((JSON.parse(text) as { errors: { name: string }[] }).errors).toMatchObject([{ name }])
  })

  test('for an unknown project counts nothing, and by its id is a 404', async () => {
    const stats = await ask('/api/stats?project=nothing')
    expect(stats).toMatchObject({ totals: { messages: 0, linesAdded: null }, series: [] })
    const response = await world.request('/api/projects/nothing/stats')
    expect(response.status).toBe(404)
  })

  test('for two projects counts both', async () => {
    const [one, other, both] = await Promise.all(
      ['project=shop', 'project=ledger-api', 'project=shop&project=ledger-api'].map((query) =>
        ask(`/api/stats?${query}`),
      ),
    )
    expect(both?.totals.messages).toBe((one?.totals.messages ?? 0) + (other?.totals.messages ?? 0))
  })

  test('with a huge range is answered: the series covers only existing messages', async () => {
    const wide = await ask('/api/stats?from=0001-01-01&to=9999-12-31')
    expect(wide.series).toEqual((await ask('/api/stats')).series)
  })
})

test('one message with a wrong year does not spoil the statistics of all others', async () => {
  const other = await World.open()
  const store = other.home.global()
  for (const createdAt of ['2026-03-01T10:00:00.000Z', '2026-03-03T10:00:00.000Z', '2098-03-01T10:00:00.000Z']) {
    store.chat(createdAt, { fullConversationHeadersOnly: headers(['m']) })
    store.message(createdAt, 'm', { type: 1, text: 'said', createdAt })
  }
  await other.sync()
  const { totals, outOfSeries, series } = await other.get<Stats>('/api/stats')
  expect([totals.messages, outOfSeries.messages]).toEqual([3, 1])
  expect(series.map(({ start }) => start)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
  expect((await other.get<Stats>('/api/stats?from=2026-03-02&to=2099')).series).toHaveLength(1)
  await other.remove()
})
