import { expect, test } from 'vitest'
import { run } from './fake-world.ts'

const made = {
  name: '20260201T030000Z-manual-2',
  state: 'verified',
  provenAt: '2026-02-01T03:00:01.000Z',
  chats: 2,
  messages: 5,
  bytes: 900,
  error: null,
  progress: null,
}
const answering = (more: object) => () => ({ ...made, ...more })

test('a run that left a chat out names it, says why, and is not all that was asked for', async () => {
  const leftOut = [{ id: 'b\u001b[2J', why: 'line 3, parts: Invalid input' }]
  const { exitCode, out, err } = await run(['archive', 'run'], answering({ leftOut }))
  expect([exitCode, out]).toEqual([
    1,
    expect.stringMatching(/left out as it is now: b.*\(line 3, parts: Invalid input\)/),
  ])
  expect(out).not.toContain('\u001b')
  expect(err).toContain('1 chat left out; all others are archived.')
})

test('a run is told by the name that it got', async () => {
  const { exitCode, out } = await run(['archive', 'run'], answering({ leftOut: [] }))
  expect([exitCode, out]).toEqual([0, expect.stringContaining(`${made.name}: 2 chats, 5 messages`)])
})

test('"archive" alone tells the four commands below it, as the README says', async () => {
  const { exitCode, out, err } = await run(['archive'])
  expect([exitCode, err]).toEqual([0, ''])
  expect(out.match(/^ {2}(?:run|list|verify|restore) /gm)).toHaveLength(4)
})

test.each([
  [['archive', 'rnu'], 'run'],
  [['tokens', 'imprt', 'x.csv'], 'import'],
])('%j is asked whether it meant %s', async (argv, meant) => {
  const { exitCode, err, calls } = await run(argv)
  expect({ exitCode, err, calls }).toEqual({
    exitCode: 2,
    err: `Unknown command '${argv[1]}'. Did you mean ${meant}?\n`,
    calls: [],
  })
})
