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

const PAGE = 16_384

function pagesOf(table: string): number[] {
  return lossy.indexer.mirror.prepare('select pageno from dbstat where name = ?').pluck().all(table) as number[]
}

/** Writes a mirror with nonsense on these pages. */
function writeSpoilt(pages: readonly number[], length = PAGE): void {
  const bytes = Buffer.from(original.bytes)
  for (const page of pages) bytes.fill(0xa5, (page - 1) * PAGE, (page - 1) * PAGE + length)
  writeFileSync(path, bytes)
}

/** Digests follow from messages: no row that exists nowhere else is lost. */
const spoilDigests = (): void => writeSpoilt(pagesOf('chat_digests'))

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

test('a damaged mirror is set aside, and its rows are in the new one', () => {
  spoilDigests()
  const before = hashOf('mirror.db')
  withKept((kept) => {
    const { notices } = keepSound(kept)
    const [file] = asideFiles()
    expect(notices).toEqual([
      {
        path: join(folder, file ?? ''),
        text: expect.stringMatching(
          /^The mirror was damaged .* 120 messages of 12 chats were saved\. The damaged file is .*\.$/,
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

test('rows that only the WAL contains are saved too', () => {
  const db = openWriter(path)
  db.pragma('wal_autocheckpoint = 0')
  db.exec(`update bodies set parts = '[{"kind":"text","text":"walnut"}]' where num = 1`)
  const wal = readFileSync(`${path}-wal`)
  db.close()
  spoilDigests()
  writeFileSync(`${path}-wal`, wal)
  const before = hashOf('mirror.db')
  setAside(path, 0)
  expect(asideFiles()).toHaveLength(2)
  withKept((kept) => {
    keepSound(kept)
    expect(kept.db.prepare(`select count(*) from bodies where parts like '%walnut%'`).pluck().get()).toBe(1)
  })
  const [file, walFile] = asideFiles().sort()
  expect(hashOf(file ?? '')).toBe(before)
  expect(readFileSync(join(folder, walFile ?? ''))).toEqual(wal)
})

const messagesIn = (kept: MirrorMaintenance): number =>
  Number(kept.db.prepare('select count(*) from messages join bodies on num = body').pluck().get())

test('a damaged page costs the rows on it, and the notice says how many', () => {
  writeSpoilt(pagesOf('messages').slice(1, 2))
  withKept((kept) => {
    const { notices } = keepSound(kept)
    const saved = messagesIn(kept)
    expect(saved).toBeGreaterThan(20)
    expect(notices[0]?.text).toContain(
      `${saved} messages of 12 chats were saved. ${120 - saved} of its rows could not be read. `,
    )
    passOver(kept, lossy.home.userDir)
    expect(findFaults(kept.db)).toEqual([])
  })
})

test('a truncated mirror keeps the rows that are still in the file', () => {
  writeFileSync(path, original.bytes.subarray(0, -PAGE))
  withKept((kept) => {
    keepSound(kept)
    expect(asideFiles()).toHaveLength(1)
    expect(messagesIn(kept)).toBeGreaterThan(20)
    passOver(kept, lossy.home.userDir)
    expect(findFaults(kept.db)).toEqual([])
  })
})

test.each([
  ['the header', 100],
  ['the first page of the schema', PAGE],
])('without %s nothing is saved, the notice says so, and the stores are read again', (_, length) => {
  writeSpoilt([1], length)
  const before = hashOf('mirror.db')
  withKept((kept) => {
    const { notices } = keepSound(kept)
    const [file] = asideFiles()
    expect(asideFiles()).toHaveLength(1)
    expect(hashOf(file ?? '')).toBe(before)
    expect(notices[0]?.text).toContain('0 messages of 0 chats were saved. ')
    passOver(kept, lossy.home.userDir)
    expect(messagesIn(kept)).toBe(120 - lossy.lost.length)
    expect(findFaults(kept.db)).toEqual([])
  })
})

/** @returns whether it was done by then */
function salvageSteps(steps: number): boolean {
  return withKept((kept) => {
    const salvaging = kept.run({ task: 'salvage', suspected: 'none' })
    let isDone = false
    for (let step = 0; step < steps && !isDone; step += 1) isDone = salvaging.next().done === true
    salvaging.return(undefined as never)
    return isDone
  })
}

test('a salvage that is killed after any step and repeated has the same result', () => {
  for (let steps = 0; ; steps += 4) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    spoilDigests()
    setAside(path, 0)
    const isDone = salvageSteps(steps)
    withKept((kept) => {
      keepSound(kept)
      passOver(kept, lossy.home.userDir)
      expectAsBefore(kept)
    })
    expect(asideFiles()).toHaveLength(1)
    if (isDone) return
  }
})

test('a second check and pass after a salvage change nothing', () => {
  spoilDigests()
  withKept((kept) => {
    keepSound(kept)
    passOver(kept, lossy.home.userDir)
    const before = dumpMirror(kept.db)
    keepSound(kept)
    passOver(kept, lossy.home.userDir, 'full')
    expect(dumpMirror(kept.db)).toEqual(before)
  })
})

test('a salvage that finds the disk full leaves the damaged file unchanged, and ends once there is room', () => {
  spoilDigests()
  setAside(path, 0)
  const before = asideFiles().map(hashOf)
  withKept((kept) => {
    kept.db.pragma('max_page_count = 45')
    expect(() => keepNow(kept, 'salvage')).toThrow('full')
    expect(asideFiles().map(hashOf)).toEqual(before)
    kept.db.pragma('max_page_count = 100000')
    keepSound(kept)
    passOver(kept, lossy.home.userDir)
    expectAsBefore(kept)
  })
})

test('a mirror whose WAL was already moved when the process was killed is moved too', () => {
  const db = openWriter(path)
  db.pragma('wal_autocheckpoint = 0')
  db.exec(`delete from messages`)
  const [main, wal] = [readFileSync(path), readFileSync(`${path}-wal`)]
  db.close()
  writeFileSync(path, main)
  writeFileSync(join(folder, 'mirror-damaged-2026-01-01T000000Z.db-wal'), wal)
  writeFileSync(join(folder, 'mirror-damaged-2026-01-01T000000Z.db-moving'), '')
  withKept((kept) => keepSound(kept))
  expect(asideFiles().sort()).toEqual([
    'mirror-damaged-2026-01-01T000000Z.db',
    'mirror-damaged-2026-01-01T000000Z.db-wal',
  ])
})

test('the WAL of a damaged file that a person deleted does not affect the mirror', () => {
  writeFileSync(join(folder, 'mirror-damaged-2026-01-01T000000Z.db-wal'), 'left')
  withKept((kept) => {
    expect(keepSound(kept).notices).toEqual([])
    expectAsBefore(kept)
  })
  expect(asideFiles()).toEqual(['mirror-damaged-2026-01-01T000000Z.db-wal'])
})

describe('damage of the full-text tables only', () => {
  test.each(['message_terms_data', 'message_terms_docsize', 'chat_terms_data'])(
    '%s: they are rebuilt in the same mirror',
    (table) => {
      writeSpoilt(pagesOf(table))
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

  test('the weekly comparison finds wrong full-text rows and repairs them', () => {
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

test.runIf(process.platform !== 'win32')('a mirror of a later version is not changed by a byte', () => {
  const db = openWriter(path)
  db.pragma('user_version = 99')
  db.close()
  chmodSync(path, 0o640)
  const before = hashOf('mirror.db')
  expect(() => openWriter(path)).toThrow('has schema 99')
  expect([hashOf('mirror.db'), statSync(path).mode & 0o777, asideFiles()]).toEqual([before, 0o640, []])
})
