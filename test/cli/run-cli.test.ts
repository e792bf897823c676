import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { ClosingPipe, Paper, run } from './fake-world.ts'

const serveInVain = async () => {
  throw new UserError('locked', 'Another one owns it.', 'Stop that one.', { exitCode: 3 })
}

const broken = () => {
  throw new TypeError('x is not\n a function')
}

const message = (id: number) => ({
  id: `m${id}`,
  role: 'user',
  createdAt: null,
  model: null,
  parts: [{ kind: 'text', text: 'x' }],
  isOrphan: false,
  deletedInCursor: false,
})

const commands = ['serve', 'search', 'chats', 'show', 'projects', 'losses', 'status', 'sync']

test.each([[[]], ...commands.map((name) => [[name]])])('%j --help shows two examples', async (argv) => {
  const { exitCode, out, err } = await run([...argv, '--help'])
  expect(exitCode).toBe(0)
  expect(out.match(/^ {2}\$ cursordex/gm)).toHaveLength(2)
  const isServer = argv[0] === 'serve'
  expect(out.includes('--cursor-user-dir <folder>')).toBe(isServer)
  expect(out.includes('Common options: cursordex help settings')).toBe(!isServer)
  expect(err).toBe('')
})

test('help knows subcommands', async () => {
  const { out } = await run(['help', 'archive', 'restore'])
  expect(out).toBe((await run(['archive', 'restore', '--help'])).out)
  expect(out).toContain('--map')
  expect((await run(['help', 'archive'])).out).toBe((await run(['archive', '--help'])).out)
  expect(await run(['help', 'nonsense', 'run'])).toMatchObject({ exitCode: 2 })
})

test('every example in the help is a valid command line', async () => {
  for (const name of commands) {
    const { out } = await run([name, '--help'])
    for (const [, line = ''] of out.matchAll(/^ {2}\$ cursordex ?(.*)$/gm)) {
      const argv = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
      expect((await run(argv)).exitCode).not.toBe(2)
    }
  }
})

test.each(['--version', '-V'])('%s prints only the version', async (flag) => {
  expect(await run([flag])).toMatchObject({ exitCode: 0, out: '1.2.3\n', err: '' })
})

test('"help settings" lists the options of every command', async () => {
  const { exitCode, out } = await run(['help', 'settings'])
  expect(exitCode).toBe(0)
  expect(out).toMatch(/^Usage: cursordex <command> \[common options\]\n/)
  for (const flag of ['--cursor-user-dir <folder>', '--data-dir <folder>', '--auth']) expect(out).toContain(flag)
  expect((await run(['--help'])).out).not.toMatch(/^ {2}settings/m)
})

test.each([['chats'], ['search', 'x'], ['archive', 'list']])(
  'a reading command (%s) refuses a data folder that does not exist, and makes none',
  async (...argv) => {
    const missing = join(tmpdir(), 'cursordex-nowhere', 'data')
    const { exitCode, err, settings } = await run([...argv, '--data-dir', missing])
    expect([exitCode, settings]).toEqual([2, null])
    expect(err).toMatch(/^The data folder .*cursordex-nowhere.data does not exist\.\nCheck its name\./)
    expect((await run(argv, undefined, { env: { CURSORDEX_DATA_DIR: missing } })).exitCode).toBe(2)
    expect(existsSync(missing)).toBe(false)
  },
)

describe('--demo', () => {
  const homeDir = mkdtempSync(join(tmpdir(), 'cursordex-home-'))
  afterAll(() => rmSync(homeDir, { recursive: true, force: true }))
  const empty = () => ({ items: [], total: 0 })

  test('says if no demo runs, also for commands that may make a data folder', async () => {
    for (const argv of [['chats'], ['sync']]) {
      const { exitCode, err, settings } = await run([...argv, '--demo'], empty, { homeDir })
      expect([exitCode, err, settings]).toEqual([2, 'No demo is running.\nStart one with: cursordex demo\n', null])
    }
  })

  test('uses the data folder of the demo, and reads no chats of this machine', async () => {
    const dataDir = join(homeDir, '.local', 'share', 'cursordex-demo')
    mkdirSync(dataDir, { recursive: true })
    for (const argv of [
      ['chats', '--demo'],
      ['--demo', 'chats', '--cursor-user-dir', '/x'],
    ]) {
      const { exitCode, settings } = await run(argv, empty, { homeDir })
      expect([exitCode, settings]).toMatchObject([0, { dataDir, cursor: { userDirs: [], homes: [] } }])
    }
  })
})

test('an error without a hint is printed without an empty line', async () => {
  const { exitCode, err } = await run(['chats'], () => {
    throw new UserError('git-missing', 'Git is not installed. Install git.', '')
  })
  expect([exitCode, err]).toEqual([1, 'Git is not installed. Install git.\n'])
})

describe('serve', () => {
  test.each([[['serve']], [[]]])('%j runs the daemon with the settings of the flags', async (argv) => {
    const { exitCode, served } = await run([...argv, '--port', '0', '--auth'])
    expect(exitCode).toBe(0)
    expect(served?.http.port).toBe(0)
    expect(served?.auth.required).toBe(true)
  })
  test('another daemon on the data folder gives exit code 3 and a hint', async () => {
    const { exitCode, err } = await run([], undefined, { serve: serveInVain })
    expect(exitCode).toBe(3)
    expect(err).toBe('Another one owns it.\nStop that one.\n')
  })
})

test('flags for settings may be before and after the command', async () => {
  const flags = ['--cursor-user-dir', '/a', '--cursor-user-dir=/b', '--cursor-home', '/c', '--data-dir', '/d']
  const more = ['--host', 'localhost', '--port', '1', '--log-level', 'warn', '--auth']
  const before = await run([...flags, ...more, 'sync'])
  const after = await run(['sync', ...flags, ...more])
  const around = await run([...flags, 'sync', ...more])
  expect(before.settings).toMatchObject({
    cursor: { userDirs: ['/a', '/b'], homes: ['/c'] },
    dataDir: '/d',
    http: { host: 'localhost', port: 1 },
    log: { level: 'warn' },
    auth: { required: true },
  })
  expect(after.settings).toEqual(before.settings)
  expect(around.settings).toEqual(before.settings)
})

const wrong: readonly [argv: readonly string[], sentence: RegExp][] = [
  [['statu'], /^Unknown command 'statu'. Did you mean status\?\n$/],
  [['serach', 'x'], /^Unknown command 'serach'. Did you mean search\?\n$/],
  [['zzzzzzzz'], /^Unknown command 'zzzzzzzz'. See: cursordex --help\n$/],
  [['serve', 'x'], /^Unknown command 'x'/],
  [['--prot', '1'], /^Unknown option '--prot'. Did you mean --port\?\n$/],
  [['chats', '--projcet', 'x'], /^Unknown option '--projcet'. Did you mean --project\?\n$/],
  [['search', 'x', '--projcet=x'], /^Unknown option '--projcet'. Did you mean --project\?\n$/],
  [['search', '--dta-dir', '/x'], /^Unknown option '--dta-dir'. Did you mean --data-dir\?\n$/],
  [['search', '--sort', 'best'], /choices are relevance, newest, oldest\.\n$/],
  [['chats', '--limit', '0'], /It must be a whole number, 1 to 200\.\n$/],
  [['chats', '--limit', '1e2'], /It must be a whole number/],
  [['chats', '--offset', '-1'], /It must be a whole number, 0 or more\.\n$/],
  [['show'], /^Missing required argument 'chatId'\.\n$/],
  [['show', 'a', 'b'], /^Too many arguments/],
  [['help', 'nonsense'], /^There is no such command/],
]

test.each(wrong)('%j is wrong usage: one sentence, exit code 2', async (argv, sentence) => {
  const { exitCode, out, err, calls } = await run(argv)
  expect(exitCode).toBe(2)
  expect(out).toBe('')
  expect(err).toMatch(sentence)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  expect(calls).toEqual([])
})

test('a wrong setting gives exit code 2, and the message names its source and the allowed values', async () => {
  const { exitCode, err } = await run(['status', '--port', 'http'])
  expect(exitCode).toBe(2)
  expect(err).toBe('http.port is "http" (flag --port).\nIt must be a whole number from 0 to 65535.\n')
})

test('an error of the daemon is printed with its hint and exit code, and the connection is closed', async () => {
  const { exitCode, out, err, isClosed } = await run(['chats'], () => {
    throw new UserError('x', 'No \u001b[2Jway.', 'Go round.', { exitCode: 2 })
  })
  expect({ exitCode, out, err, isClosed }).toEqual({
    exitCode: 2,
    out: '',
    err: 'No \\x1b[2Jway.\nGo round.\n',
    isClosed: true,
  })
})

test('an internal error is one line, with a stack only at log level debug', async () => {
  const plain = await run(['chats'], broken)
  expect(plain.exitCode).toBe(1)
  expect(plain.err).toMatch(/^This is a bug in cursordex: x is not a function\. Please report .*--log-level debug.*\n$/)
  const debugging = await run(['chats', '--log-level', 'debug'], broken)
  expect(debugging.err).toMatch(/\n {4}at /)
})

test('an answer with an unexpected shape is explained by another version', async () => {
  const { exitCode, err } = await run(['chats'], () => ({ items: [{ id: 1 }], total: 1 }))
  expect(exitCode).toBe(1)
  expect(err).toMatch(/unexpected shape at items\.0\.id.\nThe running daemon may have another version/)
})

test('a closed pipe ends the program without an error', async () => {
  const stdout = new ClosingPipe(3)
  const { exitCode, err, isClosed } = await run(
    ['show', 'c'],
    ({ path }) =>
      path.endsWith('/messages')
        ? { items: Array.from({ length: 50 }, (_, id) => message(id)), total: 50 }
        : {
            id: 'c',
            title: 't',
            project: null,
            createdAt: null,
            lastActivityAt: null,
            model: null,
            messageCount: 50,
            isArchived: false,
            deletedInCursor: false,
          },
    { stdout },
  )
  expect({ exitCode, err, isClosed, writes: stdout.writes }).toEqual({
    exitCode: 0,
    err: '',
    isClosed: true,
    writes: 4,
  })
  expect((await run(['--help'], undefined, { stdout: new ClosingPipe(0) })).exitCode).toBe(0)
})

test('a closed stderr does not change the exit code', async () => {
  expect((await run(['--prot'], undefined, { stderr: new ClosingPipe(0) })).exitCode).toBe(2)
})

test('colours are only for terminals, and NO_COLOR turns them off', async () => {
  const empty = { items: [], total: 0 }
  const chats = (env: Record<string, string>) => {
    const stdout = new Paper(100)
    const item = { id: 'c', title: 't', project: null, lastActivityAt: null, messageCount: 1 }
    return run(['chats'], () => ({ ...empty, items: [item], total: 1 }), { stdout, env }).then(() => stdout.text)
  }
  expect(await chats({})).toContain('\u001b[2m')
  expect(await chats({ NO_COLOR: '1' })).not.toContain('\u001b')
  expect(await chats({ TERM: 'dumb' })).not.toContain('\u001b')
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
