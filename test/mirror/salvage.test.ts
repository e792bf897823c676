import { createHash } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MirrorMaintenance } from '../../src/engine/writer/maintenance.ts'
import { countBacklog } from '../../src/mirror/fulltext/backlog.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { setAside } from '../../src/mirror/salvage/set-aside.ts'
import { dumpMirror, findFaults } from '../helpers/guard/dump.ts'
import { keepNow, keepSound, passOver } from '../helpers/guard/healed.ts'
import { lossyHome, type LossyHome } from '../helpers/guard/lossy-home.ts'
import { Original } from '../helpers/guard/page-damage.ts'

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
  folder = mkdtempSync(join(tmpdir(), 'cursordex-salvage-'))
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

const asideFiles = (): string[] => readdirSync(folder).filter((name) => name.startsWith('mirror-damaged-'))
const hashOf = (name: string): string =>
  createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')

/** No name at the head: SQLite takes it for no database at all. */
function beheadMirror(): void {
  const bytes = Buffer.from(original.bytes)
  bytes.fill(0xa5, 0, 100)
  writeFileSync(path, bytes)
}

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

test('a mirror that is no database any more is set aside, and everything in it stands in the new one', () => {
  beheadMirror()
  const before = hashOf('mirror.db')
  withKept((kept) => {
    const { notices } = keepSound(kept)
    const [file] = asideFiles()
    expect(notices).toEqual([
      {
        path: join(folder, file ?? ''),
        text: expect.stringMatching(
          /^The mirror was damaged .* 120 messages of 12 chats were saved; the damaged file lies at .*\.$/,
        ),
      },
    ])
    expect(statSync(join(folder, file ?? '')).mode & 0o777).toBe(0o600)
    expect(hashOf(file ?? '')).toBe(before)
    expect(countBacklog(kept.db)).toBe(120)
    passOver(kept, lossy.home.userDir)
    expectAsBefore(kept)
  })
})

test('what was seen in the last moments, and stands in the WAL alone, is saved too', () => {
  const db = openWriter(path)
  db.pragma('wal_autocheckpoint = 0')
  db.exec(`update bodies set parts = '[{"kind":"text","text":"walnut"}]' where num = 1`)
  const [main, wal] = [readFileSync(path), readFileSync(`${path}-wal`)]
  db.close()
  main.fill(0xa5, 0, 100)
  writeFileSync(path, main)
  writeFileSync(`${path}-wal`, wal)
  setAside(path, 0)
  expect(asideFiles()).toHaveLength(2)
  withKept((kept) => {
    keepSound(kept)
    expect(kept.db.prepare(`select count(*) from bodies where parts like '%walnut%'`).pluck().get()).toBe(1)
  })
})

test('killed after any step, it ends as if it had not been', () => {
  for (let steps = 0; steps < 8; steps += 1) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    beheadMirror()
    withKept((kept) => {
      const salvaging = kept.keep({ task: 'salvage', suspected: 'none' })
      for (let step = 0; step < steps; step += 1) salvaging.next()
      salvaging.return(undefined as never)
    })
    withKept((kept) => {
      keepSound(kept)
      passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
    })
    expect(asideFiles()).toHaveLength(1)
  }
})

test('a second look at a mirror that was salvaged changes nothing', () => {
  beheadMirror()
  withKept((kept) => {
    keepSound(kept)
    passOver(kept, lossy.home.userDir)
    const before = dumpMirror(kept.db)
    keepSound(kept)
    passOver(kept, lossy.home.userDir, 'full')
    expect(dumpMirror(kept.db)).toEqual(before)
  })
})

test('a disk that is full meanwhile leaves the damaged file as it was, and the rest is done when there is room', () => {
  beheadMirror()
  const before = hashOf('mirror.db')
  withKept((kept) => {
    kept.db.pragma('max_page_count = 45')
    expect(() => keepNow(kept, 'salvage')).toThrow('full')
    expect(asideFiles().map(hashOf)).toEqual([before])
    kept.db.pragma('max_page_count = 100000')
    keepSound(kept)
    passOver(kept, lossy.home.userDir)
    expectAsBefore(kept)
  })
})

test('a mirror is never opened without the WAL that was moved before it', () => {
  const db = openWriter(path)
  db.pragma('wal_autocheckpoint = 0')
  db.exec(`delete from messages`)
  const [main, wal] = [readFileSync(path), readFileSync(`${path}-wal`)]
  db.close()
  writeFileSync(path, main)
  writeFileSync(join(folder, 'mirror-damaged-2026-01-01T000000Z.db-wal'), wal)
  withKept((kept) => keepSound(kept))
  expect(asideFiles().sort()).toEqual([
    'mirror-damaged-2026-01-01T000000Z.db',
    'mirror-damaged-2026-01-01T000000Z.db-wal',
  ])
})

describe('damage of the full-text tables alone', () => {
  /** Every page of these tables but their first, overwritten. */
  function spoil(table: string): void {
    const pages = lossy.indexer.mirror
      .prepare('select pageno from dbstat where name = ?')
      .pluck()
      .all(table) as number[]
    const bytes = Buffer.from(original.bytes)
    for (const page of pages) bytes.fill(0xa5, (page - 1) * 16_384, page * 16_384)
    writeFileSync(path, bytes)
  }

  test.each(['message_terms_data', 'message_terms_docsize', 'chat_terms_data'])(
    '%s: they are made anew, in the same mirror',
    (table) => {
      spoil(table)
      withKept((kept) => {
        const { damage, news } = keepNow(kept, 'check')
        expect([damage, news]).toEqual(['none', [expect.stringContaining('full-text')]])
        expect(asideFiles()).toEqual([])
        expect(countBacklog(kept.db)).toBe(120)
        passOver(kept, lossy.home.userDir)
        expectAsBefore(kept)
      })
    },
  )

  test('rows that drifted apart are found by the weekly comparison, and mended', () => {
    withKept((kept) => {
      kept.db.exec(`delete from message_terms where rowid = (select min(id) from message_terms_docsize)`)
      kept.db.exec(`insert into message_terms (rowid, text) values (77, 'stray')`)
      kept.db.exec(`delete from chat_terms where rowid = 1`)
      expect(keepNow(kept, 'check').news).toEqual([])
      const { news, termsCheckedAtMs } = keepNow(kept, 'check-terms')
      expect(news).toEqual([expect.stringMatching(/^3 full-text rows/)])
      expect(termsCheckedAtMs).toBeGreaterThan(0)
      passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
      expect(keepNow(kept, 'check-terms').news).toEqual([])
    })
  })
})

test.runIf(process.platform !== 'win32')('a mirror of a later version stays as it is, byte for byte', () => {
  const db = openWriter(path)
  db.pragma('user_version = 99')
  db.close()
  chmodSync(path, 0o640)
  const before = hashOf('mirror.db')
  expect(() => openWriter(path)).toThrow('has schema 99')
  expect([hashOf('mirror.db'), statSync(path).mode & 0o777, asideFiles()]).toEqual([before, 0o640, []])
})
