import { expect, test } from 'vitest'
import { run } from './fake-world.ts'

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
  expect(out).toContain('--data-dir <folder>')
})
