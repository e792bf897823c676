import { hostname } from 'node:os'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { loadSettings } from '../../src/settings.ts'
import type { Settings, SettingsInput } from '../../src/settings.ts'

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
  expect(load()).toEqual({
    cursor: {
      userDirs: ['/home/ada/.config/Cursor/User'],
      userDirsExplicit: false,
      homes: ['/home/ada/.cursor'],
      homesExplicit: false,
    },
    dataDir: '/home/ada/.local/share/cursordex',
    configFile: '/home/ada/.config/cursordex/config.json',
    http: { host: '127.0.0.1', port: 4870, publicUrl: null },
    log: { level: 'info' },
    sources: {
      'composer-kv': { enabled: true },
      'agent-blobs': { enabled: true },
      'pasted-text': { enabled: true },
      'global-items': { enabled: true },
      'workspace-items': { enabled: true },
      transcripts: { enabled: true },
      'cli-store': { enabled: true },
      tracking: { enabled: true },
      archive: { enabled: true },
    },
    auth: { required: false },
    search: { deadlineMs: 2000 },
    exclude: { projects: [] },
    tokens: { estimate: true },
    archives: {
      dir: '/home/ada/.local/share/cursordex/archives',
      jobs: [
        {
          name: 'weekly',
          schedule: '0 3 * * 0',
          timezone: null,
          scope: null,
          keep: { daily: 0, weekly: 8, monthly: 12 },
        },
      ],
    },
    hub: {
      url: null,
      machine: hostname(),
      push: { projects: [], redact: true, schedule: '*/10 * * * *' },
      pull: { projects: [], schedule: '*/10 * * * *' },
    },
  } satisfies Settings)
})

test('a leading ~ in a path of an excluded project is the home folder, and names stay as they are', () => {
  const configText = '{"exclude": {"projects": ["diary", "~/clients/**", "~x"]}}'
  expect(load({ configText }).exclude.projects).toEqual(['diary', '/home/ada/clients/**', '~x'])
})

interface Layered {
  readonly name: string
  readonly file: object
  readonly env: Readonly<Record<string, string>>
  readonly flags: SettingsInput['flags']
  readonly read: (settings: Settings) => unknown
  /** The values of the file, the environment and the flags. */
  readonly expected: readonly [unknown, unknown, unknown]
}

const layered: readonly Layered[] = [
  {
    name: 'cursor.userDirs',
    file: { cursor: { userDirs: ['/a'] } },
    env: { CURSORDEX_CURSOR_USER_DIRS: '/b:/c' },
    flags: { cursorUserDir: ['/d', '/e'] },
    read: (settings) => settings.cursor.userDirs,
    expected: [['/a'], ['/b', '/c'], ['/d', '/e']],
  },
  {
    name: 'cursor.homes',
    file: { cursor: { homes: ['/a'] } },
    env: { CURSORDEX_CURSOR_HOMES: '/b:/c' },
    flags: { cursorHome: ['/d'] },
    read: (settings) => settings.cursor.homes,
    expected: [['/a'], ['/b', '/c'], ['/d']],
  },
  {
    name: 'dataDir',
    file: { dataDir: '/a' },
    env: { CURSORDEX_DATA_DIR: '/b' },
    flags: { dataDir: '/c' },
    read: (settings) => settings.dataDir,
    expected: ['/a', '/b', '/c'],
  },
  {
    name: 'http.host',
    file: { http: { host: '::1' } },
    env: { CURSORDEX_HOST: 'localhost' },
    flags: { host: '0.0.0.0' },
    read: (settings) => settings.http.host,
    expected: ['::1', 'localhost', '0.0.0.0'],
  },
  {
    name: 'http.port',
    file: { http: { port: 1 } },
    env: { CURSORDEX_PORT: '0' },
    flags: { port: '65535' },
    read: (settings) => settings.http.port,
    expected: [1, 0, 65_535],
  },
  {
    name: 'log.level',
    file: { log: { level: 'trace' } },
    env: { CURSORDEX_LOG_LEVEL: 'warn' },
    flags: { logLevel: 'silent' },
    read: (settings) => settings.log.level,
    expected: ['trace', 'warn', 'silent'],
  },
  {
    name: 'auth.required',
    file: { auth: { required: true } },
    env: { CURSORDEX_AUTH: 'off' },
    flags: { auth: true },
    read: (settings) => settings.auth.required,
    expected: [true, false, true],
  },
]

describe.each(layered)('$name', ({ file, env, flags, read, expected }) => {
  const configText = JSON.stringify(file)
  test('is taken from the file', () => expect(read(load({ configText }))).toEqual(expected[0]))
  test('from the environment overrides the file', () => expect(read(load({ configText, env }))).toEqual(expected[1]))
  test('from the flags overrides both', () => expect(read(load({ configText, env, flags }))).toEqual(expected[2]))
})

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
      { "name": "b", "schedule": "*/5 * * * *", "scope": { "project": "y" },
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
    ['b', null, { project: 'y' }],
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
  ['YES', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['Off', false],
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

test.each([
  ['', 4870],
  ['  // nothing set\n', 4870],
])('a config file of %j sets nothing', (configText, port) => {
  expect(load({ configText }).http.port).toBe(port)
})

const refused: readonly [name: string, input: Partial<SettingsInput>, message: RegExp, hint: RegExp][] = [
  [
    'a misspelled key',
    { configText: '{\n  "http": {\n    "prot": 1 }\n}' },
    /^http\.prot is not a setting .*config\.json:3:5\)/,
    /mean http\.port\?/,
  ],
  ['a key in the wrong group', { configText: '{"port": 1}' }, /^port is not a setting .*:1:2\)/, /mean http\.port\?/],
  ['a key unlike all others', { configText: '{"xylophone": 1}' }, /^xylophone is no/, /Allowed there: .*dataDir/],
  [
    'a dotted key, as in the manual,',
    { configText: '{"http.port": 4871}' },
    /^http\.port is not a setting .*:1:2\)/,
    /^Nest the keys: "http": \{ "port": … \}\.$/,
  ],
  [
    'a dotted key inside its group',
    { configText: '{"sources": {"composer-kv.enabled": false}}' },
    /^sources\.composer-kv\.enabled is not a setting/,
    /keys: "composer-kv": \{ "enabled": … \}\.$/,
  ],
  ['__proto__', { configText: '{"__proto__": {"a": 1}}' }, /^__proto__ is not a setting/, /Allowed there/],
  ['constructor', { configText: '{"http": {"constructor": 1}}' }, /^http\.constructor is not a setting/, /http\.host/],
  [
    'an unknown key of a job',
    { configText: '{"archives": {"jobs": [{"nam": "x"}]}}' },
    /^archives\.jobs\[0\]\.nam .*:1:25\)/,
    /mean archives\.jobs\[\]\.name\?/,
  ],
  ['an unknown source', { configText: '{"sources": {"tabs": {}}}' }, /^sources\.tabs/, /sources\.composer-kv/],
  ['an unknown variable', { env: { CURSORDEX_PROT: '1' } }, /environment variable CURSORDEX_PROT/, /CURSORDEX_PORT\?/],
  ['a port that is a word', { flags: { port: 'abc' } }, /^http\.port is "abc" \(flag --port\)/, /0 to 65535/],
  [
    'a port too high',
    { env: { CURSORDEX_PORT: '65536' } },
    /65536 \(environment variable CURSORDEX_PORT\)/,
    /0 to 65535/,
  ],
  ['a negative port', { flags: { port: '-1' } }, /"-1" \(flag --port\)/, /0 to 65535/],
  ['a fractional port', { configText: '{"http": {"port": 1.5}}' }, /is 1\.5 \(.*config\.json:1:11\)/, /whole number/],
  ['a port in quotes', { configText: '{"http": {"port": "80"}}' }, /is "80"/, /whole number/],
  ['an empty host', { flags: { host: '' } }, /^http\.host is "" \(flag --host\)/, /host name/],
  ['an address as host', { flags: { host: 'http://a' } }, /^http\.host/, /host name/],
  ['an empty data folder', { flags: { dataDir: '' } }, /^dataDir is "" \(flag --data-dir\)/, /a path/],
  ['an empty config path', { flags: { config: '' } }, /flag --config/, /a path/],
  ['a log level', { flags: { logLevel: 'loud' } }, /^log\.level is "loud" \(flag --log-level\)/, /trace, debug, info/],
  ['a boolean', { env: { CURSORDEX_AUTH: 'maybe' } }, /^auth\.required is "maybe" .*CURSORDEX_AUTH/, /true or false/],
  ['a group that is a number', { configText: '{"http": 3}' }, /^http is 3 \(.*:1:2\)/, /keys host, port/],
  ['a group that is null', { configText: '{"log": null}' }, /^log is null/, /keys level/],
  [
    'a list that is a string',
    { configText: '{"cursor": {"homes": "/a"}}' },
    /^cursor\.homes is "\/a"/,
    /list of paths/,
  ],
  ['a path with a NUL', { configText: '{"dataDir": "/a\\u0000b"}' }, /^dataDir/, /a path/],
  ['a config file that is a list', { configText: '[]' }, /its type is array .*:1:1\)/, /keys/],
  [
    'a deadline too short',
    { configText: '{"search": {"deadlineMs": 49}}' },
    /^search\.deadlineMs is 49/,
    /50 to 60000/,
  ],
  ['a deadline too long', { configText: '{"search": {"deadlineMs": 60001}}' }, /is 60001/, /50 to 60000/],
  [
    'exclude.projects',
    { configText: '{"exclude": {"projects": [""]}}' },
    /^exclude\.projects is \[""\]/,
    /a list of names, ids or paths/,
  ],
  ['tokens.estimate', { configText: '{"tokens": {"estimate": 1}}' }, /^tokens\.estimate is 1/, /true or false/],
  [
    'sources enabled',
    { configText: '{"sources": {"archive": {"enabled": "no"}}}' },
    /^sources\.archive\.enabled/,
    /true or/,
  ],
  [
    'broken JSON',
    { configText: '{\n  "http": {\n    "port" 1\n  }\n}' },
    /config\.json:3:12: colon expected/,
    /comments/,
  ],
  ['an unclosed string', { configText: '{"a": "b' }, /config\.json:1:7: /, /comments/],
]

test.each(refused)('%s is refused, with its place and the allowed values', (_, input, message, hint) => {
  const trouble = troubleOf(() => load(input))
  expect(trouble.exitCode).toBe(2)
  expect(trouble.message).toMatch(message)
  expect(trouble.hint).toMatch(hint)
})

const goodJob = { name: 'a', schedule: '0 3 * * *', keep: { daily: 1, weekly: 1, monthly: 1 } }

const badJobs: readonly [name: string, jobs: readonly object[], message: RegExp, hint: RegExp][] = [
  ['a name with a slash', [{ ...goodJob, name: '../x' }], /^archives\.jobs\[0\]\.name is "\.\.\/x"/, /1 to 64/],
  ['a name too long', [{ ...goodJob, name: 'x'.repeat(65) }], /jobs\[0\]\.name/, /1 to 64/],
  ['a duplicate name', [goodJob, goodJob], /^archives\.jobs\[1\]\.name is "a"/, /no other job/],
  ['an invalid schedule', [{ ...goodJob, schedule: '61 * * * *' }], /jobs\[0\]\.schedule is "61/, /cron/],
  ['an unknown time zone', [{ ...goodJob, timezone: 'Mars/Olympus' }], /timezone is "Mars/, /IANA/],
  ['an offset as time zone', [{ ...goodJob, timezone: '+01:00' }], /timezone/, /IANA/],
  ['a scope that is a list', [{ ...goodJob, scope: [] }], /scope is \[\]/, /a search/],
  ['a negative count', [{ ...goodJob, keep: { daily: -1, weekly: 0, monthly: 0 } }], /keep\.daily is -1/, /0 or more/],
  ['a missing count', [{ ...goodJob, keep: { daily: 1, weekly: 0 } }], /keep\.monthly is missing/, /0 or more/],
  [
    'a missing schedule',
    [{ name: 'a', keep: goodJob.keep }],
    /jobs\[0\]\.schedule is missing \(\/etc\/.*:1:22/,
    /cron/,
  ],
]

test.each(badJobs)('an archive job with %s is refused', (_, jobs, message, hint) => {
  const trouble = troubleOf(() => loadText(JSON.stringify({ archives: { jobs } })))
  expect(trouble.exitCode).toBe(2)
  expect(trouble.message).toMatch(message)
  expect(trouble.hint).toMatch(hint)
})

test('an empty list of archive jobs is allowed', () => {
  expect(loadText('{"archives": {"jobs": []}}').archives.jobs).toEqual([])
})
