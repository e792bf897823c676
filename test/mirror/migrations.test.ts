import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askEverything, differences, type Answers } from '../helpers/all-answers.ts'
import { writeAllEras } from '../helpers/eras/all-eras.ts'
import { turnBack } from '../helpers/mirror-before.ts'
import { World } from '../helpers/world.ts'

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
  expect(Object.keys(before).length).toBeGreaterThan(150)
  expect((await world.losses()).length).toBeGreaterThan(5)
})

/** All tables, indexes and triggers, however they are typed. */
function describeSchema(): unknown[] {
  const db = new Database(world.mirrorPath, { readonly: true })
  const list = (sql: string): unknown[] => db.prepare(sql).raw().all()
  const made = list('select type, name, sql from sqlite_schema order by type, name') as string[][]
  db.close()
  const typed = (sql: string | undefined): string | undefined => sql?.toLowerCase().replaceAll(/[\s"]/g, '')
  return made.map(([type, name, sql]) => [type, name, typed(sql ?? '')])
}

test('a mirror of schema 22 has the schema of a new one after the upgrade, and gives the same answers', async () => {
  const ofNew = describeSchema()
  let ofOld: unknown[] = []
  await world.restart(() => {
    turnBack(world.mirrorPath)
    ofOld = describeSchema()
  })
  expect(ofOld).not.toEqual(ofNew)
  // Calls are counted in the background. The index that was in the mirror goes when the new one is complete.
  await world.sync()
  expect(describeSchema()).toEqual(ofNew)
  expect(differences(before, await ask(), mayDiffer)).toEqual([])
  expect(await world.post('/api/sync', { full: true })).toMatchObject({ added: 0, changed: 0, gone: 0 })
})

test('an upgrade that fails midway leaves the mirror unchanged', async () => {
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
    turnBack(world.mirrorPath)
    const db = new Database(world.mirrorPath)
    // A name that no version used.
    db.exec('alter table messages rename column created_at_source to source_of_time')
    db.close()
    stateBefore = look()
  }
  await expect(world.restart(spoil)).rejects.toThrow('created_at_source')
  expect(stateBefore).toHaveLength(3)
  expect(look()).toEqual(stateBefore)
})
