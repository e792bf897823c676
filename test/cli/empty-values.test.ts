import { expect, test } from 'vitest'
import { run } from './fake-world.ts'

test.each([
  [['show', ''], 'chatId'],
  [['export', ''], 'chatId'],
  [['export', 'chat-1', '--output', ''], '--output'],
  [['archive', 'verify', ''], 'name'],
  [['archive', 'restore', ''], 'name'],
  [['archive', 'restore', '--from', ''], '--from'],
])('%j: an empty value is refused, and nothing is requested', async (argv, named) => {
  const { exitCode, err, calls } = await run(argv)
  expect({ exitCode, err, calls }).toEqual({
    exitCode: 2,
    err: `${named} has an empty value.\nGive it a value, or leave it out.\n`,
    calls: [],
  })
})

test.each([
  [['show', '..'], 'chatId is ".."', 'cursordex search --chat ..'],
  [['export', '.'], 'chatId is "."', 'cursordex search --chat .'],
  [['archive', 'verify', '..'], 'name is ".."', 'cursordex archive list'],
  [['archive', 'restore', '.'], 'name is "."', 'cursordex archive list'],
])('%j does not request another path', async (argv, message, remedy) => {
  const { exitCode, err, calls } = await run(argv)
  expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] })
  expect(err).toContain(message)
  expect(err).toContain(remedy)
})
