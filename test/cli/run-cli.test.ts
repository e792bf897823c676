import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { ClosingPipe, Paper, run, type Call, type Reply } from './fake-world.ts'

// How a command line is read, and how a run ends. What is printed is in golden.test.ts.

const broken = () => {
  throw new TypeError('x is not\n a function')
}

const commands = ['serve', 'search', 'chats', 'show', 'projects', 'losses', 'status', 'sync', 'stats', 'demo']

test.each([[[]], ...commands.map((name) => [[name]])])(
  'the help of %j has two examples, and each is a valid command line',
  async (argv) => {
    const { exitCode, out, err } = await run([...argv, '--help'])
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
    const examples = [...out.matchAll(/^ {2}\$ cursordex ?(.*)$/gm)].map(([, line = '']) => line)
    expect(examples).toHaveLength(2)
    for (const line of examples) {
      const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
      expect([line, (await run([...words, '--help'])).exitCode]).toEqual([line, 0])
    }
  },
)

test.each(['--version', '-V'])('%s prints only the version', async (flag) => {
  expect(await run([flag])).toMatchObject({ exitCode: 0, out: '1.2.3\n', err: '' })
})

test('help knows commands', async () => {
  expect((await run(['help', 'archive'])).out).toBe((await run(['archive', '--help'])).out)
})

test('a reading command makes no data folder, and with --demo it uses that of the demo', async () => {
  const missing = join(tmpdir(), 'cursordex-nowhere', 'data')
  expect(await run(['chats', '--data-dir', missing])).toMatchObject({ exitCode: 2, settings: null })
  expect(existsSync(missing)).toBe(false)
  const homeDir = mkdtempSync(join(tmpdir(), 'cursordex-home-'))
  const dataDir = join(homeDir, '.local', 'share', 'cursordex-demo')
  mkdirSync(dataDir, { recursive: true })
  for (const argv of [
    ['chats', '--demo'],
    ['--demo', 'chats', '--cursor-user-dir', '/x'],
  ]) {
    const { exitCode, settings } = await run(argv, () => ({ items: [], total: 0 }), { homeDir })
    expect([exitCode, settings]).toMatchObject([0, { dataDir, cursor: { userDirs: [], homes: [] } }])
  }
  // Its hints are for the demo, too.
  const { err } = await run(['chats', '--project', 'x', '--demo'], () => ({ items: [], total: 0 }), { homeDir })
  expect(err).toContain('List all with: cursordex --demo projects\n')
  rmSync(homeDir, { recursive: true, force: true })
})

test('config shows each setting and where it comes from, and no password', async () => {
  const env = { CURSORDEX_LOG_LEVEL: 'warn', CURSORDEX_HUB_URL: 'postgres://me:hunter2@db.example/chats' }
  const { out } = await run(['config', '--port', '5000'], undefined, { env })
  const rows = out.split('\n').map((line) => line.split('\t'))
  expect(rows).toEqual(
    expect.arrayContaining([
      ['http.host', '127.0.0.1', 'default'],
      ['http.port', '5000', 'flag --port'],
      ['log.level', 'warn', 'environment variable CURSORDEX_LOG_LEVEL'],
      ['hub.url', 'postgres://me@db.example/chats', 'environment variable CURSORDEX_HUB_URL'],
    ]),
  )
  expect(JSON.parse((await run(['config', '--json'])).out)).toMatchObject({
    settings: expect.arrayContaining([{ setting: 'http.port', value: 4870, from: 'default' }]),
  })
})

/** What went through the pager, on a terminal of this size; a pipe has no columns. */
async function pagedText(argv: readonly string[], reply: Reply, columns: number | null, rows = 24): Promise<string> {
  let text = ''
  const print = async (given: string) => void (text += given)
  const openPager = async () => ({ print, close: async () => {} })
  const stdout = Object.assign(new Paper(columns), { rows })
  await run(argv, reply, { stdout, openPager })
  expect(text !== '' && stdout.text !== '').toBe(false)
  return text
}

test('a list that is longer than the terminal goes through the pager', async () => {
  const chats = Array.from({ length: 30 }, (_, index) => ({ id: `chat-${index}`, title: 't' }))
  const paged = (rows: number) => pagedText(['chats'], () => ({ items: chats, total: 30 }), 80, rows)
  expect([(await paged(24)).split('\n').length - 1, await paged(40)]).toEqual([31, ''])
})

describe('serve', () => {
  test.each([[['serve']], [[]]])('%j runs the daemon with the settings of the flags', async (argv) => {
    const { exitCode, served } = await run([...argv, '--port', '0', '--auth'])
    expect(exitCode).toBe(0)
    expect(served).toMatchObject({ http: { port: 0 }, auth: { required: true } })
  })

  test('another daemon on the data folder gives exit code 3 and a hint', async () => {
    const serve = async () => {
      throw new UserError('locked', 'Another one owns it.', 'Stop that one.', { exitCode: 3 })
    }
    const { exitCode, err } = await run([], undefined, { serve })
    expect([exitCode, err]).toEqual([3, 'Another one owns it.\nStop that one.\n'])
  })
})

test('flags for settings may be before and after the command', async () => {
  const flags = ['--cursor-user-dir', '/a', '--cursor-user-dir=/b', '--cursor-home', '/c', '--data-dir', '/d']
  const more = ['--host', 'localhost', '--port', '1', '--log-level', 'warn', '--auth']
  const before = await run([...flags, ...more, 'sync'])
  expect(before.settings).toMatchObject({
    cursor: { userDirs: ['/a', '/b'], homes: ['/c'] },
    dataDir: '/d',
    http: { host: 'localhost', port: 1 },
    log: { level: 'warn' },
    auth: { required: true },
  })
  expect((await run(['sync', ...flags, ...more])).settings).toEqual(before.settings)
  expect((await run([...flags, 'sync', ...more])).settings).toEqual(before.settings)
})

test.each([['search', 'x'], ['chats'], ['projects'], ['losses'], ['status'], ['show', 'c1']])(
  '%s --json prints the answer unchanged',
  async (...argv) => {
    const answer = { items: [{ odd: true }], total: 1, limit: 200, offset: 0, more: 'x' }
    const { out, err } = await run([...argv, '--json'], () => answer)
    expect([out, err]).toEqual([`${JSON.stringify(answer, null, 2)}\n`, ''])
  },
)

test('an internal error says that it is a bug, and where', async () => {
  const { exitCode, err } = await run(['chats'], broken)
  expect(exitCode).toBe(1)
  expect(err).toMatch(/^This is a bug in cursordex\. Please report it.*\nTypeError: x is not\n a function\n {4}at /)
})

const message = (id: number) => ({ id: `m${id}`, role: 'user', parts: [{ kind: 'text', text: `text ${id}` }] })
const many = Array.from({ length: 450 }, (_, id) => message(id))

/** A chat of 450 messages, in pages. */
function longThread({ path, query }: Call): unknown {
  if (!path.endsWith('/messages')) return { id: 'c', title: 't', messageCount: 450 }
  const asked = new URLSearchParams(query)
  const [limit, offset] = [Number(asked.get('limit') ?? 20), Number(asked.get('offset') ?? 0)]
  return { items: many.slice(offset, offset + limit), total: many.length, limit, offset }
}

test('a long thread is printed completely, 200 messages at a time, also as one list of JSON', async () => {
  const { out, calls } = await run(['show', 'a/b\n'], longThread)
  expect(calls.map(({ path, query }) => `${path}?${query}`)).toEqual([
    '/api/chats/a%2Fb%0A?',
    '/api/chats/a%2Fb%0A/messages?limit=200&offset=0',
    '/api/chats/a%2Fb%0A/messages?limit=200&offset=200',
    '/api/chats/a%2Fb%0A/messages?limit=200&offset=400',
  ])
  expect(out.match(/^text \d+$/gm)).toEqual(many.map((_, index) => `text ${index}`))
  const json = await run(['show', 'c1', '--json'], longThread)
  expect(JSON.parse(json.out)).toEqual({ items: many, total: 450, limit: 450, offset: 0 })
  const part = await run(['show', 'c1', '--limit', '201', '--orphans', '--json'], longThread)
  expect(part.calls.map(({ query }) => query)).toEqual([
    'includeOrphans=true&limit=200&offset=0',
    'includeOrphans=true&limit=1&offset=200',
  ])
})

test('a chat is paged on a terminal only, not with --no-pager or --json, and not for an error', async () => {
  const paged = async (argv: readonly string[], columns: number | null, reply: Reply = longThread): Promise<boolean> =>
    (await pagedText(['show', 'c', ...argv], reply, columns)) !== ''
  expect(await paged([], 80)).toBe(true)
  expect(await paged(['--no-pager'], 80)).toBe(false)
  expect(await paged(['--json'], 80)).toBe(false)
  expect(await paged([], null)).toBe(false)
  expect(await paged([], 80, broken)).toBe(false)
})

test('a closed pipe ends the program without an error', async () => {
  const stdout = new ClosingPipe(0)
  const { exitCode, err, isClosed } = await run(['show', 'c'], longThread, { stdout })
  expect({ exitCode, err, isClosed, writes: stdout.writes }).toEqual({
    exitCode: 0,
    err: '',
    isClosed: true,
    writes: 1,
  })
  expect((await run(['--help'], undefined, { stdout: new ClosingPipe(0) })).exitCode).toBe(0)
  expect((await run(['--prot'], undefined, { stderr: new ClosingPipe(0) })).exitCode).toBe(2)
})

test('if help cannot be written, the error names the output', async () => {
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' })),
  })
  const { exitCode, err } = await run(['--help'], undefined, { stdout })
  expect([exitCode, err]).toEqual([
    1,
    'The output could not be written (ENOSPC).\nCheck the file or device that it is written to.\n',
  ])
})

test.each([
  ['utf16le', '\ufeffschlüssel-77'],
  ['utf16le', 'key-77'],
  ['latin1', 'schlüssel-77'],
] as const)('a text to purge in another encoding than UTF-8 is refused: %s', async (encoding, text) => {
  const stdin = Readable.from([Buffer.from(text, encoding)])
  const { exitCode, err, calls } = await run(['purge', '--match', '--yes'], () => ({}), { stdin })
  expect([exitCode, calls]).toEqual([2, []])
  expect(err).toContain('is not UTF-8')
})

test('projects merge takes folders from where it is typed, and says what moved and how to undo it', async () => {
  const [old, target] = ['/code/shop', '/projects/shop'].map((path) => ({ id: path, name: 'shop', path }))
  const reply = () => ({ old, new: target, chats: 2 })
  const { calls, out } = await run(['projects', 'merge', './shop', 'shop'], reply, { workingDir: '/code' })
  expect(calls).toMatchObject([{ path: '/api/merges', body: { old: '/code/shop', new: 'shop', undo: false } }])
  expect(out).toBe('2 chats of /code/shop moved to /projects/shop. Later ones follow. Undo it with --undo.\n')
  const undone = await run(['projects', 'merge', '/code/shop', '--undo'], reply)
  expect(undone.calls).toMatchObject([{ body: { old: '/code/shop', undo: true } }])
  expect(undone.out).toBe('2 chats moved back from /projects/shop to /code/shop.\n')
})
