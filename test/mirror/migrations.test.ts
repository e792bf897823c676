import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askEverything, differences, type Answers } from '../helpers/all-answers.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { newestVersion, turnBack } from '../helpers/mirror-before.ts'
import { World } from '../helpers/world.ts'

/** The oldest version whose mirrors are kept: that of migration 0022. */
const OLDEST = 21

const versions = Array.from({ length: newestVersion - OLDEST }, (_, at) => OLDEST + at)
const mayDiffer = { everywhere: ['tookMs'] }
let world: World
let before: Answers

const ask = (): Promise<Answers> => {
  const counted = { state: 'ready' }
  const get = async <Answer>(path: string): Promise<Answer> =>
    path === '/api/status' ? (counted as Answer) : world.get<Answer>(path)
  return askEverything({ get })
}

beforeAll(async () => {
  world = await World.open()
  writeAllEras(world.home, world.cursorHome)
  // Earlier versions kept no requests, by which the copies in a fork under new ids are known.
  world.home.global().deleteChat('era-fork-anew')
  await world.sync()
  // What Cursor deleted is in the mirror only.
  world.home.global().db.exec(`delete from cursorDiskKV where rowid % 7 = 0`)
  await world.sync(true)
  before = await ask()
})

afterAll(() => world.remove())

test('there is something to keep, of what Cursor has and of what it deleted', async () => {
  expect(versions.length).toBeGreaterThan(0)
  expect(Object.keys(before).length).toBeGreaterThan(150)
  expect((await world.losses()).length).toBeGreaterThan(5)
})

test.each(versions)('a mirror of version %i gives the same answers after the upgrade', async (version) => {
  await world.restart(() => turnBack(world.mirrorPath, version))
  expect(differences(before, await ask(), mayDiffer)).toEqual([])
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('an upgrade that fails midway leaves the mirror unchanged, and the error says what to do', async () => {
  const look = (): unknown[] => {
    const db = new Database(world.mirrorPath)
    const told = [
      db.pragma('user_version'),
      db.prepare('select name, sql from sqlite_schema order by name').all(),
      db.prepare('select * from messages').all(),
    ]
    db.close()
    return told
  }
  let stateBefore: unknown[] = []
  const spoil = (): void => {
    turnBack(world.mirrorPath, OLDEST)
    const db = new Database(world.mirrorPath)
    // A name that no version used.
    db.exec('alter table messages rename column created_at_source to source_of_time')
    db.close()
    stateBefore = look()
  }
  await expect(world.restart(spoil)).rejects.toMatchObject({
    code: 'mirror-foreign',
    hint: expect.stringContaining('--data-dir') as string,
  })
  expect(stateBefore).toHaveLength(3)
  expect(look()).toEqual(stateBefore)
})
