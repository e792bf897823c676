import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { run } from './fake-world.ts'

const report = {
  dryRun: true,
  chats: [
    { id: 'chat-1', title: 'The \u001b[31mgarden', isWhole: true, messages: 12 },
    { id: 'chat-2', title: 'The pond', isWhole: false, messages: 1 },
  ],
  chatCount: 2,
  messages: 13,
  inCursor: 4,
  facts: 0,
  unknownChats: ['chat-9'],
  setAside: ['mirror-damaged-2026-01-01.db'],
  archives: {
    objects: 2,
    messages: 14,
    runs: ['20261121T030000Z-weekly'],
    damaged: [{ kind: 'object', name: 'abcd', chatId: null, why: 'it cannot be unpacked' }],
  },
  left: null,
  check: null,
}
const check = { files: 9, bytes: 4096, found: [], unread: [] }
const done = { ...report, dryRun: false, archives: { ...report.archives, damaged: [] }, check }

test('without --yes the command shows what it would remove', async () => {
  const { exitCode, out, calls } = await run(
    ['purge', '--chat', 'chat-1', '--chat', 'chat-2', '--before', '2025-01-01'],
    () => report,
  )
  expect(exitCode).toBe(0)
  expect(calls[0]).toMatchObject({
    path: '/api/purge',
    body: { chats: ['chat-1', 'chat-2'], before: '2025-01-01', dryRun: true },
  })
  expect(out).toContain('No chat has the id chat-9.')
  expect(out).toContain('Would remove 13 messages of 2 chats; Cursor still has 4 of them, and keeps them.')
  expect(out).toContain('Would rewrite 2 archived chats (14 messages) in 1 archive.')
  expect(out).toContain('Cannot be read: object abcd (it cannot be unpacked).')
  expect(out).toContain('To do it, add --yes.')
  expect(out).not.toContain('\u001b[31m')
})

test('the text is read from standard input, without the last line feed', async () => {
  const stdin = Readable.from([Buffer.from('two words\nover '), Buffer.from('lines\r\n')])
  const { exitCode, out, calls } = await run(['purge', '--match', '--yes'], () => done, { stdin })
  expect(calls[0]).toMatchObject({ body: { match: 'two words\nover lines', dryRun: false } })
  expect(exitCode).toBe(0)
  expect(out).toContain('Searched 9 files of 4.1 kB, byte by byte: 0 found.')
})

test('a byte order mark is not part of the text', async () => {
  const stdin = Readable.from([Buffer.from('\ufeffhunter2-the-password\n')])
  const { calls } = await run(['purge', '--match', '--yes'], () => done, { stdin })
  expect(calls[0]).toMatchObject({ body: { match: 'hunter2-the-password' } })
})

test.each([
  ['utf16le', '\ufeffschlüssel-77'],
  ['utf16le', 'key-77'],
  ['latin1', 'schlüssel-77'],
] as const)('a text in %s is refused, %#', async (encoding, text) => {
  const stdin = Readable.from([Buffer.from(text, encoding)])
  const { exitCode, err, calls } = await run(['purge', '--match', '--yes'], () => done, { stdin })
  expect([exitCode, calls]).toEqual([2, []])
  expect(err).toContain('Standard input is not UTF-8.')
})

test('the command lists files that still contain the text, and fails', async () => {
  const found = [{ file: 'mirror.db', times: 2, at: 77 }]
  const left = 'The rows are gone, but there is no room.'
  const answer = { ...done, left, check: { ...done.check, found, unread: ['a.gz'] } }
  const { exitCode, out, err } = await run(['purge', '--project', 'shop', '--yes'], () => answer)
  expect(exitCode).toBe(1)
  expect(out).toContain('Found 2 times in mirror.db, first at byte 77.')
  expect(out).toContain('Could not be searched: a.gz.')
  expect(out).toContain(left)
  expect(err).toContain('still contain the purged text')
})

test.each([
  ['an object is damaged', { ...done, archives: report.archives }],
  ['a file is unread', { ...done, check: { ...check, unread: ['a.gz (unpacked)'] } }],
])('if %s, the command fails although nothing was found', async (_, answer) => {
  const { exitCode, out, err } = await run(['purge', '--project', 'shop', '--yes'], () => answer)
  expect(exitCode).toBe(1)
  expect(out).toContain('0 found in what could be read.')
  expect(err).toContain('may still contain something of what was purged')
})

test.each([
  [['purge'], '', 'Nothing to purge is named.'],
  [['purge', '--yes'], '', 'Nothing to purge is named.'],
  [['purge', '--match'], '\n', 'Standard input is empty.'],
  [['purge', '--match', 'hunter2-the-password'], '', 'Too many arguments'],
])('%j is refused before any request', async (argv, input, said) => {
  const { exitCode, err, calls } = await run(argv, () => done, { stdin: Readable.from([input]) })
  expect([exitCode, calls]).toEqual([2, []])
  expect(err).toContain(said)
  expect(err).not.toContain('hunter2')
})

test.each([
  [['--project', 'shop', '--before', ''], '--before'],
  [['--project', 'shop', '--before='], '--before'],
  [['--project', 'shop', '--before', ' '], '--before'],
  [['--before', '2025-01-01', '--tz', ''], '--tz'],
  [['--project', 'shop', '--chat', ''], '--chat'],
  [['--chat', 'chat-1', ''], 'Too many arguments'],
  [['--before', '2025-01-01', '--project', ''], '--project'],
  [['--project', 'shop', '--match', ''], 'Too many arguments'],
  [['--project', 'shop', '--match='], '--match'],
])('an empty value, as from an unset variable, removes nothing: %j', async (argv, named) => {
  const { exitCode, err, calls } = await run(['purge', ...argv, '--yes'], () => done, {
    stdin: Readable.from(['abcd']),
  })
  expect([exitCode, calls]).toEqual([2, []])
  expect(err).toContain(named)
})

test.each([
  ['--project', 'shop', 'bakery'],
  ['--chat', 'chat-1', 'chat-2'],
])('an extra word after %s %s is refused', async (...argv) => {
  const { exitCode, err, calls } = await run(['purge', ...argv, '--yes'], () => done)
  expect([exitCode, calls]).toEqual([2, []])
  expect(err).toContain('Too many arguments')
})

test('--list shows how much is kept out and what is left to do', async () => {
  const state = {
    doing: 'rewriting the archives',
    tombstones: { chats: 1, messages: 20, texts: 3 },
    unfinished: { rows: false, archives: true, bytes: true },
  }
  const { out } = await run(['purge', '--list'], () => state)
  expect(out).toContain('1 chat, 20 messages and 3 texts')
  expect(out).toContain('rewriting the archives')
  expect(out).toContain('interrupted')
})

test.each([['--chat', 'chat-1', '--yes'], ['--project', 'shop'], ['--before', '2025-01-01'], ['--match'], ['--yes']])(
  '--list with an option of a purge is refused: %s %s %s',
  async (...named) => {
    const { exitCode, err, calls } = await run(['purge', ...named.filter((word) => word !== undefined), '--list'])
    expect([exitCode, calls]).toEqual([2, []])
    expect(err).toMatch(/^Option '--list' cannot be used with option '--/)
  },
)
