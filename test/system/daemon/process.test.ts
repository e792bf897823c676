import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { cursordexBin, getJson, getStatus, STOP_MS_MAX, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

interface Found {
  readonly total: number
}

test('stdout has one line with the real port and nothing else, and stderr has the log', async () => {
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  const { daemon, url } = await place.serve()
  expect(new URL(url).hostname).toBe('127.0.0.1')
  expect(Number(new URL(url).port)).toBeGreaterThan(0)
  expect(await getJson(url, '/api/health')).toMatchObject({ status: 'ok' })
  await untilReady(url)
  const { stdout, stderr } = await daemon.stop()
  expect(stdout).toBe(`cursordex listening on ${url}\n`)
  // Logs are lines of JSON if stderr is not a terminal.
  const lines = stderr.trimEnd().split('\n')
  expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).toContainEqual(['level', 'time', 'msg'])
})

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  test('stops within two seconds during searches with exit code 0, removes daemon.json, and leaves the mirror in one file', async () => {
    fillStore(place.cursor.global(), { chats: 20, messagesPerChat: 20 })
    const { daemon, url } = await place.serve()
    await untilReady(url)
    const events = await fetch(`${url}/api/events`)
    const asked = ['a', 'b', 'c'].map((word) => getJson(url, `/api/search?q=${word}`).catch(() => undefined))
    await asked[0]
    const { exitCode, tookMs, stderr } = await daemon.stop(signal)
    await Promise.all(asked)
    await events.body?.cancel().catch(() => undefined)
    const files = readdirSync(place.dataDir).filter((name) => name.startsWith('mirror.db'))
    expect(files).toEqual(['mirror.db', 'mirror.db-clean'])
    expect({ exitCode, faults: stderr.match(/"level":50/g) }).toEqual({ exitCode: 0, faults: null })
    expect(tookMs).toBeLessThan(STOP_MS_MAX)
    expect(existsSync(join(place.dataDir, 'daemon.json'))).toBe(false)
  })

  test('stops as fast during a first pass', async () => {
    fillStore(place.cursor.global(), { chats: 100, messagesPerChat: 50, textLength: 1000 })
    const { daemon, url } = await place.serve()
    const { state, counts } = await waitUntil('some messages', async () => {
      const status = await getStatus(url)
      return (status.counts['messages'] ?? 0) > 0 ? status : null
    })
    const { exitCode, tookMs, stderr } = await daemon.stop(signal)
    expect({ exitCode, stderr: stderr.match(/"level":50/g) }).toEqual({ exitCode: 0, stderr: null })
    expect(tookMs).toBeLessThan(STOP_MS_MAX)
    expect(existsSync(join(place.dataDir, 'daemon.json'))).toBe(false)
    expect(state).toBe('indexing')
    expect(counts['messages']).toBeLessThan(5000)
  })
})

test.each([
  ['SIGINT', ['serve']],
  ['SIGTERM', ['serve']],
  ['SIGTERM', []],
] as const)(
  'a %s during loading, with %j and options, ends the daemon cleanly and leaves no daemon.json',
  async (signal, words) => {
    const flags = [`--data-dir=${place.dataDir}`, `--cursor-user-dir=${place.cursor.userDir}`, '--port=0']
    const program = [
      `process.argv = ${JSON.stringify([process.execPath, cursordexBin, ...words, ...flags])}`,
      // Resolves after the entry module ran, which then loads the rest.
      `await import(${JSON.stringify(pathToFileURL(cursordexBin).href)})`,
      `process.kill(process.pid, '${signal}')`,
    ]
    const file = join(place.root, 'hasty.mjs')
    writeFileSync(file, program.join('\n'))
    const child = spawn(process.execPath, [file], { stdio: 'ignore' })
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(existsSync(join(place.dataDir, 'daemon.json'))).toBe(false)
  },
)

test('a signal while the start waits for the mirror ends the daemon within two seconds', async () => {
  mkdirSync(place.dataDir)
  const other = new Database(join(place.dataDir, 'mirror.db'))
  other.exec('create table held (x); begin exclusive')
  const daemon = place.start()
  await waitUntil('the start', () => existsSync(join(place.dataDir, 'daemon.lock')))
  // SQLite waits ten seconds, in the middle of a call, as it does in a check of all pages.
  await sleep(1000)
  const { signal, tookMs } = await daemon.stop('SIGTERM')
  other.close()
  // An exit with a code would wait for SQLite.
  expect(signal).toBe('SIGTERM')
  expect(tookMs).toBeLessThan(STOP_MS_MAX)
})

test.each([
  ['a daemon', ['serve'], 40],
  ['a list', ['chats'], 30],
])('%s that may open few files says so in one sentence, without a stack', async (_, argv, filesMax) => {
  const words = [process.execPath, cursordexBin, ...argv, ...place.flags]
  const child = spawn('sh', ['-c', `ulimit -n ${filesMax}; exec "$@"`, 'sh', ...words], { stdio: 'pipe' })
  const [stderr, [exitCode]] = await Promise.all([child.stderr.setEncoding('utf8').toArray(), once(child, 'exit')])
  expect([exitCode, stderr.join('')]).toEqual([
    1,
    expect.stringMatching(/^This process may open only \d+ files.*ulimit -n 256\.\n$/),
  ])
})

test('after the clock was set back, the daemon was up for less than no time', async () => {
  const setBack = 'const real = Date.now; Date.now = () => real() - (performance.now() > 1500 ? 3600000 : 0)'
  const { url } = await place.serve([], {
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(setBack)}` },
  })
  await sleep(2000)
  const { uptimeMs } = await getJson<{ uptimeMs: number }>(url, '/api/status')
  expect([uptimeMs > 0, uptimeMs < 60_000]).toEqual([true, true])
})

test('a second daemon on the folder ends with exit code 3 and a sentence, and the first continues', async () => {
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  const { url } = await place.serve()
  await untilReady(url)
  const content = place.readDaemonFile()
  const second = await place.run(['serve'])
  expect(second).toMatchObject({ exitCode: 3, stdout: '' })
  expect(second.stderr).toMatch(/^Another cursordex uses the data folder .*\.\n.*--data-dir\.\n$/)
  expect(place.readDaemonFile()).toEqual(content)
  expect(await getJson<Found>(url, `/api/search?q=${wordOf(0, 1)}`)).toMatchObject({ total: 1 })
})

test('if the port is taken, there is a sentence with a remedy, exit code 1, and the folder is unlocked', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  // The last of two equal flags counts.
  const ended = await place.run(['serve'], { env: {}, flags: ['--port', String(port)] })
  server.close()
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
  const sentence = `Port ${port} on 127.0.0.1 is taken by another program.`
  expect(ended.stderr.split('\n')).toEqual([sentence, expect.stringContaining('--port'), ''])
  expect(existsSync(join(place.dataDir, 'daemon.json'))).toBe(false)
  await place.serve()
})

test('for a host that this machine does not have there is a sentence, exit code 1', async () => {
  const ended = await place.run(['serve'], { flags: ['--host', '203.0.113.77'] })
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ended.stderr).toMatch(/^This machine has no address 203\.0\.113\.77\.\n.*--host\.\n$/)
})

test.each([
  ['serve', 99, 'knows'],
  ['chats', 21, 'knows 22 to'],
])('%s refuses a mirror of schema %i: a sentence, exit code 1', async (name, version, verb) => {
  mkdirSync(place.dataDir)
  const db = new Database(join(place.dataDir, 'mirror.db'))
  db.pragma(`user_version = ${version}`)
  db.close()
  const ended = await place.run([name])
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
  const sentence = `The mirror at .* has schema ${version}; this version of cursordex ${verb}`
  expect(ended.stderr).toMatch(new RegExp(`^${sentence} .*\\.\n.*\n$`))
  expect(existsSync(join(place.dataDir, 'daemon.json'))).toBe(false)
})

test('without Cursor the daemon starts, says where it looked, and finds Cursor seconds after it appears', async () => {
  const { daemon, url } = await place.serve()
  await waitUntil('the sentence', () => daemon.stderr.includes('No Cursor found'))
  // The tests run in a checkout.
  expect(daemon.stderr).toContain('see it work without Cursor: npx cursordex demo.')
  expect(daemon.stderr).toContain(place.cursor.userDir)
  expect(await untilReady(url)).toMatchObject({ counts: { chats: 0, messages: 0 } })
  place.cursor.workspace('ws1', { folder: 'file:///home/ada/shop' }, ['chat-0'])
  fillStore(place.cursor.global(), { chats: 1, messagesPerChat: 2 })
  const item = await waitUntil(
    'the first message and its project',
    async () => {
      const { items } = await getJson<{ items: { project: { name: string } | null }[] }>(url, '/api/chats')
      return items.find(({ project }) => project !== null)
    },
    // All places are checked again every minute.
    { withinMs: 30_000 },
  )
  expect(item).toMatchObject({ id: 'chat-0', project: { name: 'shop' } })
})
