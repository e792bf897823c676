import { createHmac } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { openIndexed } from '../helpers/in-process.ts'
import { turnBack } from '../helpers/mirror-before.ts'
import { PurgeHome, purgeStateOf } from '../helpers/purge-home.ts'
import { findBytes, PurgeHere } from '../helpers/purge-world.ts'
import { World } from '../helpers/world.ts'

// What was purged stays out, whatever becomes of the mirror.
const SECRET = 'Kumquat-Vortex-55'
const FILES = ['', '-wal', '-shm', '-clean']
let place: PurgeHome

beforeEach(async () => {
  place = await PurgeHome.open()
  place.chat('a', [`it is ${SECRET}`, 'noted'], { name: 'Of a' })
  place.chat('b', ['whole of the walnutbough', 'gone too'], { name: 'Of b' })
  place.chat('c', ['stays', 'stays too'], { name: 'Of c' })
  await place.archive()
})
afterEach(() => place.remove())

const userFile = (): string => join(place.folder, 'user.db')
const without = (...names: readonly string[]): void => {
  for (const name of names) for (const end of FILES) rmSync(`${join(place.folder, name)}${end}`, { force: true })
}
const all = async (): Promise<readonly string[]> => [
  ...(await place.messages('a')),
  ...(await place.messages('b')),
  ...(await place.messages('c')),
]
const STAYS = ['a2', 'c1', 'c2']
const state = () => purgeStateOf(place.world.mirrorPath)

async function purgeBoth(): Promise<void> {
  expect(await place.purge({ match: SECRET })).toMatchObject({ messages: 1, found: [] })
  expect(await place.purge({ chats: ['b'] })).toMatchObject({ messages: 2 })
}

/** What is there after all was read again, the archives were restored, and what a purge left was finished. */
async function tellAll() {
  await place.pass()
  await place.world.post('/api/archives/newest/restore', {})
  await place.world.engine.purging().resume()
  const { lostBars, isDone } = state()
  return {
    messages: await all(),
    files: [...place.filesWith(SECRET), ...place.filesWith('walnutbough')],
    lostBars,
    isDone,
  }
}

const GONE = { messages: STAYS, files: [], lostBars: 0, isDone: true }

describe('what was purged does not come back', () => {
  test('if the mirror is deleted', async () => {
    await purgeBoth()
    await place.world.restart(() => without('mirror.db'))
    expect(await tellAll()).toEqual(GONE)
  })

  test('if the mirror is damaged', async () => {
    await purgeBoth()
    await place.world.restart(() => {
      without('mirror.db-clean')
      truncateSync(place.world.mirrorPath, statSync(place.world.mirrorPath).size - 20 * 16384)
      rmSync(`${place.world.mirrorPath}-clean`, { force: true })
    })
    expect(await tellAll()).toEqual(GONE)
  })

  test('if the mirror is put back from before the purge', async () => {
    const before = join(place.world.home.root, 'before.db')
    const moveAll = (from: string, to: string): void => {
      for (const end of FILES) if (existsSync(from + end)) cpSync(from + end, to + end)
    }
    await place.world.restart(() => moveAll(place.world.mirrorPath, before))
    await purgeBoth()
    await place.world.restart(() => {
      without('mirror.db')
      moveAll(before, place.world.mirrorPath)
      expect(place.filesWith(SECRET)).not.toEqual([])
    })
    expect(await tellAll()).toEqual(GONE)
  })

  test('if the archives are put back from before the purge, and restored', async () => {
    const before = join(place.world.home.root, 'before')
    cpSync(place.archives, before, { recursive: true })
    await purgeBoth()
    for (const chat of ['a', 'b', 'c']) for (const key of [`composerData:${chat}`]) place.store.delete(key)
    await place.world.post('/api/archives/newest/restore', { from: before })
    expect(await all()).toEqual(STAYS)
  })

  test('if the mirror is of an older version, which had the bars itself', async () => {
    const salt = 'the-salt'
    const secret = 'the-secret'
    const hashOf = (key: string, ...words: string[]): string =>
      createHmac('sha256', key).update(JSON.stringify(words)).digest('base64url')
    const text = `it is ${SECRET}`
    await place.world.restart(() => {
      without('user.db')
      turnBack(place.world.mirrorPath)
      const db = new Database(place.world.mirrorPath)
      db.prepare('insert into purge_salt (salt) values (?)').run(salt)
      const add = db.prepare('insert into tombstones (kind, hash, size) values (?, ?, ?)')
      add.run('chat', hashOf(salt, 'chat', 'b'), null)
      add.run('message', hashOf(salt, 'message', 'c', 'c2'), null)
      add.run('text', hashOf(secret, 'text', text), text.length)
      db.exec('insert into purges (begun_at) values (1)')
      db.close()
      writeFileSync(join(place.folder, 'purge.key'), `${secret}\n`)
    })
    expect(await all()).toEqual(['a2', 'c1'])
    await place.pass()
    expect(await all()).toEqual(['a2', 'c1'])
    expect(state()).toMatchObject({ bars: 3, lostBars: 0 })
    expect(existsSync(join(place.folder, 'purge.key'))).toBe(false)
  })
})

describe('if bars are missing, nothing is read from Cursor', () => {
  const everything = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2']
  const acts: readonly (readonly [string, () => void, readonly string[]])[] = [
    ['user.db is deleted, and an archive has the ids', () => without('user.db'), STAYS],
    ['user.db cannot be read', () => writeFileSync(userFile(), 'no database at all '.repeat(999)), STAYS],
    [
      'user.db cannot be read, the mirror is deleted, and no archive has it',
      () => {
        writeFileSync(userFile(), 'no database at all '.repeat(999))
        without('mirror.db', 'archives/bars.json')
      },
      everything,
    ],
    ['user.db and the mirror are deleted, and an archive knows', () => without('user.db', 'mirror.db'), STAYS],
    ['user.db is deleted, and no archive has it', () => without('user.db', 'archives/bars.json'), everything],
  ]

  test.each(acts)('%s', async (_, act, left) => {
    await purgeBoth()
    await place.archive()
    const kept = readFileSync(userFile())
    await place.world.restart(act)
    await expect(place.pass()).rejects.toThrow('cursordex purge --accept-lost-bars')
    await expect(place.purge({ chats: ['c'] })).rejects.toThrow('bars-lost')
    expect(await place.world.get('/api/status')).toMatchObject({
      state: 'degraded',
      reasons: [expect.stringContaining('missing in user.db')],
    })
    expect(state().lostBars).toBeGreaterThan(0)
    expect(await place.messages('b')).toEqual([])
    // It is put back.
    await place.world.restart(() => writeFileSync(userFile(), kept))
    expect(await tellAll()).toEqual(GONE)
    // Or the user goes on without.
    await place.world.restart(act)
    await expect(place.pass()).rejects.toThrow('bars-lost')
    expect(await place.world.post('/api/purge/accept-lost-bars')).toMatchObject({ lostBars: 0 })
    await place.pass()
    await place.world.restart(() => without('mirror.db'))
    await place.pass()
    expect(await all()).toEqual(left)
  })

  test('except what ids keep out, if only ids are missing and an archive has them', async () => {
    await place.purge({ chats: ['b'] })
    await place.archive()
    await place.world.restart(() => without('user.db', 'mirror.db'))
    await place.pass()
    expect(await all()).toEqual(['a1', 'a2', 'c1', 'c2'])
  })
})

test('damage in user.db counts as bars that cannot be read, not as damage of the mirror, and each damaged file is kept', async () => {
  await purgeBoth()
  const kept = readFileSync(userFile())
  const damagedFiles = () => readdirSync(place.folder).filter((name) => name.includes('damaged'))
  const changedBy = (table: string) => (): void => {
    const db = new Database(userFile())
    db.exec(table)
    db.close()
  }
  const harms = [
    () => writeFileSync(userFile(), 'no database at all '.repeat(999)),
    changedBy('drop table bars'),
    changedBy('alter table keys rename column kind to other'),
  ]
  const names = ['user.db.damaged']
  for (const [at, harm] of harms.entries()) {
    harm()
    if (at > 0) names.push(`user.db.damaged-${at + 1}`)
    expect(await place.archiveAsItIs()).toMatchObject({ error: expect.stringContaining('cannot be read in user.db') })
    await expect(place.pass()).rejects.toThrow('bars-lost')
    expect(damagedFiles()).toEqual(names)
    writeFileSync(userFile(), kept)
  }
  expect(await tellAll()).toEqual(GONE)
  expect(damagedFiles()).toHaveLength(3)
})

test('the file is closed to others, and what goes with an archive has no key of a text', async () => {
  await purgeBoth()
  expect(statSync(userFile()).mode & 0o777).toBe(0o600)
  const db = new Database(userFile())
  const [textKey, idKey] = ['text', 'id'].map((kind) =>
    db.prepare('select key from keys where kind = ?').pluck().get(kind),
  )
  db.close()
  const path = join(place.archives, 'bars.json')
  const packed = readFileSync(path, 'utf8')
  expect([packed.includes(String(textKey)), packed.includes(String(idKey)), /"text"/.test(packed)]).toEqual([
    false,
    true,
    false,
  ])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await place.isSound()).toBe(true)
})

test('of an archive folder that several data folders use, nobody takes the bars of another one for its own', async () => {
  await purgeBoth()
  const other = await World.open({ home: place.world.home, config: { archives: { dir: place.archives } } })
  await other.sync()
  expect((await other.thread('b')).map(([id]) => id)).toEqual(['b1', 'b2'])
  await other.close()
})

test('the same words may be said in another chat', async () => {
  await place.purge({ match: SECRET })
  place.chat('d', [`it is ${SECRET}`])
  await place.pass()
  expect(await place.messages('d')).toEqual(['d1'])
})

test('a purge waits until what is new in Cursor is read', async () => {
  const { store, indexer } = openIndexed()
  const say = (text: string): void => {
    store.chat('a', { fullConversationHeadersOnly: headers(['a1']) })
    store.message('a', 'a1', { type: 1, text })
  }
  say('nothing yet')
  await indexer.pass()
  say(`it is ${SECRET}`)
  const here = new PurgeHere(indexer.folder, {
    sync: async () => {
      // Longer than the purge would take.
      await new Promise((resolve) => setTimeout(resolve, 500))
      await indexer.pass('values')
      indexer.mirror.close()
      return { changed: 0, added: 0, gone: 0, tookMs: 0, reasons: [] }
    },
  })
  expect(await here.purge({ match: SECRET })).toMatchObject({ messages: 1, found: [] })
  expect(findBytes(indexer.folder, SECRET)).toEqual([])
})
