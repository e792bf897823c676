import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { tables } from '../../src/hub/schema.ts'
import { hostileRows, objectOf, type HostileRow } from './hostile-rows.ts'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

// What a member with push rights writes by SQL of its own: what it does to readers, and to the chats of others.
let world: HubWorld
const rows = hostileRows()
beforeAll(async () => {
  world = await HubWorld.start()
  for (const role of ['ada', 'bob', 'mallory']) await world.server.sql(`create role ${role} login`)
})
afterAll(() => world.remove())

async function grantAll(): Promise<void> {
  for (const role of ['ada', 'mallory']) await world.grant(role, [], ['*'])
  await world.grant('bob', ['*'])
}
beforeEach(async () => {
  await world.renew()
  await grantAll()
})

/** A server that refuses nothing: a hub of the version before, or one whose owner is hostile. */
async function refuseNothing(): Promise<void> {
  const checks = await world.server.sql<{ drop: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop from pg_constraint
     where contype = 'c' and connamespace = 'cursordex'::regnamespace`,
    world.url,
  )
  for (const { drop } of checks) await world.server.sql(drop, world.url)
}

const columns = 'machine, chat, project, sequence, revision, redaction, object_version, object'

/** Mallory registers a machine and writes these rows. @returns the names of those that the hub refused */
async function put(given: Readonly<Record<string, HostileRow>>): Promise<string[]> {
  const client = new Client({ connectionString: world.server.url('hub', 'mallory') })
  await client.connect()
  await client.query(`insert into cursordex.machines (uuid, label) values ('evil', 'evil')`)
  const refused: string[] = []
  for (const [at, [name, row]] of Object.entries(given).entries()) {
    const { chat = name, project = 'p', sequence = String(1000 + at) } = row
    const sql = `insert into cursordex.chats (${columns}) values ('evil', $1, $2, ${sequence}, 1, 0, 1, $3)`
    // 23514: a CHECK.
    await client.query(sql, [chat, project, row.object ?? objectOf(chat)]).catch((error: { code?: string }) => {
      refused.push(error.code === '23514' ? name : `${name}: ${error.code}`)
    })
  }
  await client.end()
  return refused
}

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

interface Ran {
  readonly answer: Readonly<Record<string, unknown>>
  /** The most that the process had at once. */
  readonly memoryMb: number
}

/** Runs a command of the hub in a process of its own. */
async function run(machine: Machine, ...words: readonly string[]): Promise<Ran> {
  machine.shut()
  const places = ['--data-dir', machine.dataDir, '--cursor-user-dir', '', '--cursor-home', '']
  const argv = ['hub', ...words, '--json', ...places, '--hub-url', machine.settings.url ?? '']
  const child = spawn(process.execPath, [bin, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] })
  let [said, memoryMb] = ['', 0]
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  const timer = setInterval(() => {
    const [, kb = '0'] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    memoryMb = Math.max(memoryMb, Number(kb) / 1024)
  }, 10)
  await once(child, 'close').finally(() => clearInterval(timer))
  return { answer: JSON.parse(said) as Ran['answer'], memoryMb }
}

const ledgerOf = ({ mirror }: Machine): Record<string, string> =>
  Object.fromEntries(
    mirror.prepare<[], [string, string]>(`select chat, state from hub_ledger where machine = 'evil'`).raw().all(),
  )

test('every hostile row is one line that is marked as damaged, all else is pulled, in less than 400 MB, and only once', async () => {
  const [ada, bob] = [world.machine('ada', 'ada'), world.machine('bob', 'bob')]
  for (const id of ['one', 'two']) await say(ada, id, [`words of ${id}`])
  await bob.sync()
  await refuseNothing()
  expect(await put(rows)).toEqual([])
  await world.server.sql(`update cursordex.machines set label = repeat('x', 100000), pushed_at = 'infinity'`, world.url)
  await ada.push()
  const sound = Object.keys(rows).filter((name) => rows[name]?.isSound === true)
  const damaged = Object.keys(rows).length - sound.length
  const { answer, memoryMb } = await run(bob, 'pull', '--project', '*')
  expect(answer).toMatchObject({ pulled: 2 + sound.length, removed: 0 })
  expect(memoryMb).toBeGreaterThan(50)
  expect(memoryMb).toBeLessThan(400)
  const states = ledgerOf(bob)
  const found = Object.keys(states).filter((name) => states[name] === 'shown')
  expect(found.sort()).toEqual(sound.sort())
  expect(Object.values(states).filter((state) => state === 'damaged')).toHaveLength(damaged)
  expect(bob.words()).toEqual(expect.arrayContaining(ada.words()))
  const again = await run(bob, 'pull', '--project', '*')
  expect(again.answer).toMatchObject({ pulled: 0, removed: 0, bytes: 0 })
  const { answer: status } = await run(bob, 'status')
  expect(status).toMatchObject({ error: null, damaged: [{ machine: 'evil', chats: damaged }] })
  // It is read when it was mended.
  const mend = `update cursordex.chats set sequence = 77 where chat = 'sequence -1'`
  await world.server.sql(mend, world.url)
  expect(await bob.pull()).toMatchObject({ pulled: 1 })
})

/** What the schema refuses by itself. */
const refusedRows = new Set(
  `sequence beyond 2^53, largest sequence, sequence 0, sequence -1, smallest sequence, no bytes, garbage bytes,
  object of 70 MB, id of 100 kB, id without letters, project of 100 kB`.split(/,\s+/),
)
const refused = Object.keys(rows).filter((name) => refusedRows.has(name))

test('a new hub refuses what it can see', async () => {
  expect(await put(rows)).toEqual(refused)
})

test('a hub of the version before is upgraded when its owner connects: rows and rights stay, and it refuses the same', async () => {
  await world.server.sql('drop schema cursordex cascade', world.url)
  await world.server.sql(tables, world.url)
  const all = ['hub', 'machines', 'chats', 'grants', 'purged'].map((table) => `cursordex.${table}`).join()
  await world.server.sql(
    `grant usage on schema cursordex to mallory, bob; grant select on ${all} to bob;
     grant select, insert, update, delete on ${all} to mallory;
     insert into cursordex.grants values ('mallory', '', true), ('mallory', 'p', false), ('bob', '*', false)`,
    world.url,
  )
  const bob = world.machine('bob', 'bob')
  await bob.sync()
  const failed: unknown = await bob.pull().catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'hub-older', hint: expect.stringContaining('cursordex hub init') as string })
  await put({ before: {}, 'garbage bytes': rows['garbage bytes'] ?? {} })
  expect(await world.init()).toBe(2)
  expect(await bob.pull()).toMatchObject({ pulled: 1 })
  expect(ledgerOf(bob)).toEqual({ before: 'shown', 'garbage bytes': 'damaged' })
  const granted = await world.server.sql(`select project, push from cursordex.grants where role = 'mallory'`, world.url)
  expect(granted).toEqual(
    expect.arrayContaining([
      { project: '*', push: true },
      { project: 'p', push: false },
    ]),
  )
  await world.server.sql('delete from cursordex.chats; delete from cursordex.machines', world.url)
  expect(await put(rows)).toEqual(refused)
})

const activity = ({ mirror }: Machine): Record<string, number> =>
  Object.fromEntries(mirror.prepare<[], [string, number]>('select id, last_activity_at from chats').raw().all())

test('a time that is not yet counts as now', async () => {
  const bob = world.machine('bob', 'bob')
  await bob.sync()
  await put({ 'time in 2200': rows['time in 2200'] ?? {} })
  const before = Date.now()
  await bob.pull()
  const at = activity(bob)['time in 2200'] ?? 0
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(Date.now())
})

test('the first role that has a chat’s id keeps it: another role neither replaces nor hides the chat', async () => {
  const [ada, bob] = [world.machine('ada', 'ada'), world.machine('bob', 'bob')]
  await say(ada, 'one', ['words of ada'])
  await say(bob, 'own', ['words of bob'])
  await ada.push()
  const later = { sentAt: '2200-01-01T00:00:00.000Z' }
  await put({ early: {}, one: { object: objectOf('one', {}, later) } })
  const words = (machine: Machine): string[] => machine.words().filter((line) => /^(one|own) /.test(line))
  const expected = [...ada.words(), ...bob.words()]
  const fresh = world.machine('fresh', 'bob')
  await fresh.sync()
  for (const [at, act] of [
    'select 1',
    `update cursordex.chats set chat = 'one', object = (select object from cursordex.chats where chat = 'one' and machine = 'evil'), sequence = 9 where chat = 'early'
       and not exists (select from cursordex.chats where chat = 'one' and machine = 'evil')`,
    `update cursordex.chats set sequence = sequence + 10, first_at = '2000-01-01'`,
    `delete from cursordex.chats where chat = 'one'; update cursordex.chats set chat = 'one', object = decode('${objectOf('one', { childChatIds: ['own'] }).toString('hex')}', 'hex'), first_at = '2000-01-01', sequence = 5000`,
  ].entries()) {
    await world.server.sql(act, world.server.url('hub', 'mallory'))
    await bob.pull()
    expect([at, words(bob)]).toEqual([at, expected])
    await fresh.pull()
    expect([at, words(fresh)]).toEqual([at, ada.words()])
  }
  // When ada takes hers back, the other copy is shown.
  await world.forget({ machine: 'ada' })
  await bob.pull()
  expect(words(bob)).toEqual([
    'one m [{"kind":"text","text":"hello"}]',
    'own own-0 [{"kind":"text","text":"words of bob"}]',
  ])
})

test('a chat that names chats of others as its subagents neither hides them nor takes them along in a purge', async () => {
  const [ada, bob] = [world.machine('ada', 'ada'), world.machine('bob', 'bob')]
  await say(ada, 'of-ada', ['words of ada'])
  await say(bob, 'own', ['words of bob'])
  await ada.push()
  await put({ first: { object: objectOf('first', { childChatIds: ['own', 'of-ada', 'later'] }) } })
  await bob.pull()
  await say(ada, 'later', ['later words'])
  await ada.push()
  await bob.pull()
  const hidden = bob.mirror.prepare('select id from chats where is_subagent = 1').all()
  expect(hidden).toEqual([])
  await bob.purge({ chatIds: ['first'] as never, projectUris: null, beforeMs: null, match: null })
  await bob.pull()
  expect(Object.keys(activity(bob)).sort()).toEqual(['later', 'of-ada', 'own'])
})
