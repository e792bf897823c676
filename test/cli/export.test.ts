import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { answersOver } from '../../src/cli/client/client.ts'
import { UserError } from '../../src/model/user-error.ts'
import { Paper, run } from './fake-world.ts'

const hostile = 'a\u001b]52;c;x\u0007b\u009b2J \u202ec\u007f'
const order = /[^\t\n\P{Cc}]|\p{Bidi_Control}/u

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-export-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test.each(['markdown', 'json', 'jsonl', 'html'])('%s is unchanged in a pipe', async (as) => {
  const { out } = await run(['export', 'c1', '--as', as], () => [hostile, '\r\nmore'])
  expect(out).toBe(`${hostile}\r\nmore`)
})

test.each(['json', 'jsonl'])('%s is printed without control characters on a terminal, as the same JSON', async (as) => {
  const stdout = new Paper(80)
  const json = JSON.stringify({ [hostile]: hostile })
  await run(['export', 'c1', '--as', as, '--output', '-'], () => [json.slice(0, 9), json.slice(9)], { stdout })
  expect(stdout.text).not.toMatch(order)
  expect(JSON.parse(stdout.text)).toEqual({ [hostile]: hostile })
})

test('on a terminal an export is a file in the working directory, and is named', async () => {
  const stdout = new Paper(80)
  const { exitCode } = await run(['export', 'c1', '--as', 'html'], () => ['text'], { stdout, workingDir: folder })
  expect([exitCode, stdout.text]).toEqual([0, 'Written: chat.html\n'])
  expect(readFileSync(join(folder, 'chat.html'), 'utf8')).toBe('text')
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
    async function* half(): AsyncGenerator<Buffer> {
      yield Buffer.from('half')
      throw new UserError('daemon-lost', 'It went away.', 'Try again.')
    }
    const exchange = async () => new Response(ReadableStream.from(half()))
    const broken = { openAnswers: async () => ({ daemon: null, ...answersOver(exchange), close: async () => {} }) }
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
    expect(err).toMatch(/chat\.md.* cannot be used \(E\w+\)\.\nCheck its folder/)
  })
})
