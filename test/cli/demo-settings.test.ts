import { expect, test } from 'vitest'
import { demoGreeting } from '../../src/cli/demo-stage.ts'
import { run } from './fake-world.ts'
import { demoSettings } from '../../src/settings.ts'
import type { Flags } from '../../src/settings.ts'

const folders = { userDir: '/tmp/demo/User', dataDir: '/tmp/demo/data' }

function settingsFor(flags: Flags, env: Readonly<Record<string, string>> = {}, configText = '') {
  const surroundings = { platform: 'linux', homeDir: '/home/ada', workingDir: '/home/ada/code' } as const
  return demoSettings({ ...surroundings, flags, env, configText }, folders)
}

test('the demo uses only its own folders, regardless of flags, environment and config file', () => {
  const config =
    '{ "dataDir": "/c", "cursor": { "userDirs": ["/c/User"], "homes": ["/c/home"] }, "archives": { "dir": "/c/a" } }'
  const env = { CURSORDEX_CURSOR_USER_DIRS: '/e/User', CURSORDEX_CURSOR_HOMES: '/e/home' }
  const settings = settingsFor({ cursorUserDir: ['/f/User'], cursorHome: ['/f/home'] }, env, config)
  expect(settings.cursor).toMatchObject({ userDirs: ['/tmp/demo/User'], homes: [] })
  expect(settings.dataDir).toBe('/tmp/demo/data')
  expect(settings.archives.dir).toBe('/tmp/demo/data/archives')
})

test('a data folder from a flag or the environment is used, the flag first', () => {
  expect(settingsFor({ dataDir: 'mine' }).dataDir).toBe('/home/ada/code/mine')
  expect(settingsFor({}, { CURSORDEX_DATA_DIR: '/e' })).toMatchObject({
    dataDir: '/e',
    archives: { dir: '/e/archives' },
  })
  expect(settingsFor({ dataDir: '/f' }, { CURSORDEX_DATA_DIR: '/e' }).dataDir).toBe('/f')
  expect(settingsFor({}, { CURSORDEX_DATA_DIR: '' }).dataDir).toBe('/tmp/demo/data')
})

test('the port is any free one, unless a flag names one', () => {
  expect(settingsFor({}, {}, '{ "http": { "port": 4999 } }').http.port).toBe(0)
  expect(settingsFor({ port: '4871' }).http.port).toBe(4871)
})

test('other settings are kept and validated as usual', () => {
  expect(settingsFor({ logLevel: 'debug', auth: true })).toMatchObject({
    log: { level: 'debug' },
    auth: { required: true },
  })
  expect(() => settingsFor({ port: 'x' })).toThrow(/port/)
})

test.each([
  ['linux', '/tmp/a b/data', `--data-dir '/tmp/a b/data'`],
  ['darwin', "/tmp/it's/data", String.raw`--data-dir '/tmp/it'\''s/data'`],
  ['linux', '/tmp/cursordex-demo-1/data', '--data-dir /tmp/cursordex-demo-1/data'],
  ['win32', String.raw`C:\My Temp\data`, String.raw`--data-dir "C:\My Temp\data"`],
] as const)('on %s the folder %s is one word in the commands', (platform, folder, words) => {
  const greeting = demoGreeting(null, folder, platform)
  expect(greeting.match(/^ {2}npx cursordex .*$/gm)).toHaveLength(4)
  expect(greeting.split(words)).toHaveLength(5)
})

test('a demo that was started elsewhere shows where its commands work', () => {
  expect(demoGreeting(null, '/tmp/d', 'linux')).toContain('in another terminal, in this folder:')
  expect(demoGreeting(null, '/tmp/d', 'linux', '/home/ada/cursordex')).toContain(
    'in another terminal, in /home/ada/cursordex:',
  )
})

test('an installed program is named without npx and without a folder', () => {
  const greeting = demoGreeting(null, '/tmp/d', 'linux', null)
  expect(greeting).toContain('in another terminal:')
  expect(greeting).toContain('  cursordex search getUserName --data-dir /tmp/d')
  expect(greeting).not.toContain('npx')
})

test('a demo in a named folder does not say that it removes the mirror', () => {
  const greeting = demoGreeting(null, '/tmp/d', 'linux', 'this folder', true)
  expect(greeting).toContain('removes the sample. The mirror stays in /tmp/d.')
  expect(demoGreeting(null, '/tmp/d', 'linux')).toContain('removes all of its files.')
})

test.each([[['demo']], [['serve', '--demo']], [['--demo']]])('%j serves settings of its own', async (argv) => {
  const { exitCode, served } = await run([...argv, '--port', '4871', '--cursor-user-dir', '/f/User'])
  expect(exitCode).toBe(0)
  expect(served?.http.port).toBe(4871)
  expect(served?.cursor.userDirs).toEqual([expect.stringContaining('cursordex-demo-')])
  expect(served?.dataDir).toContain('cursordex-demo-')
})
