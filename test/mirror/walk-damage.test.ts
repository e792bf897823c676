import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DamagedFile } from '../../src/mirror/salvage/damaged-file.ts'

const PAGE = 512
const ROWS = 3000

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cursordex-walk-'))
  path = join(folder, 'walked.db')
  const db = new Database(path)
  db.pragma(`page_size = ${PAGE}`)
  db.exec(`
    create table plain (num integer primary key, text text not null) strict;
    create table timed (key integer primary key, id text not null, text text not null, unique (id)) strict;
    create table named (kind integer not null, name text not null, text text not null, primary key (kind, name))
      strict, without rowid;
    create table linked (one text not null, other text not null, primary key (one, other)) strict, without rowid;
    create index linked_back on linked (other);
  `)
  db.transaction(() => {
    for (let num = 1; num <= ROWS; num += 1) {
      db.prepare('insert into plain values (?, ?)').run(num, `plain ${num}`)
      // As times are: far apart, and in a small part of all numbers.
      db.prepare('insert into timed values (?, ?, ?)').run(1_700_000_000_000_000 + num ** 3, `id ${num}`, 'timed')
      db.prepare('insert into named values (?, ?, ?)').run(num % 3, `bubbleId:chat-${num}`, 'named')
      db.prepare('insert into linked values (?, ?)').run(`one ${num}`, `other ${num}`)
    }
  })()
  db.close()
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Page {
  readonly path: string
  readonly pageno: number
  readonly pagetype: string
  readonly ncell: number
}

/** Writes nonsense on some pages of a table. @returns how many rows were on them and below them */
function spoil(name: string, choose: (pages: readonly Page[]) => readonly (Page | undefined)[], type = 'leaf'): number {
  const db = new Database(path, { readonly: true })
  const pages = db.prepare('select * from dbstat where name = ? order by path').all(name) as Page[]
  db.close()
  const chosen = choose(pages.filter(({ pagetype }) => pagetype === type)).filter((page) => page !== undefined)
  const bytes = readFileSync(path)
  for (const { pageno } of chosen) bytes.fill(0xa5, (pageno - 1) * PAGE, pageno * PAGE)
  writeFileSync(path, bytes)
  const lost = pages.filter((page) => page.pagetype === 'leaf' && chosen.some((one) => page.path.startsWith(one.path)))
  return lost.reduce((sum, { ncell }) => sum + ncell, 0)
}

/** How many rows are read, by the table and then by its indexes. */
function countRead(name: string): number {
  const file = new DamagedFile(path)
  try {
    const table = file.table(name)
    if (table === null) throw new Error(`no table ${name}`)
    const rows = new Set<string>()
    const columns = table.columns.map((column) => column.name)
    for (const walk of file.walks(table, columns, () => true)) {
      for (const row of walk.rows()) rows.add(row.join(' '))
      if (!walk.isDamaged) break
    }
    return rows.size
  } finally {
    file.close()
  }
}

const threeOf = (pages: readonly Page[]): (Page | undefined)[] =>
  [0.2, 0.5, 0.7].map((share) => pages[Math.floor(pages.length * share)])
const endsOf = (pages: readonly Page[]): (Page | undefined)[] => [pages[0], pages.at(-1)]

const middleOf = (pages: readonly Page[]): (Page | undefined)[] => [pages[Math.floor(pages.length / 2)]]

test.each(['plain', 'timed', 'named'])('%s: a damaged leaf costs its own rows only', (table) => {
  expect(countRead(table)).toBe(ROWS)
  const lost = spoil(table, middleOf)
  expect(countRead(table)).toBe(ROWS - lost)
})

test.each(['plain', 'timed'])('%s: the rows between several damaged leaves are read', (table) => {
  const lost = spoil(table, threeOf)
  expect(countRead(table)).toBe(ROWS - lost)
})

test.each(['plain', 'timed'])('%s: the rows between a damaged first and last leaf are read', (table) => {
  const lost = spoil(table, endsOf)
  expect(countRead(table)).toBe(ROWS - lost)
})

test('a damaged interior page costs the rows below it only', () => {
  const lost = spoil('plain', (pages) => pages.slice(1, 2), 'internal')
  expect(lost).toBeLessThan(ROWS)
  expect(countRead('plain')).toBe(ROWS - lost)
})

test('an index that contains all columns replaces its table', () => {
  spoil('linked', (pages) => pages)
  expect(countRead('linked')).toBe(ROWS)
})

test('a table without a readable page is left after a bounded number of seeks', () => {
  spoil('plain', (pages) => pages)
  const begun = performance.now()
  expect(countRead('plain')).toBe(0)
  expect(performance.now() - begun).toBeLessThan(20_000)
})
