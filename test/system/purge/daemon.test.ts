import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { purgeStateOf } from '../../helpers/purge-home.ts'
import { PurgePlace, secretOf, wordOf } from '../../helpers/purge-place.ts'
import { findBytes } from '../../helpers/purge-world.ts'
import { getJson, untilReady, type Cursordex } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import type { PurgeReport } from '../../../src/api/answers/archives.ts'

let place: PurgePlace
let daemon: Cursordex
let url: string

beforeEach(async () => {
  place = new PurgePlace(12, 40)
  // Counting tokens writes to the mirror, ten seconds after the last change. This test compares bytes.
  const config = join(place.place.root, 'config.json')
  writeFileSync(config, '{ "tokens": { "estimate": false } }')
  ;({ daemon, url } = await place.place.serve(['--log-level', 'trace', '--config', config]))
  await untilReady(url)
})
afterEach(() => place.remove())

const post = <Answer>(path: string, body: object): Promise<Answer> =>
  getJson<Answer>(url, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const hashAll = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(place.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => {
        const path = join(parentPath, name)
        return [path, createHash('sha256').update(readFileSync(path)).digest('hex')]
      }),
  )

const searchFor = async (words: string): Promise<number> => {
  const { total } = await getJson<{ total: number }>(url, `/api/search?q=${encodeURIComponent(`"${words}"`)}`)
  return total
}

async function archived(): Promise<void> {
  const { name } = await post<{ name: string }>('/api/archives', {})
  await waitUntil('the archive', async () => {
    const { state } = await getJson<{ state: string }>(url, `/api/archives/${name}`)
    return state === 'verified'
  })
}

test('a dry run shows what would be removed, and it and a purge in a copy of the data folder change no file', async () => {
  await archived()
  const before = hashAll()
  const report = await post<PurgeReport>('/api/purge', { match: secretOf(2) })
  expect(report).toMatchObject({ dryRun: true, messages: 1, found: null, archived: 0 })
  expect(report.chats).toEqual([{ id: 'chat-2', title: 'Talk 2', isWhole: false, messages: 1 }])
  expect(hashAll()).toEqual(before)
  const copy = join(place.place.root, 'copy')
  cpSync(place.dataDir, copy, { recursive: true })
  const { exitCode, stderr } = await place.purgeSecret(2, { flags: ['--data-dir', copy] })
  expect([exitCode, await searchFor(secretOf(2))]).toEqual([0, 1])
  expect([stderr, findBytes(copy, secretOf(2))]).toEqual([expect.any(String), []])
})

test('a purge by the command line during searches leaves nothing in files, logs or arguments', async () => {
  await archived()
  // A search process that has seen the words and could remember them.
  expect(await searchFor(secretOf(5))).toBe(1)
  await getJson(url, `/api/suggest?q=${wordOf(5).slice(0, 4)}`)
  const purged = place.purgeSecret(5)
  const over = { isSo: false }
  void purged.then(() => (over.isSo = true))
  let [asked, longestMs] = [0, 0]
  const seen: string[] = []
  while (!over.isSo) {
    const startedAt = performance.now()
    expect(await searchFor('word3a7')).toBe(1)
    longestMs = Math.max(longestMs, performance.now() - startedAt)
    asked += 1
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) seen.push(argumentsOf(pid))
  }
  const { exitCode, stdout } = await purged
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { messages: 1, found: [] }])
  expect(asked).toBeGreaterThan(2)
  console.log(`beside a purge: ${asked} searches, the longest took ${Math.round(longestMs)} ms`)
  expect(seen.filter((text) => text.includes(wordOf(5)))).toEqual([])
  expect(daemon.stderr).not.toContain(wordOf(5))
  expect(await searchFor(secretOf(5))).toBe(0)
  const { items } = await getJson<{ items: unknown[] }>(url, `/api/suggest?q=${wordOf(5).slice(0, 4)}`)
  expect(JSON.stringify(items)).not.toContain(wordOf(5))
  expect(findBytes(place.dataDir, wordOf(5))).toEqual([])
  place.writeSecret(5, ' Once more.')
  await post('/api/sync', { full: true })
  expect(findBytes(place.dataDir, wordOf(5))).toEqual([])
  expect(purgeStateOf(join(place.dataDir, 'mirror.db'))).toEqual({ bars: 2, lostBars: 0, isDone: true })
})

/** Empty for a process that ended meanwhile. */
function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}

/** Whether the daemon says that bars are lost. */
async function saysLost(): Promise<boolean> {
  const { state, reasons } = await getJson<{ state: string; reasons: string[] }>(url, '/api/status')
  return state === 'degraded' && reasons.join().includes('bars-lost')
}

test('a daemon whose user.db is lost reads nothing of Cursor and says so, until the user accepts it', async () => {
  expect((await place.purgeSecret(3)).exitCode).toBe(0)
  await daemon.stop('SIGTERM')
  rmSync(join(place.dataDir, 'user.db'))
  place.writeSecret(4, ' said meanwhile')
  ;({ url } = await place.place.serve())
  await waitUntil('the status', saysLost)
  expect(await searchFor('said meanwhile')).toBe(0)
  const { exitCode, stdout } = await place.run(['purge', '--accept-lost-bars'])
  expect([exitCode, stdout]).toEqual([0, 'Cursor is read again, without the bars.\n'])
  await waitUntil('what is new', async () => (await searchFor('said meanwhile')) === 1)
  await waitUntil('the status', async () => !(await saysLost()))
})

test('a daemon whose user.db is damaged meanwhile reads nothing more of Cursor, and keeps its mirror', async () => {
  expect((await place.purgeSecret(3)).exitCode).toBe(0)
  const kept = readFileSync(join(place.dataDir, 'user.db'))
  writeFileSync(join(place.dataDir, 'user.db'), 'no database at all '.repeat(999))
  place.writeSecret(4, ' said meanwhile')
  await waitUntil('the status', saysLost)
  expect(await searchFor('said meanwhile')).toBe(0)
  expect(readdirSync(place.dataDir).filter((name) => name.includes('damaged'))).toEqual(['user.db.damaged'])
  await daemon.stop('SIGTERM')
  writeFileSync(join(place.dataDir, 'user.db'), kept)
  ;({ url } = await place.place.serve())
  await waitUntil('what is new', async () => (await searchFor('said meanwhile')) === 1)
  expect(await searchFor(secretOf(3))).toBe(0)
})
