import { afterAll, expect, test } from 'vitest'
import { displayWidth } from '../../src/cli/terminal/display-width.ts'
import type { Screen } from '../../src/cli/terminal/screen.ts'
import { renderTokens } from '../../src/cli/commands/tokens/tokens-text.ts'
import { estimateAll } from '../helpers/estimate-all.ts'
import { TokenWorld } from '../helpers/token-world.ts'
import { Paper, run } from './fake-world.ts'

const world = new TokenWorld()
afterAll(() => world.remove())

const plain = new Proxy({}, { get: () => (text: string) => text })
const screenOf = (width: number | null) =>
  ({ width, hasBlocks: true, timeZone: 'UTC', nowMs: 0, colours: plain }) as unknown as Screen

test('a usage file with only a total shows that total, and its cost is not called charged', async () => {
  await world.import(
    'Date,User,Kind,Max Mode,Model,Tokens,Cost ($)\n"Jul 3, 2025, 01:06 PM",me,Included,No,gpt-5,"12,345",0.71\n',
  )
  const shown = renderTokens(await world.told(), screenOf(200))
  expect(shown).toContain('12,345 total')
  expect(shown).toContain('imported cost')
  expect(shown).not.toContain('charged')
})

test.each([60, 80, 100, 200])('the table of tokens fits a terminal of %d columns', async (width) => {
  const tokenCount = { inputTokens: 12_345, outputTokens: 678 }
  world.exchange('c', { tokenCount }, { usageData: { default: { costInCents: 4 } }, contextTokensUsed: 12_345 })
  estimateAll(world.indexer.mirror)
  const shown = renderTokens(await world.told(), screenOf(width))
  const lines = shown.split('\n')
  expect(Math.max(...lines.map((line) => displayWidth(line)))).toBeLessThanOrEqual(width)
  expect(lines.filter((line) => line.startsWith('all'))).toHaveLength(1)
  for (const title of width === 200
    ? ['messages known', 'recorded in / out', 'imported cost', 'context']
    : ['recorded'])
    expect(shown).toContain(title)
  expect(shown.includes('Too wide to show: ')).toBe(width <= 80)
})

test('a terminal shows the newest day first and notes only if asked; a pipe the oldest, with the notes', async () => {
  const answer = await world.told()
  const show = async (columns: number | null, ...argv: string[]) => {
    const stdout = new Paper(columns)
    const reply = ({ query }: { readonly query: string }) => world.told(`?${query}`)
    const { err, calls } = await run(['tokens', ...argv], reply, { stdout, env: { NO_COLOR: '1' } })
    const days = stdout.text.split('\n').flatMap((line) => /^\d{4}-\d\d-\d\d/.exec(line)?.[0] ?? [])
    return { days, err, query: calls[0]?.query, text: stdout.text }
  }
  const days = answer.rows.map(({ key }) => key)
  const oldestFirst = days.filter((key): key is string => key !== null).toSorted()
  expect(oldestFirst.length).toBeGreaterThan(1)
  const shown = await show(200)
  expect([shown.days, shown.err]).toEqual([oldestFirst.toReversed(), 'For what the numbers mean, add --notes.\n'])
  expect(shown.text.trimEnd().split('\n').at(-1)).toMatch(/^all /)
  expect((await show(200, '--notes')).err).toContain('Estimated: ')
  const one = await show(200, '-n', '1')
  expect([one.days, one.query]).toEqual([oldestFirst.slice(-1), 'limit=1&tz=Asia%2FTokyo'])
  expect(one.err).toContain(`Only the newest 1 of ${days.length} rows are shown, those after ${oldestFirst.at(-2)}. `)
  const piped = await show(null, '-n', '7')
  expect([piped.days, piped.query]).toEqual([oldestFirst, 'limit=7&tz=Asia%2FTokyo'])
  expect(piped.err).toContain('Estimated: ')
})

test.each([40, 60, 80])('in a terminal of %d columns the label of a week is not cut', async (width) => {
  const shown = renderTokens(await world.told('?groupBy=week'), screenOf(width))
  expect(shown).toContain('week of 2025-02-24 ')
  expect(shown).not.toContain('…')
})

test('the price of only some messages is "at least", and part of a cent is not shown as zero', async () => {
  const { totals, ...shown } = await world.told()
  const listPrice = (cents: number | null, messages: number, unpriced: number): string => {
    const priced = { cents, messages, unpriced }
    const cells = renderTokens({ ...shown, rows: [], totals: { ...totals, priced } }, screenOf(null)).split('\t')
    return cells[4] ?? ''
  }
  expect(listPrice(825, 2, 0)).toBe('$8.25')
  expect(listPrice(825, 1, 1)).toBe('at least $8.25')
  expect(listPrice(0.02, 1, 0)).toBe('<$0.01')
  expect(listPrice(0, 1, 0)).toBe('$0.00')
  expect(listPrice(null, 0, 2)).toBe('unpriced')
})

test('part of a cent for some messages is "more than $0.00"', async () => {
  const { totals, ...shown } = await world.told()
  const priced = { cents: 0.184, messages: 1, unpriced: 1 }
  const cells = renderTokens({ ...shown, rows: [], totals: { ...totals, priced } }, screenOf(null)).split('\t')
  expect(cells[4]).toBe('more than $0.00')
})

test('--csv notes on stderr that rows are missing', async () => {
  const omitted = { rows: 5, from: null, to: null, note: 'Only 2 of 7 rows are shown.' }
  const answer = { ...(await world.told()), rowsTotal: 7, omitted }
  const reply = (_: string, query: string) => (query.includes('as=csv') ? ['key\r\n'] : answer)
  const bounded = await run(['tokens', '--csv', '--limit', '2'], ({ path, query }) => reply(path, query))
  expect([bounded.out, bounded.err]).toEqual(['key\r\n', 'Only 2 of 7 rows are shown.\n'])
  expect((await run(['tokens', '--csv'], ({ path, query }) => reply(path, query))).err).toBe('')
})

test.each([
  [['tokens', 'import', 'usage.csv', '--project', 'shop'], '--project'],
  [['tokens', '--project', 'shop', 'import', 'usage.csv'], '--project'],
  [['tokens', 'import', 'usage.csv', '--from', '2026-01'], '--from'],
  [['tokens', 'import', '--csv', 'usage.csv'], '--csv'],
])('%j: an option of "tokens" only is refused', async (argv, option) => {
  const { exitCode, err, calls } = await run(argv)
  expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] })
  expect(err).toBe(`Unknown option '${option}' of 'tokens import'. See: cursordex tokens import --help\n`)
})

test('an option of both commands may be in either place', async () => {
  for (const argv of [
    ['tokens', '--json', 'import', '/nonexistent.csv', '--tz', 'UTC'],
    ['tokens', '--tz', 'UTC', 'import', '/nonexistent.csv', '--json', '--data-dir', '/d'],
  ]) {
    expect((await run(argv)).err).toMatch(/^\/nonexistent\.csv cannot be read/)
  }
})

test('the help of "tokens import" lists only its own options', async () => {
  const { out } = await run(['tokens', 'import', '--help'])
  expect(out).not.toMatch(/--(project|group-by|limit|csv|model)\b/)
  expect(out.match(/^ {2}--tz /gm)).toHaveLength(1)
  expect(out).toContain('Common options: cursordex help settings')
})
