import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prepareDataFolder } from '../../../src/engine/data-folder.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { cursordexBin, getJson, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause } from '../../helpers/wait-until.ts'

const hasModes = process.platform !== 'win32'
const isRoot = process.geteuid?.() === 0

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

/** Runs a command in a mount namespace where this folder is read-only. */
const readOnlyShell = (folder: string, argv: readonly string[]) =>
  spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT_AND_RUN, folder, ...argv], { encoding: 'utf8' })
const MOUNT_AND_RUN = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
const canMount = process.platform === 'linux' && readOnlyShell('/proc', ['true']).status === 0

/** Every entry of the folder, and the folder itself, to which other users have any access. */
function openEntries(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return [folder, ...names.map((name) => join(folder, name))].flatMap((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
    return (mode & 0o077) === 0 ? [] : [`${path} ${(mode & 0o777).toString(8)}`]
  })
}

async function watchModes(folder: string, isDone: () => boolean): Promise<{ seen: Set<string>; open: Set<string> }> {
  const seen = new Set<string>()
  const open = new Set<string>()
  while (!isDone()) {
    try {
      for (const entry of openEntries(folder)) open.add(entry)
      for (const name of readdirSync(folder)) seen.add(name)
    } catch (error) {
      // Not created yet, or removed between two checks.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
    await new Promise((resume) => setImmediate(resume))
  }
  return { seen, open }
}

test.runIf(hasModes)('only the user can access the folder and its files, from the moment each exists', async () => {
  fillStore(place.cursor.global(), { chats: 20, messagesPerChat: 20 })
  let isReady = false
  const watching = watchModes(place.dataDir, () => isReady)
  const { daemon, url } = await place.serve(['--auth'])
  const token = readFileSync(join(place.dataDir, 'token'), 'utf8').trim()
  expect(token).toMatch(/^[\w-]{43}$/)
  await getJson(url, '/api/search?q=plum', { headers: { authorization: `Bearer ${token}` } })
  await pause(500)
  isReady = true
  const { seen, open } = await watching
  expect([...open]).toEqual([])
  expect([...seen]).toEqual(
    expect.arrayContaining(['daemon.json', 'daemon.lock', 'mirror.db', 'mirror.db-wal', 'mirror.db-shm', 'token']),
  )
  await daemon.stop()
  expect(openEntries(place.dataDir)).toEqual([])
})

test.runIf(hasModes)('a command without a daemon creates folder and files only for the user too', async () => {
  fillStore(place.cursor.global(), { chats: 20, messagesPerChat: 20 })
  let hasEnded = false
  const watching = watchModes(place.dataDir, () => hasEnded)
  expect(await place.run(['chats'])).toMatchObject({ exitCode: 0 })
  hasEnded = true
  const { seen, open } = await watching
  expect([...open]).toEqual([])
  expect(seen).toContain('mirror.db')
})

test.runIf(hasModes)(
  'a folder and a mirror that others could read are closed to them before they are used',
  async () => {
    mkdirSync(place.dataDir)
    chmodSync(place.dataDir, 0o755)
    for (const name of ['mirror.db', 'token', 'daemon.lock'])
      writeFileSync(join(place.dataDir, name), '', { mode: 0o644 })
    for (const name of readdirSync(place.dataDir)) chmodSync(join(place.dataDir, name), 0o644)
    await place.serve(['--auth'])
    expect(openEntries(place.dataDir)).toEqual([])
  },
)

test('without --auth there is no token, and daemon.json has the process to signal, its address, its start and its version', async () => {
  const before = Date.now()
  const { daemon, url } = await place.serve()
  expect(readdirSync(place.dataDir)).not.toContain('token')
  const content = place.readDaemonFile()
  expect(content).toEqual({
    pid: daemon.pid,
    url,
    startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    version: (await getJson<{ version: string }>(url, '/api/health')).version,
    folder: expect.any(String),
  })
  // A command compares this to know that this folder's daemon answers.
  expect(await getJson(url, '/api/health')).toMatchObject({ startedAt: content['startedAt'] })
  const startedAtMs = Date.parse(String(content['startedAt']))
  expect(startedAtMs).toBeGreaterThanOrEqual(before)
  expect(startedAtMs).toBeLessThanOrEqual(Date.now())
})

test('a data folder that another program created at the same moment was reported as impossible to create', () => {
  // It appears while its parent is created.
  const folder = join(place.dataDir, 'new')
  prepareDataFolder(`${folder}/../new`)
  expect(statSync(folder).isDirectory()).toBe(true)
})

test('a data folder that is a file is refused: a sentence, exit code 1', async () => {
  writeFileSync(place.dataDir, 'mine')
  const ended = await place.run(['serve'])
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ended.stderr).toContain(place.dataDir)
  expect(ended.stderr).toMatch(/\nChoose another folder with --data-dir\.\n$/)
  expect(ended.stderr).not.toContain('bug')
  expect(readFileSync(place.dataDir, 'utf8')).toBe('mine')
})

test.runIf(hasModes)('a folder that others use, such as /tmp, is not closed to them, and the error says why', () => {
  mkdirSync(place.dataDir)
  writeFileSync(join(place.dataDir, 'theirs.txt'), '')
  chmodSync(place.dataDir, 0o1777)
  expect(() => prepareDataFolder(place.dataDir)).toThrow(/^Other users can open .* such as theirs\.txt/)
  expect([statSync(place.dataDir).mode & 0o7777, readdirSync(place.dataDir)]).toEqual([0o1777, ['theirs.txt']])
})

test.runIf(hasModes)(
  'an empty folder that the Finder had shown, or of a fresh disk, was refused as one that others use',
  () => {
    for (const name of ['.DS_Store', 'lost+found']) {
      const folder = join(place.dataDir, name.slice(1))
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, name), '')
      chmodSync(folder, 0o755)
      prepareDataFolder(folder)
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    }
  },
)

test.runIf(isRoot)('a data folder of another user is refused and unchanged', async () => {
  mkdirSync(place.dataDir, { mode: 0o755 })
  chownSync(place.dataDir, 4242, 4242)
  const ended = await place.run(['serve'])
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ended.stderr).toMatch(/belongs to user 4242, and cursordex runs as user 0\.\n.*--data-dir\.\n$/)
  expect(readdirSync(place.dataDir)).toEqual([])
})

test.runIf(isRoot).each(['mirror.db', 'mirror.db-wal', 'daemon.lock', 'token'])(
  'a %s of another user is reported with a remedy, not as a bug, and nothing is changed',
  (name) => {
    mkdirSync(place.dataDir)
    const path = join(place.dataDir, name)
    writeFileSync(path, 'theirs')
    chownSync(path, 4242, 4242)
    expect(() => prepareDataFolder(place.dataDir)).toThrow(/belongs to user 4242, and cursordex runs as user 0/)
    expect(readFileSync(path, 'utf8')).toBe('theirs')
  },
)

test.runIf(hasModes)(
  'a mirror that may only be read, as a backup leaves it, may be written to again, with all beside it',
  () => {
    mkdirSync(place.dataDir)
    // SQLite creates the WAL with the database's mode, and a failed attempt leaves it there.
    const files = ['mirror.db', 'mirror.db-wal', 'mirror.db-shm'].map((name) => join(place.dataDir, name))
    for (const path of files) writeFileSync(path, '', { mode: 0o400 })
    prepareDataFolder(place.dataDir)
    expect(files.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o600])
  },
)

/** Uses node:http, because fetch does not allow setting the Host header. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const { hostname, port } = new URL(url)
  const to = { hostname: hostname === '0.0.0.0' ? '127.0.0.1' : hostname, port, path: '/api/chats', headers }
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...to, agent: false }, (incoming) => {
      incoming.resume()
      resolve(incoming.statusCode)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

describe.each([[['--auth']], [['--host', '0.0.0.0']]])('with %j', (flags) => {
  test('only the token of the data folder gives access, and commands find it by themselves', async () => {
    fillStore(place.cursor.global(), { chats: 3, messagesPerChat: 2 })
    // A token stays the same over a restart.
    const wanted = 'a'.repeat(43)
    mkdirSync(place.dataDir, { mode: 0o700 })
    writeFileSync(join(place.dataDir, 'token'), wanted, { mode: 0o600 })
    const { url } = await place.serve(flags)
    const token = readFileSync(join(place.dataDir, 'token'), 'utf8').trim()
    expect(token).toBe(wanted)
    expect(await statusOf(url, {})).toBe(401)
    expect(await statusOf(url, { authorization: `Bearer ${token}x` })).toBe(401)
    expect(await statusOf(url, { authorization: `Bearer ${token}` })).toBe(200)
    expect(await statusOf(url, { authorization: `Bearer ${token}`, host: 'evil.example' })).toBe(421)
    const { exitCode, stdout } = await place.run(['status', '--json'])
    expect(exitCode).toBe(0)
    expect((JSON.parse(stdout) as { uptimeMs: number }).uptimeMs).toBeGreaterThan(0)
    expect((await place.run(['status'])).stdout).not.toContain('not running')
  })
})

test.runIf(canMount)('a read-only data folder was reported as a bug in cursordex', async () => {
  await place.run(['sync'])
  for (const command of ['serve', 'status']) {
    const run = readOnlyShell(place.dataDir, [process.execPath, cursordexBin, command, ...place.flags])
    expect([run.status, run.stderr]).toEqual([1, expect.stringMatching(/cannot be used \(EROFS\)\.\nCheck its folder/)])
  }
})

/** Runs commands of the program in a mount namespace where this folder is a disk of this size. */
function onDisk(folder: string, size: string, commands: readonly string[]): string {
  mkdirSync(folder)
  const program = [process.execPath, cursordexBin].map((word) => `'${word}'`).join(' ')
  const flags = place.flags.map((word) => `'${word}'`).join(' ')
  const lines = commands.map((command) =>
    command.startsWith('mount') ? command : `${program} ${command} ${flags} 2>&1`,
  )
  const script = [`mount -t tmpfs -o size=${size},mode=0700 none "$0"`, ...lines].join('\n')
  const { stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', script, folder], { encoding: 'utf8' })
  return stdout
}

test('a full disk is reported with a remedy, what was read before stays, and the rest is read when there is room', () => {
  fillStore(place.cursor.global(), { chats: 200, messagesPerChat: 20, textLength: 2000 })
  place.cursor.close()
  const said = onDisk(place.dataDir, '4m', ['sync', 'mount -o remount,size=100m "$0"', 'sync', 'status --json'])
  expect(said).toContain(`The disk that holds ${place.dataDir} is full.\nMake room and try again.`)
  expect(said).not.toContain('bug')
  expect(said).toMatch(/"messages": 4000/)
})
