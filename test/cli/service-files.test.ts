import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { World } from '../../src/cli/session.ts'
import { cursordexBin } from '../helpers/spawn-cursordex.ts'
import { run } from './fake-world.ts'

const argument = process.argv[1] ?? ''
beforeAll(() => (process.argv[1] = cursordexBin))
afterAll(() => (process.argv[1] = argument))

const golden = (name: string): string => readFileSync(new URL(`service-files/${name}`, import.meta.url), 'utf8')

/** The golden text, which is written first if that is asked. */
function goldenOf(text: string, name: string): string {
  if (process.env['UPDATE_GOLDENS'] === '1') writeFileSync(new URL(`service-files/${name}`, import.meta.url), text)
  return golden(name)
}

/** What `--print` prints, with fixed paths of Node and of the program. */
async function printed(world: Partial<World>, ...flags: readonly string[]): Promise<string> {
  const { exitCode, out, err } = await run(['service', 'install', '--print', ...flags], undefined, world)
  expect([exitCode, err]).toEqual([0, expect.stringContaining('This would be written to ')])
  return out.replaceAll(realpathSync(process.execPath), NODE).replaceAll(cursordexBin, SCRIPT)
}

const NODE = '/opt/node/bin/node'
const SCRIPT = '/opt/cursordex/bin.js'
const linux = { platform: 'linux', homeDir: '/home/ada', workingDir: '/home/ada' } as const
const macos = { platform: 'darwin', homeDir: '/Users/ada', workingDir: '/Users/ada' } as const
const windows = {
  platform: 'win32',
  homeDir: 'C:\\Users\\ada',
  workingDir: 'C:\\Users\\ada',
  env: { USERDOMAIN: 'PC', USERNAME: 'Ann' },
} as const

/** Everything that one of the three forms treats in a special way. */
const ODD = `a b%n $HOME $\{X} "q" 'r' \\t <x> & -- é\\`

test('golden text for Linux', async () => {
  const variables = { CURSORDEX_LOG_LEVEL: 'debug', XDG_DATA_HOME: '/data 100%', XDG_CONFIG_HOME: 'relative' }
  const flags = [
    '--data-dir',
    ODD,
    '--host',
    '0.0.0.0',
    '--port',
    '4871',
    '--public-url',
    'https://box.example',
    '--auth',
  ]
  const text = await printed({ ...linux, env: variables }, ...flags)
  expect(text).toBe(goldenOf(text, 'linux.service'))
})

test('golden text for macOS', async () => {
  const text = await printed(macos, '--cursor-user-dir', ODD, '--cursor-user-dir', 'b', '--cursor-home', '')
  expect(text).toBe(goldenOf(text, 'macos.plist'))
})

test('golden text for Windows', async () => {
  const dir = 'D:\\a b & c--d\\'
  const text = await printed(windows, '--data-dir', dir, '--cursor-user-dir', 'C:\\"q\\"', '--port', '0')
  expect(text).toBe(goldenOf(text, 'windows.xml'))
})

test('the file for Windows is written in UTF-16 with a byte order mark', async () => {
  const there = { ...windows, env: { APPDATA: join(tmpdir(), 'cursordex-task'), PATH: '' } }
  const { out, err } = await run(['service', 'install'], undefined, there)
  // Elsewhere a path of Windows is one long name in the working folder.
  const file = /^Installed: (.*)$/m.exec(out)?.[1] ?? ''
  try {
    expect(err).toContain('Run it later: schtasks /create')
    expect(readFileSync(file).toString('hex')).toMatch(/^fffe3c003f0078006d006c00/)
  } finally {
    rmSync(file)
  }
})

test('another system is refused', async () => {
  const { exitCode, err } = await run(['service', 'install'], undefined, { platform: 'freebsd' })
  expect([exitCode, err]).toEqual([
    1,
    'cursordex cannot install a service on freebsd.\nLet your system start "cursordex serve".\n',
  ])
})

test('a path that XML cannot express is refused', async () => {
  const { err } = await run(['service', 'install', '--print', '--data-dir', '/a\u0001'], undefined, macos)
  expect(err).toContain('contains a control character')
})

/** The value of a Python expression over the text on stdin. */
function python(expression: string, text: string): unknown {
  const code = `import json, plistlib, sys\nfrom xml.etree import ElementTree\ntext = sys.stdin.buffer.read()\nprint(json.dumps(${expression}))`
  const { stdout, stderr } = spawnSync('python3', ['-c', code], { input: text, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as unknown
}

describe('read by parsers of Python', () => {
  test('the plist has every argument as it was given', () => {
    expect(python('plistlib.loads(text)["ProgramArguments"]', golden('macos.plist'))).toEqual([
      NODE,
      SCRIPT,
      'serve',
      '--cursor-user-dir',
      `/Users/ada/${ODD}`,
      '--cursor-user-dir',
      '/Users/ada/b',
      '--cursor-home',
      '',
    ])
  })

  test('the task is well formed, and its arguments are as they were given', () => {
    const text = golden('windows.xml').replace('encoding="UTF-16"', 'encoding="UTF-8"')
    const line = String(
      python(
        'next(ElementTree.fromstring(text).iter("{http://schemas.microsoft.com/windows/2004/02/mit/task}Arguments")).text',
        text,
      ),
    )
    expect(windowsWords(line)).toEqual([
      '--headless',
      NODE,
      SCRIPT,
      'serve',
      '--data-dir',
      'D:\\a b & c--d',
      '--cursor-user-dir',
      'C:\\"q\\"',
      '--port',
      '0',
    ])
  })
})

/** Splits a command line as Windows programs do. */
function windowsWords(line: string): string[] {
  const words: string[] = []
  let [word, isOpen, isQuoted] = ['', false, false]
  for (const [, slashes = '', char = ''] of line.matchAll(/(\\*)([^\\]|$)/gs)) {
    const isEscape = char === '"'
    word += isEscape ? '\\'.repeat(Math.floor(slashes.length / 2)) : slashes
    if (slashes !== '') isOpen = true
    if (isEscape && slashes.length % 2 === 0) [isQuoted, isOpen] = [!isQuoted, true]
    else if ((char === ' ' && !isQuoted) || char === '') {
      if (isOpen) words.push(word)
      ;[word, isOpen] = ['', false]
    } else [word, isOpen] = [word + char, true]
  }
  return words
}
