import { copyFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endedBy, fileSignature, openCursorFile, type OpenFile } from '../../../src/indexer/open-safely/cursor-file.ts'
import { CursorHome } from '../../helpers/cursor.ts'

let home: CursorHome

beforeEach(() => {
  home = new CursorHome()
})
afterEach(() => home.remove())

function open(): OpenFile {
  const file = openCursorFile(home.globalPath)
  if (file.kind === 'closed') throw new Error(`${file.state}: ${file.detail}`)
  return file
}

const countRows = (file: OpenFile): unknown =>
  file.read((db) => db.prepare('select count(*) as n from cursorDiskKV').get())

test.each(['wal', 'delete', 'persist', 'truncate'] as const)('a store in %s mode is read whole', (mode) => {
  const store = home.global(mode as 'wal')
  store.chat('a', {})
  store.chat('b', {})
  const file = open()
  expect(countRows(file)).toEqual({ n: 2 })
  file.close()
})

test('a small store that Cursor has closed is read without a trace', () => {
  const store = home.global('wal')
  store.chat('a', {})
  store.close()
  const before = [fileSignature(home.globalPath), ...readdirSync(dirname(home.globalPath))]
  const file = open()
  expect(countRows(file)).toEqual({ n: 1 })
  file.close()
  expect([fileSignature(home.globalPath), ...readdirSync(dirname(home.globalPath))]).toEqual(before)
})

test('a reader cannot write', () => {
  home.global('wal').chat('a', {})
  const file = open()
  expect(() => file.read((db) => db.exec('delete from cursorDiskKV'))).toThrow(/readonly|query_only/)
  file.close()
})

test('a store in the middle of a write is busy and not half read', () => {
  const store = home.global('delete')
  store.chat('a', {})
  store.db.pragma('cache_size = 1')
  store.db.exec('begin immediate')
  for (let row = 0; row < 200; row += 1) store.put(`noise:${row}`, 'x'.repeat(10_000))
  expect(statSync(`${home.globalPath}-journal`).size).toBeGreaterThan(0)
  expect(openCursorFile(home.globalPath)).toMatchObject({ kind: 'closed', state: 'busy' })
  store.db.exec('rollback')
  const file = open()
  expect(countRows(file)).toEqual({ n: 1 })
  file.close()
})

test('a large store that Cursor left half written when it was killed is busy, not unreadable', () => {
  const store = home.global('delete')
  store.put('noise', 'x'.repeat(33 * 1024 * 1024))
  store.db.pragma('cache_size = 1')
  store.db.exec('begin immediate')
  for (let row = 0; row < 200; row += 1) store.put(`noise:${row}`, 'x'.repeat(10_000))
  for (const suffix of ['', '-journal']) copyFileSync(`${home.globalPath}${suffix}`, `${home.globalPath}.left${suffix}`)
  store.db.exec('rollback')
  store.close()
  for (const suffix of ['', '-journal']) renameSync(`${home.globalPath}.left${suffix}`, `${home.globalPath}${suffix}`)
  const file = open()
  const before = fileSignature(home.globalPath)
  let ended: unknown = null
  try {
    countRows(file)
  } catch (error) {
    ended = endedBy(error)
  }
  expect(ended).toMatchObject({
    state: 'busy',
    detail: expect.stringContaining('Cursor ended while it was writing') as string,
  })
  expect(fileSignature(home.globalPath)).toBe(before)
})

test('a file that is replaced during a pass is not read further', () => {
  const store = home.global('wal')
  store.chat('a', {})
  const file = open()
  expect(countRows(file)).toEqual({ n: 1 })
  const beside = new Database(`${home.globalPath}.new`)
  beside.exec('create table cursorDiskKV (key, value)')
  beside.close()
  renameSync(`${home.globalPath}.new`, home.globalPath)
  expect(() => countRows(file)).toThrow(/replaced/)
  file.close()
})

test('a file that is not a database and a missing file have different states', () => {
  expect(openCursorFile(home.globalPath)).toEqual({ kind: 'closed', state: 'missing', detail: null })
  home.global('wal').close()
  writeFileSync(home.globalPath, 'not a database, though it has a name like one')
  expect(openCursorFile(home.globalPath)).toMatchObject({ kind: 'closed', state: 'corrupt' })
})
