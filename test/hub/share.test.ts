import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { asChatId } from '../../src/model/ids.ts'
import { HubWorld, pushTogether, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(() => world.remove())
beforeEach(() => world.renew())

const failure = (act: Promise<unknown>): Promise<unknown> => act.then(() => null).catch((error: unknown) => error)

test('what one machine pushes, another one pulls; a second time nothing moves; one message more moves its chat alone', async () => {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  await say(ada, 'one', ['first words', 'an answer'])
  await say(ada, 'two', ['other words'])
  await bob.sync()
  expect(await world.init()).toBe(2)
  expect(await ada.push()).toMatchObject({ pushed: 2, removed: 0, unchanged: 0 })
  expect(await bob.pull()).toMatchObject({ pulled: 2, removed: 0 })
  expect(bob.words()).toEqual(ada.words())
  expect(await ada.push()).toMatchObject({ pushed: 0, unchanged: 2, bytes: 0 })
  expect(await bob.pull()).toMatchObject({ pulled: 0, unchanged: 2, bytes: 0 })
  await say(ada, 'one', ['first words', 'an answer', 'and one more'])
  expect(await ada.push()).toMatchObject({ pushed: 1, unchanged: 1 })
  expect(await bob.pull()).toMatchObject({ pulled: 1, unchanged: 1 })
  expect(bob.words()).toEqual(ada.words())
  // Pulled chats are not pushed on.
  expect(await bob.push()).toMatchObject({ pushed: 0, unchanged: 0 })
})

test('three machines, four rounds: after the first one nothing moves', async () => {
  const all = ['ada', 'bob', 'eve'].map((label) => world.machine(label))
  for (const [at, machine] of all.entries()) {
    await say(machine, `chat-${at}`, [`words of ${at}`])
    // All three have this chat, from a copied home.
    await say(machine, 'common', ['said once', 'answered'])
  }
  const moves: number[] = []
  for (let round = 0; round < 4; round += 1) {
    let moved = 0
    for (const machine of all) moved += (await machine.push()).pushed
    for (const machine of all) moved += (await machine.pull()).pulled
    moves.push(moved)
    for (const machine of all) expect(machine.words()).toEqual(all[0]?.words())
  }
  expect(moves.slice(1)).toEqual([0, 0, 0])
})

/** Writes these parts in place of the message with this text. */
function spoil(machine: Machine, text: string, parts: string): void {
  const db = new Database(machine.path)
  db.prepare(`update bodies set parts = ${parts} where parts like ?`).run(`%${text}%`)
  db.close()
}

const OVER_64_MB = 65 * 1024 * 1024

test.each([false, true])('a damaged chat and one of more than 64 MB are not pushed, redacted: %s', async (redact) => {
  const ada = world.machine('ada', 'admin', { redact })
  for (const id of ['sound', 'damaged', 'large']) await say(ada, id, [`words of ${id}`])
  spoil(ada, 'words of damaged', `'[{"kind":"te'`)
  spoil(ada, 'words of large', `json_array(json_object('kind', 'text', 'text', hex(zeroblob(${OVER_64_MB / 2}))))`)
  const leftOut = [
    { id: 'damaged', why: expect.stringContaining('damaged in the mirror') as string },
    { id: 'large', why: 'it has more than 64 MB of text' },
  ]
  expect(await ada.push()).toMatchObject({ pushed: 1, leftOut })
  expect(await world.count()).toBe(1)
})

test('an object that unpacks to more than 64 MB is marked as damaged, and the pull goes on', async () => {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  for (const id of ['a', 'b', 'c']) await say(ada, id, [`words of ${id}`])
  await bob.sync()
  await ada.push()
  const read = `select object from cursordex.chats where chat = 'b'`
  const [row] = await world.server.sql<{ object: Buffer }>(read, world.url)
  const text = gunzipSync(row?.object ?? '').toString()
  const large = gzipSync(text.replace('words of b', 'x'.repeat(OVER_64_MB)))
  await world.server.sql(
    `update cursordex.chats set object = decode('${large.toString('hex')}', 'hex') where chat = 'b'`,
    world.url,
  )
  expect(await bob.pull()).toMatchObject({ pulled: 2 })
  const states = bob.mirror.prepare('select chat, state from hub_ledger order by chat').raw().all()
  expect(states).toEqual([
    ['a', 'shown'],
    ['b', 'damaged'],
    ['c', 'shown'],
  ])
})

test('two machines of one role push while a third one pulls', async () => {
  const { words, expected } = await pushTogether(world, 10)
  expect(words).toEqual(expected)
})

test('of two machines’ copies the later one is shown, and the other one when it leaves; an own chat hides both', async () => {
  const [ada, bob, eve] = [world.machine('ada'), world.machine('bob'), world.machine('eve')]
  await say(ada, 'x', ['old'])
  await say(bob, 'x', ['old', 'newer'])
  await eve.sync()
  for (const machine of [ada, bob]) await machine.push()
  for (let times = 0; times < 2; times += 1) {
    await eve.pull()
    expect(eve.words()).toEqual(bob.words())
  }
  await world.server.sql(
    `delete from cursordex.chats where machine = (select uuid from cursordex.machines where label = 'bob')`,
    world.url,
  )
  await eve.pull()
  expect(eve.words()).toEqual(ada.words())
  await say(eve, 'x', ['mine'])
  expect(eve.words()).toEqual(['x x-0 [{"kind":"text","text":"mine"}]'])
  await bob.push()
  await eve.pull()
  expect(eve.words()).toEqual(['x x-0 [{"kind":"text","text":"mine"}]'])
})

test('a new hub, and one that was restored from an older backup, end equal after one push and one pull of each', async () => {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  await say(ada, 'one', ['first'])
  await ada.push()
  await bob.sync()
  await bob.pull()
  // The backup: a second database made from the first.
  await world.server.sql(`create database backup template hub`)
  await say(ada, 'one', ['first', 'second'])
  await say(ada, 'two', ['later'])
  await ada.push()
  await bob.pull()
  await world.server.sql('drop database hub with (force)')
  await world.server.sql('alter database backup rename to hub')
  expect(await ada.push()).toMatchObject({ pushed: 2 })
  await bob.pull()
  expect(bob.words()).toEqual(ada.words())
  await world.server.sql('drop database hub with (force)')
  await world.server.sql('create database hub')
  expect(await failure(bob.pull())).toMatchObject({ code: 'hub-missing' })
  await world.init()
  // It has none of the chats: a reader drops its copies.
  expect(await bob.pull()).toMatchObject({ pulled: 0, removed: 2 })
  expect(bob.words()).toEqual([])
  await ada.push()
  await bob.pull()
  expect(bob.words()).toEqual(ada.words())
  expect(await bob.pull()).toMatchObject({ pulled: 0, removed: 0 })
})

const nothing = { chatIds: null, projectUris: null, beforeMs: null, match: null }

test('a purge arrives: in no row and in no mirror, and it does not come back by a later push', async () => {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  await say(ada, 'one', ['plain words', 'the wombat secret', 'more words'])
  await say(ada, 'two', ['another wombat'])
  await say(ada, 'three', ['innocent'])
  await ada.push()
  await bob.sync()
  await bob.pull()
  await ada.purge({ ...nothing, match: 'wombat' })
  await ada.purge({ ...nothing, chatIds: [asChatId('three')] })
  expect((await world.objects()).join()).toContain('wombat')
  // The hub was told before anything else is sent.
  await ada.sharing().sendPurges()
  expect(await world.objects()).toEqual([])
  await ada.push()
  expect((await world.objects()).join()).not.toMatch(/wombat|innocent/)
  await bob.pull()
  expect(bob.words()).toEqual(ada.words())
  expect(bob.words().join()).not.toMatch(/wombat|innocent/)
})

/** A folder of this machine. @param remote null: no repository */
function folderOf(machine: Machine, name: string, remote: string | null): string {
  const folder = join(machine.dataDir, name)
  mkdirSync(folder)
  const git = (...args: string[]): unknown => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' })
  if (remote !== null) {
    git('init')
    git('remote', 'add', 'origin', remote)
  }
  return folder
}

const namesAtHub = async (): Promise<string[]> =>
  (
    await world.server.sql<{ name: string }>(
      `select distinct project as name from cursordex.chats order by project`,
      world.url,
    )
  ).map(({ name }) => name)

test('clones in different folders are one project at the hub and at a reader; other folders stay apart', async () => {
  const [ada, bob, eve] = [world.machine('ada'), world.machine('bob'), world.machine('eve')]
  await say(ada, 'one', ['first'], { project: folderOf(ada, 'app', 'git@github.com:acme/app.git') })
  await say(bob, 'two', ['second'], { project: folderOf(bob, 'clone', 'https://bob:secret@github.com/acme/app') })
  await say(bob, 'three', ['third'], { project: folderOf(bob, 'app', null) })
  await ada.push()
  await bob.push()
  const [own = '', shared] = await namesAtHub()
  expect([shared, own]).toEqual(['github.com/acme/app', expect.stringMatching(/^admin .*\/app$/)])
  await eve.sync()
  await eve.pull()
  const projects = eve.mirror
    .prepare('select count(distinct project) as projects, group_concat(id) as chats from chats group by project')
    .all()
  expect(projects).toEqual(
    expect.arrayContaining([
      { projects: 1, chats: expect.stringMatching(/^(one,two|two,one)$/) },
      { projects: 1, chats: 'three' },
    ]),
  )
})

/** A mirror as it was: put back on its machine, or copied to another one. */
function stateOf(machine: Machine, label: string): Machine {
  const other = world.machine(label)
  for (const file of ['', '-wal']) {
    if (existsSync(`${machine.path}${file}`)) copyFileSync(`${machine.path}${file}`, `${other.path}${file}`)
  }
  return other
}

const idle = { pushed: 0, removed: 0, notice: null }

test('an old mirror that was put back after a purge is a new machine, and what was purged stays away', async () => {
  const [ada, bob] = [world.machine('ada'), world.machine('bob')]
  await say(ada, 'one', ['plain words', 'the wombat secret'])
  await say(ada, 'two', ['another wombat'])
  await say(ada, 'three', ['innocent'])
  await ada.push()
  const old = stateOf(ada, 'ada')
  const older = stateOf(ada, 'ada')
  await ada.purge({ ...nothing, match: 'the wombat secret' })
  await ada.purge({ ...nothing, chatIds: [asChatId('two')] })
  await ada.push()
  const [before] = await machinesAtHub()
  const notice = expect.stringContaining(`cursordex hub forget --machine ${before?.uuid ?? '?'}`)
  expect(await old.push()).toMatchObject({ pushed: 2, notice })
  expect(await old.push()).toMatchObject({ ...idle, unchanged: 2 })
  expect((await world.objects()).join()).not.toContain('wombat')
  // The new machine has the label, and the rows of before are found beside it.
  expect((await machinesAtHub()).map(({ label }) => label)).toEqual(['ada', `ada ${before?.uuid.slice(0, 8) ?? ''}`])
  expect(await world.forget({ machine: before?.uuid })).toBe(2)
  // What the new machine purges stays away too when a third state is put back.
  await old.purge({ ...nothing, match: 'innocent' })
  await old.push()
  await older.push()
  await bob.sync()
  await bob.pull()
  expect((await world.objects()).join()).not.toMatch(/wombat|innocent/)
  expect(bob.words().join()).not.toMatch(/wombat|innocent/)
})

const machinesAtHub = (): Promise<{ uuid: string; label: string }[]> =>
  world.server.sql(`select uuid, label from cursordex.machines order by label`, world.url)

test('of two copies of one mirror the second that pushes is a new machine, and both go on', async () => {
  const ada = world.machine('ada')
  await say(ada, 'one', ['first words'])
  await ada.push()
  const copy = stateOf(ada, 'desk')
  await say(ada, 'later', ['other words'])
  await ada.push()
  expect(await copy.push()).toMatchObject({ pushed: 1, notice: expect.stringContaining('copied or put back') })
  for (const machine of [ada, copy, ada]) expect(await machine.push()).toMatchObject(idle)
  expect((await machinesAtHub()).map(({ label }) => label)).toEqual(['ada', 'desk'])
  // A label belongs to one machine. A lost machine gives it back.
  await say(ada, 'later', ['other words', 'and more'])
  const taken = await failure(ada.sharing({ machine: 'desk' }).push())
  expect(taken).toMatchObject({ code: 'hub-label-taken' })
  await copy.purge({ ...nothing, chatIds: [asChatId('one')] })
  await copy.push()
  expect(await world.forget({ machine: 'desk' })).toBe(0)
  const fresh = world.machine('desk')
  await say(fresh, 'two', ['other words'])
  expect(await fresh.push()).toMatchObject({ pushed: 1, notice: null })
})

test('a hub and a mirror of the version before go on as the same machine', async () => {
  const ada = world.machine('ada')
  await say(ada, 'one', ['first words'])
  await ada.push()
  // That version wrote random letters, and notes of them into a table of its own.
  await world.server.sql(`update cursordex.machines set value = md5('x')`, world.url)
  expect(await world.init()).toBe(2)
  expect(await ada.push()).toMatchObject({ ...idle, unchanged: 1 })
  expect(await machinesAtHub()).toHaveLength(1)
})

test('a chat that came to a project by a merge is sent by hand first, and then by the schedule', async () => {
  const ada = world.machine('ada')
  const push = { projects: ['shop'], redact: false, schedule: '*/10 * * * *' }
  const sharing = () => ada.sharing({ push })
  await say(ada, 'before', ['in the old folder'], { project: '/old/store' })
  await say(ada, 'after', ['in the new folder'], { project: '/new/shop' })
  expect(await sharing().push()).toMatchObject({ pushed: 1, leftOut: [] })
  await ada.writer.act('merge', { uri: 'file:///old/store', target: 'file:///new/shop' })
  expect(await sharing().push()).toMatchObject({ pushed: 0, leftOut: [{ id: 'before' }] })
  expect((await sharing().state()).hub?.waiting).toBe(1)
  expect(await sharing().push({ projects: ['shop'] })).toMatchObject({ pushed: 1, leftOut: [] })
  expect((await sharing().state()).hub?.waiting).toBe(0)
  await say(ada, 'before', ['in the old folder', 'and an answer'], { project: '/old/store' })
  expect(await sharing().push()).toMatchObject({ pushed: 1, leftOut: [] })
})
