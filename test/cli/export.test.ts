import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { daemonAnswers } from '../../src/cli/client/client.ts'
import { UserError } from '../../src/model/user-error.ts'
import { fillStore, wordOf } from '../helpers/fill-store.ts'
import { untilReady, Workplace } from '../helpers/spawn-cursordex.ts'
import { waitUntil } from '../helpers/wait-until.ts'
import { Paper, run } from './fake-world.ts'

const hostile = 'a\u001b]52;c;x\u0007b\u009b2J \u202ec\u007f'
const order = /[^\t\n\P{Cc}]|\p{Bidi_Control}/u

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-export-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('--output - writes to stdout, and not to a file with that name', async () => {
  expect(await run(['export', 'c1', '--output', '-'], () => 'x')).toMatchObject({ exitCode: 0, out: 'x' })
  expect(existsSync('-')).toBe(false)
})

test.each([
  [['export', 'c1'], 'as=markdown'],
  [['export', 'c1', '--as', 'markdown'], 'as=markdown'],
  [['export', 'c1', '--as=html', '--orphans'], 'as=html&includeOrphans=true'],
  [['export', 'c1', '--as', 'jsonl'], 'as=jsonl'],
  [['export', 'c1', '--json'], 'as=json'],
])('%j sends %s', async (argv, query) => {
  const { exitCode, calls, isClosed } = await run(argv, () => 'x')
  expect({ exitCode, isClosed }).toEqual({ exitCode: 0, isClosed: true })
  expect(calls).toEqual([{ method: 'GET', path: '/api/chats/c1/export', query }])
})

test('the id is always one part of the path', async () => {
  const { calls } = await run(['export', 'a/b\n%?'], ({ path }) =>
    path === '/api/chats' ? { items: [], total: 0 } : 'x',
  )
  expect(calls.map(({ path }) => path)).toEqual(['/api/chats', '/api/chats/a%2Fb%0A%25%3F/export'])
})

test.each([
  [['export'], /^Missing required argument 'chatId'\.\n$/],
  [['export', 'c1', '--as', 'pdf'], /choices are markdown, json, jsonl, html, md\.\n$/],
  [['export', 'c1', '--as', 'html', '--json'], /'--json' cannot be used with option '--as <format>'\.\n$/],
])('%j is wrong usage: one sentence, exit code 2', async (argv, sentence) => {
  const { exitCode, err, calls } = await run(argv, () => 'x')
  expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] })
  expect(err).toMatch(sentence)
})

test('the help shows two valid examples', async () => {
  const { out } = await run(['export', '--help'])
  const examples = [...out.matchAll(/^ {2}\$ cursordex ([^>\n]*)/gm)].map(([, line = '']) => line.trim().split(/\s+/))
  expect(examples).toHaveLength(2)
  for (const argv of examples) {
    const given = argv.map((word) => (word.endsWith('.html') ? join(folder, word) : word))
    expect((await run(given, () => 'x')).exitCode).toBe(0)
  }
  expect(readdirSync(folder)).toEqual(['login-bug.html'])
})

describe('on stdout', () => {
  test.each(['markdown', 'json', 'jsonl', 'html'])('%s is unchanged in a pipe', async (as) => {
    const { out } = await run(['export', 'c1', '--as', as], () => [hostile, '\r\nmore'])
    expect(out).toBe(`${hostile}\r\nmore`)
  })

  test.each(['markdown', 'html'])('%s is printed without control characters on a terminal', async (as) => {
    const stdout = new Paper(80)
    await run(['export', 'c1', '--as', as], () => [hostile, '\u001b', '[2J'], { stdout })
    expect(stdout.text).not.toMatch(order)
    expect(stdout.text).toBe('a\\x1b]52;c;x\\x07b\\x9b2J \\u202ec\\x7f\\x1b[2J')
  })

  test.each(['json', 'jsonl'])(
    '%s is printed without control characters on a terminal, as the same JSON',
    async (as) => {
      const stdout = new Paper(80)
      const json = JSON.stringify({ [hostile]: hostile })
      await run(['export', 'c1', '--as', as], () => [json.slice(0, 9), json.slice(9)], { stdout })
      expect(stdout.text).not.toMatch(order)
      expect(JSON.parse(stdout.text)).toEqual({ [hostile]: hostile })
    },
  )
})

describe('into a file', () => {
  const exportTo = (file: string, flags: readonly string[] = [], reply: () => unknown = () => ['one ', hostile]) =>
    run(['export', 'c1', '--output', file, ...flags], reply)

  test('the text is unchanged, and nothing is printed', async () => {
    const file = join(folder, 'chat.md')
    expect(await exportTo(file)).toMatchObject({ exitCode: 0, out: '', err: '' })
    expect(readFileSync(file, 'utf8')).toBe(`one ${hostile}`)
  })

  test('an existing file is only overwritten with --force', async () => {
    const file = join(folder, 'chat.md')
    writeFileSync(file, 'mine, and longer than what is to come', { mode: 0o644 })
    const refused = await exportTo(file)
    expect(refused).toMatchObject({ exitCode: 1, out: '', isClosed: true })
    expect(refused.err).toBe(`${file} already exists.\nChoose another name, or add --force.\n`)
    expect(readFileSync(file, 'utf8')).toBe('mine, and longer than what is to come')
    expect((await exportTo(file, ['--force'])).exitCode).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(`one ${hostile}`)
  })

  test.each([[[]], [['--force']]])('a folder is refused as a folder: %j', async (flags) => {
    const { exitCode, err } = await exportTo(folder, flags)
    expect([exitCode, err]).toEqual([1, `${folder} is a folder.\nName a file in it.\n`])
  })

  test.skipIf(process.platform === 'win32')(
    'the target of a link is replaced, and a device is written to',
    async () => {
      const [file, link] = [join(folder, 'chat.md'), join(folder, 'link.md')]
      writeFileSync(file, 'mine')
      symlinkSync(file, link)
      expect((await exportTo(link, ['--force'])).exitCode).toBe(0)
      expect([lstatSync(link).isSymbolicLink(), readFileSync(file, 'utf8')]).toEqual([true, `one ${hostile}`])
      expect(await exportTo('/dev/null', ['--force'])).toMatchObject({ exitCode: 0, err: '' })
      expect(statSync('/dev/null').isFile()).toBe(false)
    },
  )

  // Windows has no such modes.
  test.skipIf(process.platform === 'win32')('only the owner can read the file, new or overwritten', async () => {
    const [fresh, old] = [join(folder, 'fresh.md'), join(folder, 'old.md')]
    writeFileSync(old, 'x')
    chmodSync(old, 0o644)
    await exportTo(fresh)
    await exportTo(old, ['--force'])
    expect([fresh, old].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600])
  })

  test('a failed request creates no file and changes none', async () => {
    const [fresh, old] = [join(folder, 'fresh.md'), join(folder, 'old.md')]
    writeFileSync(old, 'mine')
    const refuse = () => {
      throw new UserError('chat-not-found', 'No chat has this id.', 'List them.')
    }
    for (const file of [fresh, old]) {
      expect(await exportTo(file, ['--force'], refuse)).toMatchObject({
        exitCode: 1,
        err: 'No chat has this id.\nList them.\n',
      })
    }
    expect(existsSync(fresh)).toBe(false)
    expect(readFileSync(old, 'utf8')).toBe('mine')
  })

  test('an interrupted text leaves no file', async () => {
    const half = function* () {
      yield 'half'
      throw new UserError('daemon-lost', 'It went away.', 'Try again.')
    }
    const broken = {
      openAnswers: async () => ({
        ...nobody,
        text: async function* () {
          yield* half()
        },
      }),
    }
    const file = join(folder, 'chat.md')
    const { exitCode, err } = await run(['export', 'c1', '--output', file], undefined, broken)
    expect({ exitCode, err }).toEqual({ exitCode: 1, err: 'It went away.\nTry again.\n' })
    expect(readdirSync(folder)).toEqual([])
    // An existing file is not replaced either.
    writeFileSync(file, 'mine')
    expect((await run(['export', 'c1', '--output', file, '--force'], undefined, broken)).exitCode).toBe(1)
    expect([readdirSync(folder), readFileSync(file, 'utf8')]).toEqual([['chat.md'], 'mine'])
  })

  test('a missing folder is an error with a hint', async () => {
    const { exitCode, err } = await exportTo(join(folder, 'nowhere', 'chat.md'), ['--force'])
    expect(exitCode).toBe(1)
    expect(err).toMatch(/could not be written \(E\w+\)\.\nChoose a folder/)
  })
})

const nobody = {
  origin: 'daemon' as const,
  get: () => Promise.reject(new Error('not asked')),
  post: () => Promise.reject(new Error('not asked')),
  close: async () => {},
}

describe('from a running daemon', () => {
  const server = createServer((request, response) => {
    if (request.url === '/api/health') response.end('{"status":"ok"}')
    else if (request.url?.startsWith('/api/whole') === true)
      response.end(`${request.url} ${request.headers.authorization} ${'漢'.repeat(100_000)}`)
    else if (request.url === '/api/half') {
      response.write('half')
      setTimeout(() => response.destroy(), 20)
    } else response.writeHead(404).end('{"detail":"No chat has this id.","code":"chat-not-found"}')
  })
  const dataDir = mkdtempSync(join(tmpdir(), 'cursordex-client-'))
  const none = new URLSearchParams()
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify({ pid: process.pid, url: `http://127.0.0.1:${port}` }))
    writeFileSync(join(dataDir, 'token'), 'sesame', { mode: 0o600 })
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
    rmSync(dataDir, { recursive: true, force: true })
  })

  async function textOf(path: string, query = none): Promise<string> {
    const answers = await daemonAnswers(dataDir)
    let text = ''
    for await (const stretch of answers?.text(path, query) ?? []) text += stretch
    return text
  }

  test('a text arrives completely, and the request has its parameters and the token', async () => {
    const text = await textOf('/api/whole', new URLSearchParams({ as: 'a b' }))
    expect(text).toBe(`/api/whole?as=a+b Bearer sesame ${'漢'.repeat(100_000)}`)
  })

  test('an error has the message of the daemon', async () => {
    await expect(textOf('/api/none')).rejects.toMatchObject({ code: 'chat-not-found', message: 'No chat has this id.' })
  })

  test('an interrupted text is an error', async () => {
    await expect(textOf('/api/half')).rejects.toMatchObject({ code: 'daemon-lost' })
  })
})

describe('the real program', () => {
  const place = new Workplace()
  afterAll(() => place.remove())

  test.runIf(process.platform !== 'win32').each(['SIGINT', 'SIGTERM'] as const)(
    'an export that is ended by %s leaves no partial file',
    async (signal) => {
      const interrupted = new Workplace()
      try {
        fillStore(interrupted.cursor.global(), { chats: 1, messagesPerChat: 4000, textLength: 3000 })
        const { url } = await interrupted.serve()
        await untilReady(url)
        const endAmid = async (name: string): Promise<boolean> => {
          const file = join(interrupted.root, name)
          const program = interrupted.start(['export', 'chat-0', '--output', file])
          await waitUntil('the file', () => existsSync(file), { everyMs: 1 })
          const ended = await program.stop(signal)
          // On a busy machine the program may be done before the signal. Then its file is complete.
          if (ended.exitCode === 0) return false
          expect(ended).toMatchObject({ signal })
          expect(readdirSync(interrupted.root)).not.toContain(name)
          return true
        }
        let isEnded = false
        for (let attempt = 0; attempt < 10 && !isEnded; attempt += 1) isEnded = await endAmid(`chat-${attempt}.md`)
        expect(isEnded).toBe(true)
      } finally {
        await interrupted.remove()
      }
    },
  )

  test('exports the same with and without a daemon, also a chat of several pages', async () => {
    fillStore(place.cursor.global(), { chats: 2, messagesPerChat: 130, textLength: 3000 })
    const alone = await place.run(['export', 'chat-1', '--as', 'html'])
    const { daemon } = await place.serve()
    const beside = await place.run(['export', 'chat-1', '--as', 'html'])
    const missing = await place.run(['export', 'nobody'])
    await daemon.stop()
    // On a busy machine it may say that it still reads.
    expect(alone).toMatchObject({ exitCode: 0 })
    expect(alone.stdout.match(/<article /gu)).toHaveLength(130)
    expect(alone.stdout).toContain(wordOf(1, 129))
    expect(beside.stdout).toBe(alone.stdout)
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
    expect(missing.stderr).toMatch(/cursordex chats\n$/)
    expect(await place.run(['export', 'nobody'])).toMatchObject({ exitCode: 1, stdout: '', stderr: missing.stderr })
  })
})
