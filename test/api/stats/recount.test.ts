import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { archivesHere } from '../../helpers/archives-here.ts'
import { Histories } from '../../../src/git/histories.ts'
import { createApp } from '../../../src/api/http/app.ts'
import { answerQuestion } from '../../../src/api/questions.ts'
import { CursorHome } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'
import { planYear } from '../../helpers/year/plan-year.ts'
import { readRawChats, type RawChat, type RawMessage } from '../../helpers/year/raw-chats.ts'
import { recountStats, type Recounting } from '../../helpers/year/recount-stats.ts'
import { writeYear } from '../../helpers/year/write-year.ts'
import { liveOf } from '../../system/hostile/values/still-world.ts'
import type { Distribution, Stats } from '../../../src/api/http/schemas/stats.ts'

const HOST = '127.0.0.1:4870'
const zones = ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Australia/Lord_Howe']
const plan = planYear('counted', { chatCount: 220, zones })
const home = new CursorHome()
const indexer = new Indexer(home.userDir)
const workspaces = new Map(
  plan.projects.map((name, n) => [join(home.userDir, 'workspaceStorage', `${n}`.repeat(32), 'state.vscdb'), name]),
)
let raw: readonly RawChat[]

const app = createApp({
  version: '0',
  timeZone: 'UTC',
  access: { token: null, tokenRequired: false, allowedHosts: () => new Set([HOST]) },
  mirror: () => indexer.mirror,
  now: Date.now,
  ask: async (question) => answerQuestion(indexer.mirror, question, 60_000),
  histories: new Histories({}),
  archives: archivesHere(home.root, indexer.path),
  live: () => liveOf(indexer.path),
  sync: () => Promise.reject(new Error('nobody asks')),
  subscribe: () => () => undefined,
})

async function ask(path: string): Promise<Stats> {
  const response = await app.request(path, { headers: { host: HOST } })
  if (response.status !== 200) throw new Error(await response.text())
  return (await response.json()) as Stats
}

/** The answer in the shape of the recount. A distribution is replaced by the values from which it can come. */
function comparable(stats: Stats, counted: ReturnType<typeof recountStats>): object {
  const { totals, known, undated, approximate, series, byModel, byTool, byMode, byHour, byWeekday } = stats
  const { byHourOfWeek, topFiles, calls, longestStreak, largestChats, uncounted } = stats
  expect(uncounted).toEqual({ chats: 0 })
  return {
    totals,
    known,
    undated,
    approximate,
    series,
    byModel,
    byTool,
    byMode,
    byHour,
    byWeekday,
    byHourOfWeek,
    topFiles,
    calls,
    longestStreak,
    byProject: stats.byProject.map(({ name, chats, messages }) => ({ name, chats, messages })),
    largest: largestChats.map(({ sizeBytes }) => sizeBytes),
    chatLength: isOf(stats.chatLength, counted.chatLength) ? counted.chatLength : stats.chatLength,
    chatDuration: isOf(stats.chatDuration, counted.chatDuration) ? counted.chatDuration : stats.chatDuration,
  }
}

/** @param values ascending */
function isOf({ count, min, median, p90, max, steps }: Distribution, values: readonly number[]): boolean {
  const rank = (share: number): number | null => values.find((_, at) => at + 1 >= values.length * share) ?? null
  const fits = steps.every(
    (step) => values.filter((each) => each >= step.from && each < (step.to ?? Infinity)).length === step.count,
  )
  const isAll = steps.reduce((sum, step) => sum + step.count, 0) === count && count === values.length
  return (
    fits && isAll && min === rank(0) && median === rank(0.5) && p90 === rank(0.9) && max === (values.at(-1) ?? null)
  )
}

beforeAll(() => {
  writeYear(home, plan)
  indexer.pass()
  raw = readRawChats(home.globalPath, workspaces)
})

afterAll(() => {
  indexer.remove()
  home.remove()
})

const at = (iso: string): number => Date.parse(iso)

describe('every number equals an independent recount of the store', () => {
  const all: readonly (readonly [string, Recounting])[] = zones.flatMap((timeZone) =>
    (['day', 'week', 'month'] as const).map((unit) => [`tz=${timeZone}&bucket=${unit}`, { timeZone, unit }] as const),
  )
  const ranges: readonly (readonly [string, Recounting])[] = [
    [
      'tz=America/New_York&from=2025-11-02&to=2025-11-03',
      { timeZone: 'America/New_York', unit: 'day', fromMs: at('2025-11-02T04:00Z'), toMs: at('2025-11-03T05:00Z') },
    ],
    [
      'tz=America/New_York&from=2026-03-08&to=2026-03-09',
      { timeZone: 'America/New_York', unit: 'day', fromMs: at('2026-03-08T05:00Z'), toMs: at('2026-03-09T04:00Z') },
    ],
    [
      'tz=Australia/Lord_Howe&from=2025-04-06&to=2025-04-07&bucket=week',
      { timeZone: 'Australia/Lord_Howe', unit: 'week', fromMs: at('2025-04-05T13:00Z'), toMs: at('2025-04-06T13:30Z') },
    ],
    [
      'tz=Asia/Kathmandu&from=2025-06&bucket=month',
      { timeZone: 'Asia/Kathmandu', unit: 'month', fromMs: at('2025-05-31T18:15Z') },
    ],
    ['to=2025-09-01T12:34:56Z&bucket=week', { timeZone: 'UTC', unit: 'week', toMs: at('2025-09-01T12:34:56Z') }],
    ['from=2025-08-05&to=2025-08-05', { timeZone: 'UTC', unit: 'day', fromMs: 1, toMs: 1 }],
  ]
  test.each([...all, ...ranges])('%s', async (query, order) => {
    const counted = recountStats(raw, order)
    expect(comparable(await ask(`/api/stats?${query}`), counted)).toEqual(counted)
  })

  test.each(plan.projects)('of project %s', async (root) => {
    const project = (await ask('/api/stats')).byProject.find(({ name }) => name === root)
    const order = { timeZone: 'Asia/Kathmandu', unit: 'month', root } as const
    const counted = recountStats(raw, order)
    const query = 'tz=Asia/Kathmandu&bucket=month'
    for (const path of [`/api/stats?project=${encodeURIComponent(root)}&`, `/api/projects/${project?.id}/stats?`]) {
      expect(comparable(await ask(`${path}${query}`), counted)).toEqual(counted)
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
  const faults: readonly (readonly [string, () => ReturnType<typeof recountStats>])[] = [
    ['days are in UTC', () => recountStats(raw, { ...order, timeZone: 'UTC' })],
    ['clocks were never changed', () => recountStats(raw, { ...order, timeZone: '-05:00' })],
    [
      'times are a millisecond late',
      () =>
        recountStats(
          eachMessage((each) => ({ ...each, atMs: each.atMs === null ? null : each.atMs + 1 })),
          order,
        ),
    ],
    [
      'drafts count',
      () =>
        recountStats(
          eachRow((row) => without(row, 'isDraft')),
          order,
        ),
    ],
    [
      'subagents count as chats',
      () =>
        recountStats(
          eachRow((row) => without(row, 'subagentInfo', 'subagentComposerIds')),
          order,
        ),
    ],
    [
      'unknown lines are 0',
      () =>
        recountStats(
          eachRow((row) => ({ totalLinesAdded: 0, ...row })),
          order,
        ),
    ],
    [
      'rejected calls count as done',
      () =>
        recountStats(
          eachMessage((each) => ({
            ...each,
            call: each.call?.status === 'rejected' ? { ...each.call, status: 'completed' } : each.call,
          })),
          order,
        ),
    ],
    [
      'times of neighbours count as own times',
      () =>
        recountStats(
          eachMessage((each) => ({ ...each, isOwnTime: true })),
          order,
        ),
    ],
    [
      'messages without a time are left out',
      () =>
        recountStats(
          raw.map((chat) => ({ ...chat, thread: chat.thread.filter(({ atMs }) => atMs !== null) })),
          order,
        ),
    ],
    [
      'a chat without a row is lost',
      () =>
        recountStats(
          raw.filter(({ row }) => 'isArchived' in row),
          order,
        ),
    ],
    [
      'archived chats are lost',
      () =>
        recountStats(
          raw.filter(({ row }) => row['isArchived'] !== true),
          order,
        ),
    ],
  ]
  test.each(faults)('%s', async (_, count) => {
    const counted = count()
    expect(comparable(await ask('/api/stats?tz=America/New_York'), counted)).not.toEqual(counted)
  })

  test('the half-hour clock change of Lord Howe is taken as a whole hour', async () => {
    const counted = recountStats(raw, { timeZone: '+10:30', unit: 'day' })
    expect(comparable(await ask('/api/stats?tz=Australia/Lord_Howe'), counted)).not.toEqual(counted)
  })
})

describe('a request', () => {
  const status = async (query: string): Promise<readonly [number, string]> => {
    const response = await app.request(`/api/stats?${query}`, { headers: { host: HOST } })
    return [response.status, await response.text()]
  }

  test.each([
    ['bucket=year', 'bucket'],
    ['tz=Mars/Base', 'tz'],
    ['from=never', 'from'],
    ['tokens=1', 'tokens'],
    ['bucket=day&bucket=week', 'bucket'],
    ['limit=5', 'limit'],
  ])('%s is a 400 that names %s', async (query, name) => {
    const [code, text] = await status(query)
    expect(code).toBe(400)
    expect((JSON.parse(text) as { errors: { name: string }[] }).errors).toMatchObject([{ name }])
  })

  test('for an unknown project counts nothing, and by its id is a 404', async () => {
    const stats = await ask('/api/stats?project=nothing')
    expect(stats).toMatchObject({ totals: { messages: 0, linesAdded: null }, series: [], longestStreak: null })
    const response = await app.request('/api/projects/nothing/stats', { headers: { host: HOST } })
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
