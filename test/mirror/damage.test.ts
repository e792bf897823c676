import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import { FullDisk } from '../helpers/guard/disk-full.ts'
import { dumpMirror, findFaults } from '../helpers/guard/dump.ts'
import { keepNow, keepSound, passOver } from '../helpers/guard/healed.ts'
import { lossyHome, type LossyHome } from '../helpers/guard/lossy-home.ts'
import { damagePages, heal, Original } from '../helpers/guard/page-damage.ts'
import { damageWal, reopen, WalMirror } from '../helpers/guard/wal-damage.ts'

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

beforeAll(() => {
  lossy = lossyHome(12, 10)
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

function withKept<Value>(act: (kept: MirrorMaintenance) => Value): Value {
  const kept = new MirrorMaintenance(path, Date.now)
  try {
    return act(kept)
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
  test('is set aside unchanged, and its rows are in the new one', () => {
    const spoilt = writeSpoilt(pagesOf(DERIVED))
    withKept((kept) => {
      const { notices } = keepSound(kept)
      const [file = ''] = asideFiles()
      const text = expect.stringMatching(
        /^The mirror was damaged .* 120 messages of 12 chats were saved\. The damaged file is .*\.$/,
      ) as string
      expect(notices).toEqual([{ path: join(folder, file), text }])
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600)
      expect(readFileSync(join(folder, file)).equals(spoilt)).toBe(true)
      passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
      keepSound(kept)
      passOver(kept, lossy.home.userDir, 'full')
      expectAsBefore(kept)
    })
  })

  test('keeps what only its WAL has', () => {
    const db = new Database(path)
    db.pragma('wal_autocheckpoint = 0')
    db.exec(`update bodies set parts = '[{"kind":"text","text":"walnut"}]' where num = 1`)
    const wal = readFileSync(`${path}-wal`)
    db.close()
    writeSpoilt([...pagesOf(DERIVED), ...pagesOf('message_terms_data')])
    writeFileSync(`${path}-wal`, wal)
    withKept((kept) => {
      keepNow(kept, 'set-aside')
      expect(kept.db.prepare(`select count(*) from bodies where parts like '%walnut%'`).pluck().get()).toBe(1)
    })
    expect(asideFiles()).toHaveLength(2)
  })

  test('of which nothing can be read is replaced, the notice says so, and the stores are read again', () => {
    writeSpoilt([1], 100)
    withKept((kept) => {
      expect(keepSound(kept).notices[0]?.text).toContain('0 messages of 0 chats were saved. ')
      expect(asideFiles()).toHaveLength(1)
      passOver(kept, lossy.home.userDir)
      expect(messagesIn(kept)).toBe(120 - lossy.lost.length)
      expect(findFaults(kept.db)).toEqual([])
    })
  })

  test('loses the rows of a damaged page, and the notice says how many', () => {
    writeSpoilt(pagesOf('messages').slice(1, 2))
    withKept((kept) => {
      const { notices } = keepSound(kept)
      const saved = messagesIn(kept)
      expect(saved).toBeGreaterThan(20)
      const told = `${saved} messages of 12 chats were saved. ${120 - saved} of its rows could not be read. `
      expect(notices[0]?.text).toContain(told)
      passOver(kept, lossy.home.userDir)
      expect(findFaults(kept.db)).toEqual([])
    })
  })

  test('is the same if its repair is killed after any step and repeated', () => {
    for (let steps = 0; ; steps += 8) {
      for (const name of readdirSync(folder)) rmSync(join(folder, name))
      writeSpoilt(pagesOf(DERIVED))
      const isDone = withKept((kept) => {
        const salvaging = kept.run({ task: 'set-aside', suspected: 'none' })
        for (let step = 0; step < steps; step += 1) if (salvaging.next().done === true) return true
        salvaging.return(undefined as never)
        return false
      })
      withKept((kept) => {
        keepSound(kept)
        passOver(kept, lossy.home.userDir)
        expectAsBefore(kept)
      })
      expect(asideFiles()).toHaveLength(1)
      if (isDone) return
    }
  })

  test.each(['message_terms_data', 'message_terms_docsize', 'chat_terms_data'])(
    'of which only the index is damaged, %s, gets a new index',
    (table) => {
      writeSpoilt(pagesOf(table))
      withKept((kept) => {
        const { damage, news } = keepNow(kept, 'check')
        expect([damage, news, asideFiles()]).toEqual(['none', [expect.stringContaining('full-text')], []])
        passOver(kept, lossy.home.userDir)
        expectAsBefore(kept)
      })
    },
  )
})

test('the weekly comparison finds wrong full-text rows and repairs them', () => {
  withKept((kept) => {
    kept.db.exec(`delete from message_terms where rowid = (select min(id) from message_terms_docsize)`)
    kept.db.exec(`insert into message_terms (rowid, text) values (77, 'stray')`)
    expect(keepNow(kept, 'check').news).toEqual([])
    expect(keepNow(kept, 'check-terms').news).toEqual([expect.stringMatching(/^2 full-text rows/)])
    passOver(kept, lossy.home.userDir)
    expectAsBefore(kept)
    expect(keepNow(kept, 'check-terms').news).toEqual([])
  })
})

test('a mirror of a later version is not changed by a byte', () => {
  const db = new Database(path)
  db.pragma('user_version = 99')
  db.close()
  const before = readFileSync(path)
  withKept((kept) => expect(() => kept.db).toThrow('has schema 99'))
  expect([readFileSync(path).equals(before), asideFiles()]).toEqual([true, []])
})

test('pages overwritten at random cost no message whose pages, and the pages above them, are sound', () => {
  let setAside = 0
  for (let seed = 1; seed <= PAGE_ROUNDS; seed += 1) {
    const { faults, wrong, isSetAside } = heal(lossy, original, damagePages(original, seed))
    expect([seed, faults, wrong]).toEqual([seed, [], []])
    setAside += isSetAside ? 1 : 0
  }
  expect(setAside).toBeGreaterThan(PAGE_ROUNDS / 4)
})

test('a WAL that is cut, zeroed or filled with garbage loses the last commits and no others', () => {
  const mirror = new WalMirror(12)
  const seeds = Array.from({ length: WAL_ROUNDS }, (_, at) => at + 1)
  const wrong = seeds.flatMap((seed) => reopen(mirror, damageWal(mirror.wal, seed)).map((fault) => `${seed}: ${fault}`))
  mirror.remove()
  expect(wrong).toEqual([])
})

test('a full disk at any moment causes only delay, no loss', () => {
  const disk = new FullDisk(40)
  const outcomes = Array.from({ length: DISK_ROUNDS }, (_, point) => disk.fail(point / DISK_ROUNDS))
  disk.remove()
  expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([])
  expect(outcomes.filter(({ wasFull }) => wasFull).length).toBeGreaterThan(DISK_ROUNDS * 0.8)
})
