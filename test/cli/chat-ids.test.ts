import { expect, test } from 'vitest'
import { shortIds } from '../../src/cli/terminal/formats.ts'
import { run, type Call } from './fake-world.ts'

const uuid = '0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9'
const chatOf = (id: string) => ({ id, title: `Title\u001b of ${id}`, project: null, lastActivityAt: null })

/** A mirror with these ids. The messages, commits and hits are empty. */
const mirrorOf =
  (ids: readonly string[]) =>
  ({ path, query }: Call) => {
    if (path !== '/api/chats') return path.startsWith('/api/chats/') && !path.endsWith('s') ? chatOf(uuid) : empty
    const prefix = new URLSearchParams(query).get('idPrefix') ?? ''
    const items = ids.filter((id) => id.startsWith(prefix)).map(chatOf)
    return { items: items.slice(0, 5), total: items.length, limit: 5, offset: 0 }
  }
const empty = { items: [], total: 0, limit: 20, offset: 0 }

test.each([
  [['show', '0b1f'], '/api/chats/0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9/messages'],
  [['export', '0b1f'], '/api/chats/0b1f2c3d-4e5f-6071-8293-a4b5c6d7e8f9/export'],
  [['commits', '--repo', 'shop', '--chat', '0b1f'], '/api/commits'],
  [['search', 'x', '--chat', '0b1f'], '/api/search'],
])('%j completes the prefix of an id', async (argv, path) => {
  const { exitCode, calls } = await run(argv, mirrorOf([uuid, 'other']))
  const call = calls.find((each) => each.path === path)
  const chats = new URLSearchParams(call?.query).getAll('chat')
  expect([exitCode, call?.path, chats]).toEqual([0, path, argv.includes('--chat') ? [uuid] : []])
})

test('a prefix of several ids is an error that lists up to five of them with their titles', async () => {
  const ids = ['abcd1', 'abcd2', 'abcd3', 'abcd4', 'abcd5', 'abcd6', 'abcd7']
  const { exitCode, out, err } = await run(['show', 'abcd'], mirrorOf(ids))
  const listed = ids.slice(0, 5).map((id) => `  ${id}  Title\\x1b of ${id}`)
  expect([exitCode, out]).toEqual([2, ''])
  expect(err.split('\n')).toEqual([
    '7 chats have an id that begins with abcd:',
    ...listed,
    '  and 2 more',
    'Give more characters of the id.',
    '',
  ])
})

test.each(['abc', uuid])('%s is not looked up: it is too short for a prefix, or whole', async (word) => {
  const { calls } = await run(['show', word, '--json'], mirrorOf([`${word}d`]))
  expect(calls.map(({ path }) => path)).toEqual([`/api/chats/${word}/messages`])
})

test('short ids have eight characters, or as many as tell them apart', () => {
  const ids = ['12345678-a', '87654321-aa1', '87654321-ab2', 'four', 'tab-1', 'tab-1-longer', '😀😀😀😀😀😀😀😀😀']
  expect([...shortIds([...ids, 'four']).values()]).toEqual([
    '12345678',
    '87654321-aa',
    '87654321-ab',
    'four',
    'tab-1',
    'tab-1-lo',
    '😀😀😀😀😀😀😀😀',
  ])
})
