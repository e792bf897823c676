import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { KeyAllocator, SLOTS_PER_MS, sortKeyFloor } from '../../src/mirror/write/messages/key-allocator.ts'

const AT_MS = Date.UTC(2025, 4, 5)
const floor = sortKeyFloor(AT_MS)

let db: Database.Database

beforeEach(() => {
  db = new Database(':memory:')
  db.exec('create table messages (key integer primary key)')
})
afterEach(() => db.close())

function take(key: number): number {
  db.prepare('insert into messages (key) values (?)').run(BigInt(key))
  return key
}

/** Writes the messages of one chat without times in one transaction. */
function allocate(keys: KeyAllocator, positions: number): number[] {
  return Array.from({ length: positions }, (_, position) => take(keys.next(AT_MS, position)) - floor)
}

test('messages of one millisecond are ordered by position, and another chat of that millisecond follows', () => {
  expect(allocate(new KeyAllocator(db), 3)).toEqual([0, 1, 2])
  expect(allocate(new KeyAllocator(db), 2)).toEqual([3, 4])
  const keys = new KeyAllocator(db)
  expect([...allocate(keys, 2), ...allocate(keys, 2)]).toEqual([5, 6, 7, 8])
})

test('a free key between taken ones is found, and no key is assigned twice', () => {
  take(floor + 1)
  take(floor + 4)
  const keys = new KeyAllocator(db)
  expect([5, 0, 1, 3, 0, 4, 2].map((position) => take(keys.next(AT_MS, position)) - floor)).toEqual([
    5, 0, 2, 3, 6, 7, 8,
  ])
})

test('keys that are not written yet are not assigned again, and written ones between them are left out', () => {
  take(floor + 2)
  const keys = new KeyAllocator(db)
  const next = (position: number): number => keys.next(AT_MS, position) - floor
  expect([next(5), next(0), next(5), next(1), next(0), next(1)]).toEqual([5, 0, 6, 1, 3, 4])
  expect([next(3), next(0)]).toEqual([7, 8])
  expect([keys.next(null, 0), keys.next(null, 1)]).toEqual([1, 2])
})

/** Counts the rows that are read from now on. */
function countWalked(): () => number {
  let rows = 0
  const prepare = db.prepare.bind(db)
  const counting = (sql: string): Database.Statement => {
    const statement = prepare(sql)
    const iterate = statement.iterate.bind(statement)
    function* walk(...params: unknown[]): Generator {
      for (const row of iterate(...params)) {
        rows += 1
        yield row
      }
    }
    return Object.defineProperty(statement, 'iterate', { value: walk })
  }
  Object.defineProperty(db, 'prepare', { value: counting })
  return () => rows
}

test('many chats without times in one millisecond do not slow down key allocation', () => {
  const taken = 10_000
  db.transaction(() => {
    for (let key = 0; key < taken; key += 1) take(floor + key)
  })()
  const walked = countWalked()
  const given = allocate(new KeyAllocator(db), SLOTS_PER_MS)
  expect(given).toEqual(Array.from({ length: SLOTS_PER_MS }, (_, at) => taken + at))
  // One walk over the taken keys, not one for each assigned key.
  expect(walked()).toBeLessThan(2 * taken)
})
