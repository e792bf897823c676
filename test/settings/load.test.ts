import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import {
  defaultConfigFile,
  defaultDataDir,
  discoverCursorUserDirs,
  loadSettings,
  realSurroundings,
  type Environment,
  type Settings,
  type SettingsInput,
} from '../../src/settings.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const folder = mkdtempSync(join(tmpdir(), 'cursordex-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const load = (input: Partial<SettingsInput> = {}): Settings =>
  loadSettings({ flags: {}, env: {}, platform: 'linux', homeDir: '/home/ada', workingDir: '/start', ...input })

const loadText = (configText: string) => load({ configText, flags: { config: '/etc/cursordex.json' } })

function troubleOf(act: () => unknown): UserError {
  try {
    act()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

test('without any input, the documented defaults apply', () => {
  const [defaults] = cases<Settings>('defaults')
  expect(load()).toEqual({ ...defaults, hub: { ...defaults?.hub, machine: hostname() } })
})

test('a leading ~ in a path of an excluded project is the home folder, and names stay as they are', () => {
  const configText = '{"exclude": {"projects": ["diary", "~/clients/**", "~x"]}}'
  expect(load({ configText }).exclude.projects).toEqual(['diary', '/home/ada/clients/**', '~x'])
})

interface Layered {
  readonly key: string
  readonly file: object
  readonly env: Readonly<Record<string, string>>
  readonly flags: SettingsInput['flags']
  /** The values of the file, the environment and the flags. */
  readonly expected: readonly [unknown, unknown, unknown]
}

test.each(cases<Layered>('layered'))(
  '$key is taken from the file, the environment overrides it, and the flags override both',
  ({ key, file, env, flags, expected }) => {
    const configText = JSON.stringify(file)
    const [group, name] = key.split('.') as [keyof Settings, string?]
    const found = [load({ configText }), load({ configText, env }), load({ configText, env, flags })].map((settings) =>
      name === undefined ? settings[group] : (settings[group] as Readonly<Record<string, unknown>>)[name],
    )
    expect(found).toEqual(expected)
  },
)

test('keys without a flag are read from the file, which may contain comments and trailing commas', () => {
  const settings = loadText(`{
    // a comment
    "$schema": "./schema.json",
    "sources": { "cli-store": { "enabled": false }, },
    "search": { "deadlineMs": 50 },
    "tokens": { "estimate": false }, /* and another */
    "archives": { "dir": "kept", "jobs": [
      { "name": "a", "schedule": "@daily", "timezone": "Europe/Berlin", "scope": "project:x",
        "keep": { "daily": 1, "weekly": 0, "monthly": 0 } },
      { "name": "b", "schedule": "*/5 * * * *", "scope": null,
        "keep": { "daily": 0, "weekly": 0, "monthly": 1 } },
    ] },
  }`)
  expect(settings.sources['cli-store'].enabled).toBe(false)
  expect(settings.sources.archive.enabled).toBe(true)
  expect(settings.search.deadlineMs).toBe(50)
  expect(settings.tokens.estimate).toBe(false)
  expect(settings.archives.dir).toBe('/etc/kept')
  expect(settings.archives.jobs.map(({ name, timezone, scope }) => [name, timezone, scope])).toEqual([
    ['a', 'Europe/Berlin', 'project:x'],
    ['b', null, null],
  ])
})

test('the archive folder is inside the data folder', () => {
  expect(load({ flags: { dataDir: '/d' } }).archives.dir).toBe('/d/archives')
})

test.each([
  ['the flag', { flags: { cursorUserDir: [''], cursorHome: [''] } }],
  ['the environment', { env: { CURSORDEX_CURSOR_USER_DIRS: '', CURSORDEX_CURSOR_HOMES: '' } }],
  ['the file', { configText: '{"cursor": {"userDirs": [], "homes": []}}' }],
])('an empty list in %s means no folder at all, and no discovery', (_, input) => {
  const { cursor } = load(input)
  expect(cursor).toEqual({ userDirs: [], userDirsExplicit: true, homes: [], homesExplicit: true })
})

test('null in the file and an empty variable keep the default', () => {
  const configText = '{"cursor": {"userDirs": null}, "dataDir": null}'
  const settings = load({ configText, env: { CURSORDEX_PORT: '', CURSORDEX_DATA_DIR: '', CURSORDEX_CONFIG: '' } })
  expect(settings).toEqual(load())
})

test('paths become absolute: from the working folder, the file’s folder or the home folder', () => {
  expect(load({ flags: { dataDir: 'data' } }).dataDir).toBe('/start/data')
  expect(load({ env: { CURSORDEX_DATA_DIR: '~/data' } }).dataDir).toBe('/home/ada/data')
  expect(load({ env: { CURSORDEX_CURSOR_HOMES: '~:b' } }).cursor.homes).toEqual(['/home/ada', '/start/b'])
  expect(loadText('{"dataDir": "../data"}').dataDir).toBe('/data')
  expect(loadText('{"cursor": {"userDirs": ["~/x", "~ada"]}}').cursor.userDirs).toEqual(['/home/ada/x', '/etc/~ada'])
})

test('on Windows lists are separated by semicolons and paths have drives', () => {
  const settings = load({
    platform: 'win32',
    homeDir: 'C:\\Users\\Ada',
    workingDir: 'D:\\work',
    env: { CURSORDEX_CURSOR_USER_DIRS: 'C:\\a;~\\b;c' },
  })
  expect(settings.cursor.userDirs).toEqual(['C:\\a', 'C:\\Users\\Ada\\b', 'D:\\work\\c'])
})

test.each([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
  ['False', false],
])('CURSORDEX_AUTH=%s is %s', (word, expected) => {
  expect(load({ env: { CURSORDEX_AUTH: word } }).auth.required).toBe(expected)
})

test('the config file is named by a flag or the environment, or has its default path; only there it may be missing', () => {
  const one = join(folder, 'one.json')
  const two = join(folder, 'two.json')
  writeFileSync(one, '{"http": {"port": 1}}')
  writeFileSync(two, '{"http": {"port": 2}}')
  mkdirSync(join(folder, 'cursordex'))
  writeFileSync(join(folder, 'cursordex', 'config.json'), '\uFEFF{"http": {"port": 3}}')
  const env = { CURSORDEX_CONFIG: two, XDG_CONFIG_HOME: folder }
  expect(load({ env, flags: { config: one } }).http.port).toBe(1)
  expect(load({ env }).http.port).toBe(2)
  expect(load({ env: { XDG_CONFIG_HOME: folder } }).http.port).toBe(3)
  expect(load({ env: { XDG_CONFIG_HOME: join(folder, 'none') } }).http.port).toBe(4870)
  const missing = join(folder, 'missing.json')
  const trouble = troubleOf(() => load({ flags: { config: missing } }))
  expect(trouble).toMatchObject({ code: 'config-missing', exitCode: 2 })
  expect(trouble.message).toContain(missing)
})

test('a folder as config file is refused, with its path in the error', () => {
  const trouble = troubleOf(() => load({ flags: { config: folder } }))
  expect(trouble).toMatchObject({ code: 'config-unreadable', exitCode: 2 })
  expect(trouble.message).toContain(folder)
})

test.each(['', '  // nothing set\n'])('a config file of %j sets nothing', (configText) => {
  expect(load({ configText })).toEqual(load())
})

interface Refused {
  readonly name: string
  readonly input?: Partial<SettingsInput>
  readonly config?: object
  readonly message: string
  readonly hint: string
}

test.each(cases<Refused>('refused'))(
  '$name is refused, with its place and the allowed values',
  ({ input, config, message, hint }) => {
    const trouble = troubleOf(() => (config === undefined ? load(input) : loadText(JSON.stringify(config))))
    expect(trouble.exitCode).toBe(2)
    expect(trouble.message).toMatch(new RegExp(message))
    expect(trouble.hint).toMatch(new RegExp(hint))
  },
)

test('an empty list of archive jobs is allowed', () => {
  expect(loadText('{"archives": {"jobs": []}}').archives.jobs).toEqual([])
})

interface Place {
  readonly platform: NodeJS.Platform
  readonly env: Environment
  readonly home: string
  readonly userDir: string
  readonly dataDir: string
  readonly configFile: string
}

test.each(cases<{ readonly name: string } & Place>('folders'))(
  'the folders of $name are where that system has them',
  ({ platform, env, home, userDir, dataDir, configFile }) => {
    const place = [platform, env, home] as const
    expect(discoverCursorUserDirs(...place, () => false)).toEqual([userDir])
    expect([defaultDataDir(...place), defaultConfigFile(...place)]).toEqual([dataDir, configFile])
  },
)

const found = (present: readonly string[]) =>
  discoverCursorUserDirs('linux', {}, '/home/a', (path) => present.includes(path)).slice(1)

test('other channels are found if they exist; the stable one is always listed', () => {
  const nightly = '/home/a/.config/Cursor Nightly/User'
  const insiders = '/home/a/.config/Cursor - Insiders/User'
  expect(found([])).toEqual([])
  expect(found([nightly])).toEqual([nightly])
  expect(found([insiders, nightly])).toEqual([nightly, insiders])
})

test('Cursor’s home below the user’s configuration is read too if it exists', () => {
  const below = mkdtempSync(join(tmpdir(), 'cursordex-homes-'))
  const homes = () => load({ env: { XDG_CONFIG_HOME: below } }).cursor.homes
  expect(homes()).toEqual(['/home/ada/.cursor'])
  mkdirSync(join(below, 'cursor'))
  expect(homes()).toEqual(['/home/ada/.cursor', join(below, 'cursor')])
  rmSync(below, { recursive: true })
})

afterEach(() => vi.unstubAllEnvs())

test.each(['', 'somewhere'])('a HOME of %j does not create a mirror in the working folder', (home) => {
  vi.stubEnv('HOME', home)
  expect(isAbsolute(realSurroundings().homeDir)).toBe(true)
})
