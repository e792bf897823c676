import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerStats } from '../../src/api/reports/stats/answer-stats.ts'
import type { Stats } from '../../src/api/http/schemas/stats.ts'
import { displayWidth } from '../../src/cli/terminal/display-width.ts'
import { CursorHome } from '../helpers/cursor.ts'
import { Indexer } from '../helpers/in-process.ts'
import { planYear } from '../helpers/year/plan-year.ts'
import { writeYear } from '../helpers/year/write-year.ts'
import { Paper, run } from './fake-world.ts'

const home = new CursorHome()
const indexer = new Indexer(home.userDir)
let stats: Record<string, unknown>

beforeAll(() => {
  const plan = planYear('shown', { chatCount: 60, zones: ['UTC'] })
  // Wide names, and one with a control sequence.
  const chats = plan.chats.map((chat) => ({ ...chat, name: `${chat.name ?? ''} 漢字 👩‍👩‍👧 \u001b[31m` }))
  writeYear(home, { ...plan, chats })
  indexer.pass()
  const request = {
    projectNums: null,
    machineNums: null,
    fromMs: null,
    toMs: null,
    bucket: 'week',
    timeZone: 'UTC',
  } as const
  const answer = answerStats(indexer.mirror, request, 60_000)
  if (answer.kind !== 'stats') throw new Error('no stats')
  stats = { ...answer.stats }
})

afterAll(() => {
  indexer.remove()
  home.remove()
})

const utf8 = { LANG: 'en_US.UTF-8' }
const show = async (columns: number | null, env: Record<string, string> = utf8): Promise<string> => {
  const stdout = new Paper(columns)
  const { exitCode } = await run(['stats'], () => stats, { stdout, env })
  expect(exitCode).toBe(0)
  return stdout.text
}

test('stats sends its filters', async () => {
  const argv = ['stats', '--project', 'a', '--project', 'b', '--from', '2026-01-01', '--to', '2026-02-01']
  const { calls, exitCode } = await run([...argv, '--tz', 'UTC', '--bucket', 'month', '--json'], () => stats)
  expect(exitCode).toBe(0)
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /api/stats'])
  expect([...new URLSearchParams(calls[0]?.query)].map((pair) => pair.join('='))).toEqual(
    expect.arrayContaining(['project=a', 'project=b', 'from=2026-01-01', 'to=2026-02-01', 'tz=UTC', 'bucket=month']),
  )
})

test('an unknown bucket is wrong usage', async () => {
  const { exitCode, err } = await run(['stats', '--bucket', 'year'])
  expect([exitCode, err]).toEqual([2, expect.stringContaining('day, week, month')])
})

test('the help has two examples', async () => {
  const { out } = await run(['stats', '--help'])
  expect(out.match(/^ {2}\$ cursordex stats/gm)).toHaveLength(2)
})

describe('on a terminal', () => {
  test.each([40, 60, 80, 200])('of %d columns all lines fit and have no control characters', async (columns) => {
    const text = await show(columns, { ...utf8, NO_COLOR: '1' })
    const lines = text.split('\n')
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([])
    // eslint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(text).toMatch(/[▁-█]/)
  })

  test('the newest week is first and the totals are last; --compact prints only that table', async () => {
    const stdout = new Paper(80)
    const { exitCode } = await run(['stats', '--compact'], () => stats, { stdout, env: { NO_COLOR: '1' } })
    const [, , head, newest, ...rest] = stdout.text.trimEnd().split('\n')
    const busy = (stats as unknown as Stats).series.filter(({ messages }) => messages > 0)
    expect(exitCode).toBe(0)
    expect(head).toMatch(/^week +messages +chats +from you +tool calls$/)
    expect(newest?.split(/ +/).slice(0, 2)).toEqual([busy.at(-1)?.start, String(busy.at(-1)?.messages)])
    expect(rest).toHaveLength(14)
    expect(rest.at(-2)).toBe(`undated     ${String((stats as unknown as Stats).undated.messages).padStart(8)}`)
    expect(rest.at(-1)).toMatch(new RegExp(`^all +${(stats as unknown as Stats).totals.messages} `))
    const all = await show(80, { ...utf8, NO_COLOR: '1' })
    expect(all.split('\n\n').map((section) => section.split('\n')[0])).toEqual([
      'Messages by week',
      'Messages by project',
      'Messages by model, if recorded',
      'Chats by mode',
      'Tool calls',
      'Messages by hour',
      'Messages by weekday',
      'Largest chats',
      'Files read and edited (top 20)',
      'Totals',
    ])
  })

  test('messages without a time are named, in a table too; --notes names those with an approximate one', async () => {
    const uncertain = { ...stats, undated: { messages: 3, chats: 1 }, approximate: { messages: 4 } }
    const noted = async (answer: object, ...argv: string[]) => {
      const stdout = new Paper(80)
      const { err } = await run(['stats', ...argv], () => answer, { stdout, env: { NO_COLOR: '1' } })
      return [/without a time +3 /, /undated +3/, /approximate time +4 /, /3 messages without a time not counted/].map(
        (pattern) => pattern.test(stdout.text + err),
      )
    }
    expect(await noted(uncertain)).toEqual([true, true, false, false])
    expect(await noted(uncertain, '--notes')).toEqual([true, true, true, false])
    expect(await noted(uncertain, '--compact')).toEqual([false, true, false, false])
    const bounded = { ...uncertain, from: '2026-01-01T00:00:00.000Z' }
    expect(await noted(bounded, '--compact')).toEqual([false, false, false, true])
  })

  test('columns are aligned with wide characters', async () => {
    const text = await show(100, { ...utf8, NO_COLOR: '1' })
    const rows = text.split('Messages by project\n')[1]?.split('\n\n')[0]?.split('\n') ?? []
    const figures = rows.map((row) => /^(.*?\s)(\d+)\s{2}/.exec(row)).map((match) => displayWidth(match?.[0] ?? ''))
    expect(rows.some((row) => row.includes('家計簿'))).toBe(true)
    expect(new Set(figures).size).toBe(1)
  })

  test('without UTF-8 curves and bars are ASCII', async () => {
    expect(await show(80, { LANG: 'C', NO_COLOR: '1' })).not.toMatch(/[▁-█]/)
  })

  test('NO_COLOR turns colours off', async () => {
    expect(await show(80)).toContain('\u001b[')
    expect(await show(80, { ...utf8, NO_COLOR: '1' })).not.toContain('\u001b')
  })
})

test('programs get lines with tabs, with every row', async () => {
  const text = await show(null)
  // eslint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[▁-█\u001b]/)
  const { series, byTool, byHour } = stats as { series: unknown[]; byTool: { name: string }[]; byHour: number[] }
  const section = (title: string): string[] => text.split(`${title}\n`)[1]?.split('\n\n')[0]?.trim().split('\n') ?? []
  expect(section('Messages by week')).toHaveLength(series.length)
  expect(section('Tool calls').map((line) => line.split('\t')[0])).toEqual(byTool.map(({ name }) => name))
  expect(section('Messages by hour').map((line) => Number(line.split('\t')[1]))).toEqual(byHour)
})

test('an empty mirror says so, and unknown lines are not shown as 0', async () => {
  const totals = { ...(stats['totals'] as object), messages: 0 }
  const { out, err } = await run(['stats'], () => ({ ...stats, totals }))
  expect([out, err]).toEqual(['', 'No messages.\n'])
  const unknown = { ...(stats['totals'] as object), linesAdded: null }
  expect((await run(['stats'], () => ({ ...stats, totals: unknown }))).out).toContain('lines added\t-\t')
})

test('messages without a time and outliers are shown as not counted', async () => {
  const statsWith = async (more: object) => run(['stats', '--from', '2026-01-01'], () => ({ ...stats, ...more }))
  const undated = { messages: 3, chats: 1 }
  expect((await statsWith({ undated })).out).toContain('without a time\t3\tmessages\n')
  const bounded = { undated, from: '2026-01-01T00:00:00.000Z' }
  expect((await statsWith(bounded)).out).toContain('without a time\t3\tmessages, not counted\n')
  const far = (await statsWith({ outOfSeries: { messages: 1 } })).out
  expect(far).toContain('outliers\t1\tmessages, not in the messages by week\n')
  const totals = { ...(stats['totals'] as object), messages: 0 }
  expect((await statsWith({ ...bounded, totals })).err).toBe('No messages.\n3 messages without a time not counted.\n')
})
