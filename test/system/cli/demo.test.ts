import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { demoLink } from '../../../src/settings.ts'
import { Cursordex, cursordexBin, STOP_MS_MAX, untilReady } from '../../helpers/spawn-cursordex.ts'
import type { Ended } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

const started: Cursordex[] = []
const folders: string[] = []

afterEach(async () => {
  const left = started.splice(0).filter((program) => !program.hasEnded)
  await Promise.all(left.map((program) => program.stop('SIGKILL')))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A folder for temporary files with nothing else in it. */
function newPlace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-place-'))
  folders.push(folder)
  return folder
}

function start(argv: readonly string[], place: string, env: Readonly<Record<string, string>> = {}): Cursordex {
  const program = new Cursordex(argv, { env: { TMPDIR: place, TEMP: place, TMP: place, ...env } })
  started.push(program)
  return program
}

/** The commands that the demo suggests, without the program's name. */
async function suggestedCommands(demo: Cursordex): Promise<string[]> {
  await waitUntil('the greeting', () => demo.stdout.includes('Ctrl-C'))
  return [...demo.stdout.matchAll(/^ +npx cursordex (.*)$/gm)].map(([, words = '']) => words)
}

/** Types a suggested command into a shell. @returns how much it found */
function typed(words: string): number {
  const line = `'${process.execPath}' '${cursordexBin}' ${words} --json`
  const { items } = JSON.parse(execFileSync('sh', ['-c', line], { encoding: 'utf8' })) as { items: unknown[] }
  return items.length
}

const run = (argv: readonly string[], place: string): Promise<Ended> => start(argv, place).ended

test.each([
  [['serve', '--demo'], 'SIGINT'],
  [['demo'], 'SIGHUP'],
  [['--demo'], 'SIGTERM'],
] as const)(
  '%j is ready, suggests four commands, and %s removes everything within two seconds',
  async (argv, signal) => {
    const place = newPlace()
    const demo = start(argv, place)
    const url = await demo.listening()
    const commands = await suggestedCommands(demo)
    expect(demo.stdout).toMatch(/^cursordex listening on http:\/\/127\.0\.0\.1:\d+\n/)
    expect(commands).toHaveLength(4)
    await untilReady(url)
    expect(demo.stdout).toContain('Ctrl-C ends the demo and removes all of its files.')
    expect(readdirSync(place)).toHaveLength(1)
    const ended = await demo.stop(signal)
    expect(ended).toMatchObject({ exitCode: 0, signal: null })
    expect(ended.tookMs).toBeLessThan(STOP_MS_MAX)
    expect(readdirSync(place)).toEqual([])
  },
)

test('a command with --demo finds the running demo, and nothing is left of it', async () => {
  const place = newPlace()
  const dataHome = newPlace()
  const env = { XDG_DATA_HOME: dataHome, LOCALAPPDATA: dataHome, HOME: dataHome }
  const demo = start(['demo'], place, env)
  await suggestedCommands(demo)
  const found = await start(['search', '--demo', 'getUserName', '--json'], place, env).ended
  expect(found).toMatchObject({ exitCode: 0, stderr: '' })
  expect((JSON.parse(found.stdout) as { total: number }).total).toBeGreaterThan(0)
  const link = demoLink(process.platform, env, dataHome)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  await demo.stop('SIGTERM')
  expect(readdirSync(dirname(link))).toEqual([])
  expect(await start(['search', '--demo', 'x'], place, env).ended).toMatchObject({ exitCode: 2 })
})

test('a data folder from the environment is used and kept', async () => {
  const place = newPlace()
  // In the suggested commands it is one word for the shell.
  const dataDir = join(newPlace(), "ada's data")
  const demo = start(['serve', '--demo'], place, { CURSORDEX_DATA_DIR: dataDir })
  const url = await demo.listening()
  const content = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8')) as Record<string, unknown>
  expect(content).toMatchObject({ pid: demo.pid, url })
  for (const words of await suggestedCommands(demo)) expect(typed(words)).toBeGreaterThan(1)
  expect(demo.stdout).toContain('Ctrl-C ends the demo and removes the sample. The mirror stays in ')
  await demo.stop()
  expect(readdirSync(place)).toEqual([])
  expect(existsSync(join(dataDir, 'mirror.db'))).toBe(true)
  expect(existsSync(join(dataDir, 'daemon.json'))).toBe(false)
})

test('no other folder of Cursor is read, and no archive is written elsewhere, wherever they are configured', async () => {
  const place = newPlace()
  const [foreign, archives] = [newPlace(), newPlace()]
  mkdirSync(join(foreign, 'globalStorage'))
  const config = join(newPlace(), 'config.json')
  writeFileSync(config, JSON.stringify({ cursor: { userDirs: [foreign] }, archives: { dir: archives } }))
  const argv = ['demo', '--cursor-user-dir', foreign, '--config', config]
  const demo = start(argv, place, { CURSORDEX_CURSOR_USER_DIRS: foreign })
  const url = await demo.listening()
  const { sources } = await untilReady(url)
  expect(sources.length).toBeGreaterThan(1)
  expect(sources.filter(({ path }) => !path.startsWith(place))).toEqual([])
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${url}/api/archives`, { method: 'POST', headers, body: '{}' })).ok).toBe(true)
  expect(readdirSync(archives)).toEqual([])
})

test('a failed start leaves no files', async () => {
  const place = newPlace()
  const blocker = createServer().listen(0, '127.0.0.1')
  await new Promise((resume) => blocker.once('listening', resume))
  try {
    const address = blocker.address()
    const port = typeof address === 'object' && address !== null ? String(address.port) : ''
    const { exitCode, stderr } = await run(['demo', '--port', port], place)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(`Port ${port}`)
  } finally {
    blocker.close()
  }
  expect((await run(['demo', '--log-level', 'loud'], place)).exitCode).toBe(2)
  expect(readdirSync(place)).toEqual([])
})
