import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { wordOf } from '../../helpers/fill-store.ts'
import { placeWithLoss } from '../../helpers/place-with-loss.ts'
import { getJson, untilReady, type Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

const PAGE = 16_384

let place: Workplace

beforeEach(async () => {
  ;({ place } = await placeWithLoss())
})

afterEach(() => place.remove())

const mirror = (): string => join(place.dataDir, 'mirror.db')
const aside = (): string[] => readdirSync(place.dataDir).filter((name) => /^mirror-damaged-.*\.db$/.test(name))

function overwrite(page: number, length = PAGE, path = mirror()): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(length, 0xa5), 0, length, (page - 1) * PAGE)
  closeSync(file)
}

function pagesOf(table: string, path = mirror()): number[] {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare('select pageno from dbstat where name = ?').pluck().all(table) as number[]
  } finally {
    db.close()
    if (path === mirror()) for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  }
}

interface Hit {
  readonly items: readonly { readonly message: { readonly id: string } }[]
}

async function expectAllHeld(url: string): Promise<void> {
  const { items } = await getJson<Hit>(url, `/api/search?q=${wordOf(1, 2)}`)
  expect(items.map(({ message }) => message.id)).toEqual(['m1-2'])
  const thread = await getJson<{ items: { id: string; deletedInCursor: boolean }[] }>(url, '/api/chats/chat-1/messages')
  expect(thread.items.map(({ id, deletedInCursor }) => [id, deletedInCursor])).toContainEqual(['m1-2', true])
  expect(thread.items).toHaveLength(6)
}

/** Makes the mirror look as if an unused last page were cut off: its header counts one page more. SQLite cannot open it. */
function cutOffLastPage(): void {
  const file = openSync(mirror(), 'r+')
  const count = Buffer.alloc(4)
  readSync(file, count, 0, 4, 28)
  count.writeUInt32BE(count.readUInt32BE(0) + 1)
  writeSync(file, count, 0, 4, 28)
  closeSync(file)
}

test('a damaged mirror is set aside at the start, and what Cursor lost is still there, marked', async () => {
  cutOffLastPage()
  const { daemon, url } = await place.serve()
  await waitUntil('the damaged file', () => aside().length === 1)
  const { reasons, counts } = await untilReady(url)
  expect(counts).toMatchObject({ chats: 4, messages: 24, deleted: 1 })
  const [file] = aside()
  expect(reasons).toEqual([
    expect.stringContaining(
      `24 messages of 4 chats were saved. The damaged file is ${join(place.dataDir, file ?? '?')}`,
    ),
  ])
  expect(daemon.stderr).toContain('The mirror was damaged and was replaced by a new one')
  await expectAllHeld(url)
  rmSync(join(place.dataDir, file ?? '?'))
  expect(await untilReady(url)).toMatchObject({ reasons: [] })
})

test('a killed daemon leaves no mark of a clean end, so that the next one checks first and then leaves one', async () => {
  const first = await place.serve()
  await untilReady(first.url)
  expect(existsSync(`${mirror()}-clean`)).toBe(false)
  await first.daemon.stop('SIGKILL')
  expect(existsSync(`${mirror()}-clean`)).toBe(false)
  const second = await place.serve()
  await untilReady(second.url)
  await second.daemon.stop()
  expect(existsSync(`${mirror()}-clean`)).toBe(true)
})

/** Overwrites a table of the index. */
function overwriteIndex(table: string): void {
  const path = join(place.dataDir, 'index.db')
  for (const page of pagesOf(table, path)) overwrite(page, PAGE, path)
}

test('a search that meets a damaged index gets 503 and not 500, and soon finds again, without a restart', async () => {
  const { url } = await place.serve()
  await untilReady(url)
  overwriteIndex('message_terms_data')
  const search = (): Promise<Response> => fetch(`${url}/api/search?q=${wordOf(1, 2)}`)
  const response = await search()
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([503, 'index-damaged'])
  // The daemon may close an idle connection in the moment in which the next request takes it.
  await waitUntil('a search that finds', async () => (await search().catch(() => null))?.ok)
  await untilReady(url)
  await expectAllHeld(url)
  expect(aside()).toEqual([])
})

test('when an archive job meets damage, the daemon ends, leaves a mark at once, and the next start replaces the mirror', async () => {
  const pages = pagesOf('bodies')
  const { daemon, url } = await place.serve()
  await untilReady(url)
  for (const page of pages) overwrite(page)
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  expect((await fetch(`${url}/api/archives`, init)).ok).toBe(true)
  await waitUntil('the mark', () => existsSync(`${mirror()}-clean`))
  // Whatever happens now, also a forced end.
  daemon.signal('SIGKILL')
  await daemon.ended
  expect(readFileSync(`${mirror()}-clean`, 'utf8')).toBe('damaged')
  const again = await place.serve()
  await untilReady(again.url)
  expect(aside()).toHaveLength(1)
})

test('a search without a daemon that meets a damaged index says so, and the next command finds', async () => {
  expect((await place.run(['search', wordOf(1, 2)])).exitCode).toBe(0)
  overwriteIndex('message_terms_data')
  const failed = await place.run(['search', wordOf(1, 2)])
  expect([failed.exitCode, failed.stderr]).toEqual([1, expect.stringContaining('The full-text index is damaged')])
  const { exitCode, stdout } = await place.run(['search', wordOf(1, 2)])
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('m1-2')])
  expect(aside()).toEqual([])
})
