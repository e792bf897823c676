import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import { headers } from '../helpers/cursor.ts'
import { FullDisk } from '../helpers/guard/disk-full.ts'
import { dumpMirror, findFaults } from '../helpers/guard/dump.ts'
import { keepSound, passOver } from '../helpers/guard/healed.ts'
import { lossyHome, type LossyHome } from '../helpers/guard/lossy-home.ts'
import { damagePages, heal, Original } from '../helpers/guard/page-damage.ts'
import { damageWal, fillWal, reopen } from '../helpers/guard/wal-damage.ts'
import { World } from '../helpers/world.ts'

const PAGE = 16_384
const PAGE_ROUNDS = 10
const WAL_ROUNDS = 25
const DISK_ROUNDS = 12
/** What follows from messages: no row that exists nowhere else is lost with it. */
const DERIVED = 'calls'

let lossy: LossyHome
let original: Original
let folder: string
let path: string

beforeAll(async () => {
  lossy = await lossyHome(12, 10)
  original = new Original(lossy)
})

afterAll(() => {
  original.remove()
  lossy.remove()
})

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-damage-'))
  path = join(folder, 'mirror.db')
  writeFileSync(path, original.bytes, { mode: 0o600 })
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function withKept<Value>(act: (kept: MirrorMaintenance) => Value | Promise<Value>): Promise<Value> {
  const kept = new MirrorMaintenance(path)
  try {
    return await act(kept)
  } finally {
    kept.close()
  }
}

const asideFiles = (): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith('mirror-damaged-'))
    .sort()

function pagesOf(table: string): number[] {
  return lossy.indexer.mirror.prepare('select pageno from dbstat where name = ?').pluck().all(table) as number[]
}

/** Writes a mirror with nonsense on these pages. @returns its bytes */
function writeSpoilt(pages: readonly number[], length = PAGE): Buffer {
  const bytes = Buffer.from(original.bytes)
  for (const page of pages) bytes.fill(0xa5, (page - 1) * PAGE, (page - 1) * PAGE + length)
  writeFileSync(path, bytes)
  return bytes
}

const messagesIn = (kept: MirrorMaintenance): number =>
  Number(kept.db.prepare('select count(*) from messages join bodies on num = body').pluck().get())

function expectAsBefore(kept: MirrorMaintenance): void {
  expect(findFaults(kept.db)).toEqual([])
  const told = ({ messages, chats, indexed, titles, heads }: ReturnType<typeof dumpMirror>) => ({
    messages,
    chats,
    indexed,
    titles,
    heads,
  })
  expect(told(dumpMirror(kept.db))).toEqual(told(original.dump))
}

describe('a damaged mirror', () => {
  test('is set aside unchanged, and its rows are in the new one', async () => {
    const spoilt = writeSpoilt(pagesOf(DERIVED))
    await withKept(async (kept) => {
      const notices = keepSound(kept)
      const [file = ''] = asideFiles()
      const text = expect.stringMatching(
        /^The mirror was damaged .* 120 messages of 12 chats were saved\. The damaged file is .*\.$/,
      ) as string
      expect(notices).toEqual([{ path: join(folder, file), text, isLossy: false }])
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
      expect(readFileSync(join(folder, file)).equals(spoilt)).toBe(true)
      await passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
      keepSound(kept)
      await passOver(kept, lossy.home.userDir, 'values')
      expectAsBefore(kept)
    })
  })

  test('keeps what only its WAL has', async () => {
    const db = new Database(path)
    db.pragma('wal_autocheckpoint = 0')
    db.exec(`update bodies set parts = '[{"kind":"text","text":"walnut"}]' where num = 1`)
    const wal = readFileSync(`${path}-wal`)
    db.close()
    writeSpoilt(pagesOf(DERIVED))
    writeFileSync(`${path}-wal`, wal)
    await withKept((kept) => {
      keepSound(kept)
      expect(kept.db.prepare(`select count(*) from bodies where parts like '%walnut%'`).pluck().get()).toBe(1)
    })
    expect(asideFiles()).toHaveLength(1)
  })

  test('of which nothing can be read is replaced, the notice says so, and the stores are read again', async () => {
    writeSpoilt([1], 100)
    await withKept(async (kept) => {
      expect(keepSound(kept)[0]?.text).toContain('0 messages of 0 chats were saved. ')
      expect(asideFiles()).toHaveLength(1)
      await passOver(kept, lossy.home.userDir)
      expect(messagesIn(kept)).toBe(120 - lossy.lost.length)
      expect(findFaults(kept.db)).toEqual([])
    })
  })

  test('loses the rows of a damaged page, and the notice says how many', async () => {
    writeSpoilt(pagesOf('messages').slice(1, 2))
    await withKept(async (kept) => {
      const notices = keepSound(kept)
      const saved = messagesIn(kept)
      expect(saved).toBeGreaterThan(20)
      const told = `${saved} messages of 12 chats were saved. ${120 - saved} messages could not be read. `
      expect(notices[0]?.text).toContain(told)
      await passOver(kept, lossy.home.userDir)
      expect(findFaults(kept.db)).toEqual([])
    })
  })

  test('whose list of unused pages names a page that is in use is replaced before that page is overwritten', async () => {
    const db = new Database(path)
    db.exec(
      'create table filler (a); insert into filler select randomblob(9000) from messages limit 9; drop table filler',
    )
    db.close()
    const bytes = readFileSync(path)
    bytes.writeUInt32BE(pagesOf('bodies')[1] ?? 0, (bytes.readUInt32BE(32) - 1) * PAGE + 8)
    writeFileSync(path, bytes)
    await withKept(async (kept) => {
      expect(keepSound(kept)).toHaveLength(1)
      await passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
    })
  })

  test('beside which the WAL of another database lies is set aside with it, unchanged', async () => {
    const other = new Database(join(folder, 'other.db'))
    for (const name of ['page_size = 16384', 'journal_mode = wal', 'wal_autocheckpoint = 0']) other.pragma(name)
    other.exec('create table other (a); insert into other values (randomblob(90000))')
    const wal = readFileSync(`${other.name}-wal`)
    other.close()
    writeFileSync(`${path}-wal`, wal)
    await withKept(async (kept) => {
      expect(keepSound(kept)).toMatchObject([{ isLossy: true }])
      const files = asideFiles().map((name) => readFileSync(join(folder, name)))
      expect([files[0]?.equals(original.bytes), files[1]?.equals(wal)]).toEqual([true, true])
      await passOver(kept, lossy.home.userDir)
      expect(messagesIn(kept)).toBe(120 - lossy.lost.length)
    })
  })

  test('is the same if its repair was killed before', async () => {
    const spoilt = writeSpoilt(pagesOf(DERIVED))
    for (const suffix of ['', '-wal']) writeFileSync(`${path}-unfinished${suffix}`, spoilt.subarray(0, PAGE * 3))
    await withKept(async (kept) => {
      keepSound(kept)
      await passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
    })
    expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([])
  })

  test('is replaced whole if the repair is killed while the files get their names', async () => {
    writeSpoilt(pagesOf(DERIVED))
    await withKept(keepSound)
    const [file = ''] = asideFiles()
    renameSync(path, join(folder, `${file}-new`))
    renameSync(join(folder, file), path)
    await withKept(async (kept) => {
      await passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
    })
    expect(asideFiles()).toEqual([file])
  })
})

test.each(['messages', 'bodies'])(
  'one bad page of %s among 20,000 messages loses at most what stood on it',
  async (table) => {
    const leaf = await withKept(({ db }) => {
      const columns = db.prepare(`select name from pragma_table_info('messages')`).pluck().all() as string[]
      const own: Record<string, string> = { key: 'key + i', id: `'many-' || i`, body: '1000000 + i', content_hash: 'i' }
      db.exec(`
      create temp table n as with n (i) as (select 1 union all select i + 1 from n where i < 20000) select i from n;
      insert into bodies select 1000000 + i, '[{"kind":"text","text":"' || hex(randomblob(40)) || '"}]' from n;
      insert into messages select ${columns.map((name) => own[name] ?? name).join(', ')}
      from (select * from messages where is_live = 0 order by key desc limit 1), n;
      drop table n`)
      db.pragma('wal_checkpoint(truncate)')
      const leaves = db.prepare(`select pageno, ncell from dbstat where name = ? and pagetype = 'leaf'`).all(table)
      return leaves[Math.floor(leaves.length / 2)] as { pageno: number; ncell: number }
    })
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xa5, (leaf.pageno - 1) * PAGE, leaf.pageno * PAGE))
    await withKept((kept) => {
      const notices = keepSound(kept)
      const lost = 20_120 - messagesIn(kept)
      expect([lost > 0, lost <= leaf.ncell, findFaults(kept.db)]).toEqual([true, true, []])
      expect(notices[0]?.text).toContain(` ${lost} messages could not be read. `)
    })
  },
)

const brokenParts: readonly [what: string, parts: string][] = [
  ['of no kind of part', '[{"kind":"tezt","text":"walnut"}]'],
  ['without its text', '[{"kind":"text","tezt":"walnut"}]'],
  [
    'a call without paths',
    '[{"kind":"tool","name":"walnut","status":"completed","input":null,"output":null,"error":null}]',
  ],
  ['a list of nothing', '[{"kind":"todo","items":[null]}]'],
]

test.each(brokenParts)('a message that is %s says so in every answer, and no pass fails on it', async (_, parts) => {
  const world = await World.open()
  const text = (word: string) => ({ type: 1, text: word, createdAt: new Date(0).toISOString() })
  const store = world.home.global()
  store.message('a', 'one', text('walnut'))
  store.message('a', 'two', text('cherry'))
  store.chat('a', { name: 'Fruit', fullConversationHeadersOnly: headers(['one', 'two']) })
  await world.sync()
  const db = new Database(world.mirrorPath)
  db.exec(`update bodies set parts = '${parts}' where parts like '%walnut%'; insert into uncounted values (1)`)
  db.close()
  world.home.global().message('a', 'two', text('cherry and plum'))
  await world.sync(true)
  const { items } = await world.get<{ items: { parts: unknown[] }[] }>('/api/chats/a/messages')
  expect(items.map((one) => one.parts)).toMatchObject([[{ kind: 'error' }], [{ text: 'cherry and plum' }]])
  // The index is made anew from what can be read.
  expect(await world.get('/api/search?q=walnut')).toMatchObject({ total: 0 })
  expect(await world.get('/api/search?q=plum')).toMatchObject({ total: 1 })
  expect(await world.post('/api/archives', {})).toMatchObject({ name: expect.any(String) as string })
  await world.remove()
})

test('a message whose text is no JSON any more is read from Cursor again at the next start', async () => {
  const db = new Database(path)
  db.exec(`update bodies set parts = '?' || parts where num in (select body from messages where is_live = 1)`)
  db.close()
  await withKept(async (kept) => {
    // The file is sound: nothing is set aside.
    expect(keepSound(kept)).toEqual([])
    await passOver(kept, lossy.home.userDir)
    expectAsBefore(kept)
  })
})

test('a mirror of a later version is not changed by a byte', async () => {
  const db = new Database(path)
  db.pragma('user_version = 99')
  db.close()
  const before = readFileSync(path)
  await withKept((kept) => expect(() => kept.db).toThrow('has schema 99'))
  expect([readFileSync(path).equals(before), asideFiles()]).toEqual([true, []])
})

test('pages overwritten at random cost no message whose pages, and the pages above them, are sound', async () => {
  let setAside = 0
  for (let seed = 1; seed <= PAGE_ROUNDS; seed += 1) {
    const { faults, wrong, isSetAside } = await heal(lossy, original, damagePages(original, seed))
    expect([seed, faults, wrong]).toEqual([seed, [], []])
    setAside += isSetAside ? 1 : 0
  }
  expect(setAside).toBeGreaterThan(PAGE_ROUNDS / 4)
})

test('a WAL that is cut, zeroed or filled with garbage loses the last commits and no others', async () => {
  const mirror = await fillWal(12)
  const wrong: string[] = []
  for (let seed = 1; seed <= WAL_ROUNDS; seed += 1) {
    for (const fault of await reopen(mirror, damageWal(mirror.wal, seed))) wrong.push(`${seed}: ${fault}`)
  }
  mirror.home.remove()
  expect(wrong).toEqual([])
})

test('a full disk at any moment causes only delay, no loss', async () => {
  const disk = await FullDisk.fill(40)
  const outcomes: { wrong: string[]; wasFull: boolean }[] = []
  for (let point = 0; point < DISK_ROUNDS; point += 1) outcomes.push(await disk.fail(point / DISK_ROUNDS))
  disk.remove()
  expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([])
  expect(outcomes.filter(({ wasFull }) => wasFull).length).toBeGreaterThan(DISK_ROUNDS * 0.8)
})
