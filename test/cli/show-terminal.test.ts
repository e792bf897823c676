import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { displayWidth } from '../../src/cli/terminal/display-width.ts'
import { openPager } from '../../src/cli/terminal/pager.ts'
import { PipeClosed } from '../../src/cli/terminal/print.ts'
import { Paper, run, type Call } from './fake-world.ts'

const at = '2026-02-19T12:00:00.000Z'
const chat = { id: 'chat-one-long', title: 'A title 漢字', project: { id: 'p', name: 'shop' }, lastActivityAt: at }
const messageOf = (id: string, parts: readonly object[], role = 'assistant') => ({
  id,
  role,
  createdAt: at,
  model: null,
  parts,
})
const tool = { kind: 'tool', status: 'completed', callId: null, input: {}, output: null, error: null, paths: [] }

const thread = (messages: readonly unknown[]) => (call: Call) => {
  if (call.path === '/api/chats') return { items: [], total: 0 }
  if (call.path.endsWith('/export')) return ['# A title\n', 'text \u001b[2J\n']
  return call.path.endsWith('/messages') ? { items: messages, total: messages.length, limit: 200, offset: 0 } : chat
}

async function shown(messages: readonly unknown[], argv: readonly string[] = [], columns = 60): Promise<string[]> {
  const stdout = new Paper(columns)
  const env = { NO_COLOR: '1', LANG: 'en_US.UTF-8' }
  const { exitCode } = await run(['show', 'c', ...argv], thread(messages), { stdout, env })
  expect(exitCode).toBe(0)
  return stdout.text.trimEnd().split('\n')
}

test('Markdown is shown as layout: headings, lists, quotations, rules, code', async () => {
  const text = [
    '## A **heading** ##',
    `- one ${'word '.repeat(12)}end`,
    '  2. nested',
    '> quoted',
    '---',
    '```ts',
    '# no heading',
    '\tconst a = 1',
    '````',
    'text \u001b]52;c;x\u0007 `code`',
  ].join('\r\n')
  const lines = await shown([messageOf('m1', [{ kind: 'text', text }])])
  expect(lines.slice(3)).toEqual([
    '',
    '── assistant · 3 days ago · @m1',
    'A **heading**',
    '• one word word word word word word word word word word word',
    '  word end',
    '  2. nested',
    '│ quoted',
    '─'.repeat(40),
    '    ts',
    '    # no heading',
    '        const a = 1',
    'text \\x1b]52;c;x\\x07 `code`',
  ])
})

test('code, inline code and headings have colours', async () => {
  const stdout = new Paper(60)
  const message = messageOf('m1', [{ kind: 'text', text: '# Head\n`a` **b**\n```\nc\n```' }])
  await run(['show', 'c'], thread([message]), { stdout })
  for (const painted of [
    '\u001b[1mHead\u001b[22m',
    '\u001b[36ma\u001b[39m \u001b[1mb\u001b[22m',
    '    \u001b[36mc\u001b[39m',
  ])
    expect(stdout.text).toContain(painted)
})

describe('a tool call', () => {
  const lineOf = async (more: object, argv: readonly string[] = []) =>
    (await shown([messageOf('m1', [{ ...tool, name: 'x', ...more }])], argv)).slice(5)

  test.each([
    [{ input: { command: 'npm test\n--run' } }, '› x  npm test --run'],
    [{ input: { command: 'npm test' }, output: { exitCode: 2 } }, '› x  npm test  exit 2'],
    [{ input: { command: 'npm test' }, output: { exitCode: 0 } }, '› x  npm test'],
    [{ input: { query: 'q' }, paths: ['a.ts', 'b.ts'] }, '› x  a.ts and 1 more'],
    [{ input: { pattern: 'a+b' } }, '› x  a+b'],
    [{ input: { sql: 'select 1' } }, '› x  select 1'],
    [{ input: 'as text' }, '› x  as text'],
    [{ input: { command: 'rm -r' }, status: 'rejected' }, '› x  rm -r  rejected'],
    [
      { input: { command: `echo ${'long '.repeat(20)}` } },
      '› x  echo long long long long long long long long long long…',
    ],
  ])('%j is one line', async (more, line) => {
    expect(await lineOf(more)).toEqual([line])
  })

  test('that failed shows how, and the first lines of its output', async () => {
    const output = { output: ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].join('\n') }
    const error = 'Command failed with exit code 1'
    expect(await lineOf({ status: 'error', input: { command: 'make' }, output, error })).toEqual([
      '› x  make  exit 1',
      ...['one', 'two', 'three', 'four', 'five'].map((line) => `    ${line}`),
      '    and 2 more lines',
    ])
    expect(await lineOf({ status: 'error', paths: ['a.ts'], error: 'no such\nfile' })).toEqual([
      '› x  a.ts  no such',
      '    no such',
      '    file',
    ])
  })

  test('--full shows input and output, and thinking in full', async () => {
    const parts = [
      { kind: 'thinking', text: 'first\nsecond', durationMs: 3200 },
      { ...tool, name: 'x', input: { command: 'ls' }, output: { output: 'a\nb' } },
    ]
    expect((await shown([messageOf('m1', parts)])).slice(5)).toEqual(['thinking 3.2 s: first', '› x  ls'])
    expect((await shown([messageOf('m1', parts)], ['--full'])).slice(5)).toEqual([
      'thinking 3.2 s:',
      '    first',
      '    second',
      '› x  ls',
      '    {',
      '      "command": "ls"',
      '    }',
      '    a',
      '    b',
    ])
  })

  test('as a message of its own is shown below the message before', async () => {
    const call = { ...tool, name: 'x', input: 'y' }
    const messages = [
      messageOf('m1', [{ kind: 'text', text: 't' }]),
      messageOf('m2', [call]),
      messageOf('m3', [call], 'user'),
    ]
    expect((await shown(messages)).slice(4)).toEqual([
      '── assistant · 3 days ago · @m1',
      't',
      '› x  y',
      '',
      '── user · 3 days ago · @m3',
      '› x  y',
    ])
  })
})

test('no line is wider than the terminal, whatever the parts contain', async () => {
  const text = `${'漢字'.repeat(60)} ${'x'.repeat(100)}`
  const parts = [
    { kind: 'text', text: [`# ${text}`, `- ${text}`, `> ${text}`, '```', text, '```', text].join('\n') },
    { kind: 'thinking', text, durationMs: 1 },
    { kind: 'code', language: 'ts', path: text, text },
    { ...tool, name: 'x', input: { command: text }, status: 'error', error: text, output: text },
    { kind: 'attachment', path: text, text: null },
    { kind: 'todo', items: [{ id: null, content: text, status: null }] },
    { kind: 'error', text },
  ]
  for (const argv of [[], ['--full']]) {
    const lines = await shown([messageOf('m1', parts)], argv, 40)
    expect(lines.filter((line) => displayWidth(line) > 40)).toEqual([])
  }
})

test('--as md prints Markdown, without control characters on a terminal', async () => {
  const stdout = new Paper(60)
  const { calls } = await run(['show', 'c', '--as', 'md'], thread([]), { stdout })
  expect(calls.map(({ path, query }) => `${path}?${query}`)).toEqual(['/api/chats/c/export?as=markdown'])
  expect(stdout.text).toBe('# A title\ntext \\x1b[2J\n')
})

test.each([
  ['@m1-l', 'm1-long', 0],
  ['m2-l', 'm2-l', 0],
  ['none', 'none', 0],
  ['m3-l', undefined, 2],
])('--around %s means the message %s', async (word, id, exitCode) => {
  const messages = ['m1-long', 'm2-l', 'm2-long', 'm3-long1', 'm3-long2'].map((each) => messageOf(each, []))
  const ended = await run(['show', 'c', '--around', word, '--json'], thread(messages))
  const around = ended.calls.map(({ query }) => new URLSearchParams(query).get('around')).find((each) => each !== null)
  expect([ended.exitCode, around ?? undefined]).toEqual([exitCode, id])
})

describe('the pager', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-pager-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const script = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }

  test('gets the chat on a terminal only, and not with --no-pager or --json', async () => {
    const paged: string[] = []
    const openFake = async () => ({ print: async (text: string) => void paged.push(text), close: async () => {} })
    const runs = [
      { argv: [], columns: 80, isPaged: true },
      { argv: ['--no-pager'], columns: 80, isPaged: false },
      { argv: ['--json'], columns: 80, isPaged: false },
      { argv: [], columns: null, isPaged: false },
    ]
    for (const { argv, columns, isPaged } of runs) {
      paged.length = 0
      const stdout = new Paper(columns)
      await run(['show', 'c', ...argv], thread([messageOf('m1', [])]), { stdout, openPager: openFake })
      expect([paged.length > 0, stdout.text !== '']).toEqual([isPaged, !isPaged])
    }
  })

  test('is not opened for a chat that does not exist', async () => {
    let opened = 0
    const openNone = async () => {
      opened += 1
      return null
    }
    const nobody = () => {
      throw new UserError('chat-not-found', 'No chat has this id.', '')
    }
    const { exitCode } = await run(['show', 'c'], nobody, { stdout: new Paper(80), openPager: openNone })
    expect([exitCode, opened]).toEqual([1, 0])
  })

  test('receives everything, and is waited for', async () => {
    const target = join(folder, 'out')
    const pager = await openPager({
      ...process.env,
      PAGER: `${script('slow', 'cat > "$1"; sleep 0.1; echo "$LESS" >> "$1"')} ${target}`,
    })
    await pager?.print('one\n')
    await pager?.print('two\n')
    await pager?.close()
    expect(readFileSync(target, 'utf8')).toBe('one\ntwo\nFRX\n')
  })

  test('that is left early ends the output', async () => {
    const pager = await openPager({ ...process.env, PAGER: script('gone', 'exit 0') })
    const printMuch = async () => {
      for (let count = 0; count < 1000; count += 1) await pager?.print('x'.repeat(10_000))
    }
    await expect(printMuch()).rejects.toThrow(PipeClosed)
    await pager?.close()
  })

  test.each(['', 'cat', '/nonexistent/pager'])('PAGER=%j means no pager', async (name) => {
    expect(await openPager({ PAGER: name })).toBe(null)
  })
})
