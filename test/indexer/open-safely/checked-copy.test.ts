import * as fs from 'node:fs'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepCopiesIn, removeCopies } from '../../../src/indexer/open-safely/checked-copy.ts'
import { openCursorFile } from '../../../src/indexer/open-safely/cursor-file.ts'
import { CursorHome, type Store } from '../../helpers/cursor.ts'
import { Indexer } from '../../helpers/in-process.ts'

/** The reported type of the mount, and what happens to the file while it is copied. */
const world = vi.hoisted(() => ({
  type: 0x01021997,
  freeBytes: 1e12,
  sizes: new Map<string, number>(),
  copies: 0,
  during: (): void => undefined,
  tear: (_path: string): void => undefined,
}))

vi.mock(import('node:fs'), async (original) => {
  const actual = await original()
  const copyFileSync: typeof actual.copyFileSync = (from, to, mode) => {
    if (!String(from).endsWith('-wal')) world.copies += 1
    actual.copyFileSync(from, to, mode)
    world.during()
    world.tear(String(to))
  }
  const statfs = () => ({
    type: world.type,
    bavail: world.freeBytes,
    bsize: 1,
  })
  const sized = (path: fs.PathLike, options: object) => {
    const stat = (actual.statSync as (path: fs.PathLike, options: object) => fs.Stats | undefined)(path, options)
    const size = world.sizes.get(String(path))
    if (stat !== undefined && size !== undefined)
      stat.size = typeof stat.size === 'bigint' ? (BigInt(size) as never) : size
    return stat
  }
  const changed = {
    copyFileSync,
    statfsSync: statfs as unknown as typeof actual.statfsSync,
    statSync: sized as typeof actual.statSync,
  }
  return { ...actual, ...changed }
})

let home: CursorHome
let store: Store
let data: string
const TEN_MINUTES = 600_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  home = new CursorHome()
  store = home.global()
  store.chat('a', { name: 'A chat' })
  store.message('a', 'm1', { type: 1, text: 'over the mount' })
  data = mkdtempSync(join(homedir(), 'data-'))
  keepCopiesIn(join(data, 'copies'))
})

afterEach(() => {
  Object.assign(world, { freeBytes: 1e12, copies: 0, during: () => undefined, tear: () => undefined })
  world.sizes.clear()
  removeCopies()
  vi.useRealTimers()
  home.remove()
  rmSync(data, { recursive: true })
})

function countRows(): unknown {
  const file = openCursorFile(home.globalPath)
  if (file.kind === 'closed') return `${file.state}: ${file.detail}`
  try {
    return file.read((db) => db.prepare('select count(*) from cursorDiskKV').pluck().get())
  } finally {
    file.close()
  }
}

test('a store on a network mount is read from a copy with its WAL, which only we can read, and nothing is left behind', () => {
  expect(countRows()).toBe(2)
  const copies = join(data, 'copies')
  const made = readdirSync(copies, { recursive: true }).map(String)
  expect(made.filter((name) => name.endsWith('store.db'))).toHaveLength(1)
  // Windows has no such file mode.
  expect(process.platform === 'win32' ? 0o700 : statSync(copies).mode & 0o777).toBe(0o700)
  removeCopies()
  expect(readdirSync(data)).toEqual([])
})

test('all sources of the file read one copy, and the mirror equals the store', async () => {
  const indexer = new Indexer(home.userDir)
  try {
    const { ends, added } = await indexer.pass()
    expect(ends.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect({ added, copies: world.copies }).toEqual({ added: 1, copies: 1 })
  } finally {
    indexer.remove()
  }
})

test('it is copied at most every ten minutes, whoever asks', () => {
  expect(countRows()).toBe(2)
  store.chat('b', {})
  for (let asked = 0; asked < 20; asked += 1)
    expect(countRows()).toMatch(/^busy: .*9p mount.*every ten minutes. The next copy is in 10 min/)
  vi.advanceTimersByTime(TEN_MINUTES - 1000)
  removeCopies()
  expect(countRows()).toMatch(/^busy: .*next copy is in 1 min/)
  vi.advanceTimersByTime(1000)
  expect(countRows()).toBe(3)
  expect(world.copies).toBe(2)
})

test('a copy does not count if the file changed meanwhile; there are at most five attempts', () => {
  let changes = 2
  world.during = () => {
    if (changes > 0) store.chat(`while ${(changes -= 1)}`, {})
  }
  expect(countRows()).toBe(4)
  vi.advanceTimersByTime(TEN_MINUTES)
  world.copies = 0
  changes = 1000
  store.chat('since', {})
  expect(countRows()).toMatch(/^busy: .*Cursor wrote to it/)
  expect(world.copies).toBe(5)
  expect(readdirSync(join(data, 'copies'))).toEqual([])
})

test('a damaged copy does not count, even if the file did not change', () => {
  store.db.pragma('wal_checkpoint(truncate)')
  let tears = 1
  world.tear = (path) => {
    if (!path.endsWith('-wal') && (tears -= 1) >= 0) fs.truncateSync(path, 8192)
  }
  expect(countRows()).toBe(2)
  expect(world.copies).toBe(2)
})

test.each([
  [
    'larger than two gigabytes',
    () => world.sizes.set(home.globalPath, 2 * 1024 ** 3 + 1),
    /^refused: .*9p mount.*2\.0 GB it is too large.*machine that runs Cursor/,
  ],
  [
    'whose copy does not fit on the disk',
    () => (world.freeBytes = 1000),
    /^refused: .*no space for a copy.*free some space, or run/,
  ],
])('a store %s is refused, with advice, and not copied', (_, make, detail) => {
  make()
  expect(countRows()).toMatch(detail)
  expect(world.copies).toBe(0)
})

test('nothing is copied from a local disk', () => {
  world.type = 0xef53
  expect(countRows()).toBe(2)
  expect(world.copies).toBe(0)
  world.type = 0x01021997
})
