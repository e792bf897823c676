import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { headers } from '../helpers/cursor.ts'
import { leaksIn, secretKinds, secretTexts } from '../helpers/secret-corpus.ts'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

const bin = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

let world: HubWorld
beforeAll(async () => {
  world = await HubWorld.start()
  for (const role of ['ada', 'bob', 'eve']) await world.server.sql(`create role ${role} login`)
})
afterAll(() => world.remove())
beforeEach(async () => {
  await world.renew()
})

const failure = (act: Promise<unknown>): Promise<unknown> => act.then(() => null).catch((error: unknown) => error)
const as = (role: string, sql: string): Promise<unknown[]> => world.server.sql(sql, world.server.url('hub', role))
const allTables = ['hub', 'machines', 'chats', 'grants', 'purged']

/** Ada pushes two projects and a chat without one. */
async function adaPushes(): Promise<Machine> {
  await world.grant('ada', [], ['*'])
  const ada = world.machine('laptop', 'ada')
  await say(ada, 'red', ['words of red'], { project: '/home/ada/red' })
  await say(ada, 'blue', ['words of blue'], { project: '/home/ada/blue' })
  await say(ada, 'none', ['words of none'])
  expect(await ada.push()).toMatchObject({ pushed: 3 })
  return ada
}

test('a role with one project sees nothing of another, through the product and through plain SQL', async () => {
  const ada = await adaPushes()
  await ada.purge({ chatIds: null, projectUris: null, beforeMs: null, match: 'words of none' })
  await ada.push()
  const granted = await world.grant('bob', ['ada file:///home/ada/red'])
  expect(granted).toEqual({ role: 'bob', read: ['ada file:///home/ada/red'], push: [], password: null })
  const bob = world.machine('desk', 'bob')
  await bob.sync()
  await bob.pull()
  expect(bob.words()).toEqual(['red red-0 [{"kind":"text","text":"words of red"}]'])
  const seen: string[] = []
  for (const table of allTables) seen.push(JSON.stringify(await as('bob', `select * from cursordex.${table}`)))
  expect(seen[2]).toContain('red')
  expect(seen.join()).not.toMatch(/blue|none/)
  expect(seen[4]).toBe('[]')
  const views = await as('bob', `select table_name from information_schema.views where table_schema = 'cursordex'`)
  expect(views).toEqual([])
  // Without any right.
  for (const table of allTables)
    expect(await failure(as('eve', `select * from cursordex.${table}`))).toMatchObject({ code: '42501' })
})

test('a later grant brings all of a project, a revoke takes the copies away, and granted again they come back whole', async () => {
  const ada = await adaPushes()
  await world.grant('bob', ['ada file:///home/ada/red'])
  const bob = world.machine('desk', 'bob')
  await bob.sync()
  await bob.pull()
  await world.grant('bob', ['ada file:///home/ada/blue'])
  expect(await bob.pull()).toMatchObject({ pulled: 1 })
  const both = bob.words()
  expect(both).toEqual(ada.words().filter((line) => !line.startsWith('none')))
  await world.revoke('bob')
  expect(await bob.pull()).toMatchObject({ pulled: 0, removed: 2 })
  expect(bob.words()).toEqual([])
  await world.grant('bob', ['*'])
  await bob.pull()
  expect(bob.words()).toEqual(ada.words())
  expect(await world.server.sql(`select 1 from pg_roles where rolname = 'bob'`)).toHaveLength(1)
})

test('push only, read only, and both', async () => {
  const ada = await adaPushes()
  expect(await ada.pull()).toMatchObject({ pulled: 0 })
  await world.grant('bob', ['*'])
  const bob = world.machine('desk', 'bob')
  await say(bob, 'of-bob', ['words of bob'])
  expect(await failure(bob.push())).toMatchObject({ code: 'hub-rights' })
  expect(await bob.pull()).toMatchObject({ pulled: 3 })
  await world.grant('bob', [], ['*'])
  expect(await bob.push()).toMatchObject({ pushed: 1 })
  expect(await ada.pull()).toMatchObject({ pulled: 0 })
  await world.grant('ada', ['bob (none)'])
  expect(await ada.pull()).toMatchObject({ pulled: 1 })
  await world.revoke('ada')
  await say(ada, 'more', ['words'])
  expect(await failure(ada.push())).toMatchObject({ code: 'hub-rights' })
})

test('push rights are by project: what a role may not push is named with the command that would allow it', async () => {
  const [red, blue, none] = ['ada file:///home/ada/red', 'ada file:///home/ada/blue', 'ada (none)']
  await world.grant('ada', [red, blue, none])
  const ada = world.machine('laptop', 'ada')
  for (const color of ['red', 'blue']) await say(ada, color, [`words of ${color}`], { project: `/home/ada/${color}` })
  await say(ada, 'none', ['words of none'])
  const command = (project: string): string => `cursordex hub grant ada --push '${project}'`
  expect(await failure(ada.push())).toMatchObject({
    code: 'hub-rights',
    message: `The role ada may not push to ${red}, ${blue}, ${none}.`,
    hint: expect.stringContaining(`cursordex hub grant ada --push '${red}' --push '${blue}'`) as string,
  })
  await world.grant('ada', [], [red])
  const why = (project: string): unknown => expect.stringContaining(command(project))
  expect(await ada.push()).toMatchObject({
    pushed: 1,
    leftOut: [
      { id: 'blue', why: why(blue) },
      { id: 'none', why: why(none) },
    ],
  })
  const columns = 'machine, chat, project, sequence, revision, redaction, object_version, object'
  for (const sql of [
    `update cursordex.chats set project = '${blue}'`,
    `insert into cursordex.chats (${columns}) select machine, 'x', '${blue}', 9, 1, 0, 1, object from cursordex.chats`,
    `insert into cursordex.grants values ('ada', '${blue}', true)`,
  ])
    expect([sql, await failure(as('ada', sql))]).toMatchObject([sql, { code: '42501' }])
  expect(await world.objects()).toHaveLength(1)
  await world.grant('ada', [], [blue])
  expect(await ada.push()).toMatchObject({ pushed: 1, unchanged: 1, leftOut: [{ id: 'none' }] })
  await world.grant('ada', [], ['*'])
  expect(await ada.push()).toMatchObject({ pushed: 1, unchanged: 2, leftOut: [] })
})

test.each([
  ['--push red --push blue', 0, 'bob may push red, push blue.'],
  ['--push * --read red', 0, 'bob may read red, push *.'],
  ['--push --read red', 2, '--read stands where a project is expected'],
  ['--push', 2, "'--push <project>' argument missing"],
  ['', 2, 'No right is named'],
])('hub grant bob %s: exit code %i', (words, status, says) => {
  const argv = [bin, 'hub', 'grant', 'bob', ...words.split(' ').filter((word) => word !== ''), '--hub-url', world.url]
  const ran = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  expect(`${ran.stdout}${ran.stderr}`).toContain(says)
  expect(ran.status).toBe(status)
})

test('nobody writes to a machine that another role registered, by any statement', async () => {
  await adaPushes()
  await world.grant('bob', ['*'], ['*'])
  const bob = world.machine('desk', 'bob')
  await say(bob, 'own', ['words'])
  await bob.push()
  const [machine] = await world.server.sql<{ uuid: string }>(
    `select uuid from cursordex.machines where owner = 'ada'`,
    world.url,
  )
  const uuid = machine?.uuid ?? ''
  const before = await world.server.sql(
    `select machine, chat, sequence, revision, owner from cursordex.chats where owner = 'ada' order by chat`,
    world.url,
  )
  const columns = 'machine, chat, project, sequence, revision, redaction, object_version, object'
  const values = (owner: string): string => `('${uuid}', '${randomUUID()}', 'p', 1, 1, 0, 1, '\\x00', '${owner}')`
  const attempts = [
    `insert into cursordex.chats (${columns}, owner) values ${values('bob')}`,
    `insert into cursordex.chats (${columns}, owner) values ${values('ada')}`,
    `insert into cursordex.chats (${columns}) select ${columns} from cursordex.chats where owner = 'ada' on conflict (machine, chat) do update set object = '\\x01'`,
    `update cursordex.chats set object = '\\x01' where machine = '${uuid}'`,
    `update cursordex.chats set machine = '${uuid}' where owner = 'bob'`,
    `update cursordex.chats set owner = 'ada', machine = '${uuid}' where owner = 'bob'`,
    `delete from cursordex.chats where machine = '${uuid}'`,
    `update cursordex.machines set label = 'mine' where uuid = '${uuid}'`,
    `update cursordex.machines set owner = 'bob' where uuid = '${uuid}'`,
    `update cursordex.machines set owner = 'ada' where owner = 'bob'`,
    `delete from cursordex.machines where uuid = '${uuid}'`,
    `insert into cursordex.machines (uuid, label, owner) values ('${randomUUID()}', 'x', 'ada')`,
    `insert into cursordex.purged (machine, chat) values ('${uuid}', 'red')`,
    `insert into cursordex.purged (machine, chat, owner) values ('${uuid}', 'red', 'ada')`,
    `merge into cursordex.chats c using (select 1) one on c.machine = '${uuid}' when matched then delete`,
    `insert into cursordex.grants (role, project) values ('bob', 'x')`,
    `update cursordex.hub set salt = ''`,
    `alter table cursordex.chats disable row level security`,
    `create table cursordex.extra (x int)`,
    ...allTables.map((table) => `truncate cursordex.${table} cascade`),
    `lock table cursordex.chats in access exclusive mode`,
    `select object from cursordex.chats where machine = '${uuid}' for update`,
  ]
  for (const sql of attempts) await failure(as('bob', sql))
  const after = await world.server.sql(
    `select machine, chat, sequence, revision, owner from cursordex.chats where owner = 'ada' order by chat`,
    world.url,
  )
  expect(after).toEqual(before)
  expect(
    await world.server.sql(`select uuid, owner, label from cursordex.machines where owner = 'ada'`, world.url),
  ).toEqual([{ uuid, owner: 'ada', label: 'laptop' }])
  expect(await world.count('purged')).toBe(0)
  expect(await world.count('machines')).toBe(2)
  expect((await world.objects(`owner = 'ada'`)).join()).toContain('words of red')
})

test('a role that is missing is made with a password that is told once, and only its verifier is sent', async () => {
  const granted = await world.grant('new Role', ['*'], ['*'])
  expect(granted.password).toMatch(/^[\w-]{24}$/)
  const [stored] = await world.server.sql<{ rolpassword: string }>(
    `select rolpassword from pg_authid where rolname = 'new Role'`,
  )
  expect(stored?.rolpassword).toMatch(/^SCRAM-SHA-256\$/)
  await world.revoke('new Role')
  await world.server.sql('drop role "new Role"')
})

test('what is forgotten at the hub goes from the readers, and a machine that names it sends it again', async () => {
  const ada = await adaPushes()
  await world.grant('bob', ['*'])
  const bob = world.machine('desk', 'bob')
  await bob.sync()
  await bob.pull()
  expect(await world.forget({ project: 'ada file:///home/ada/red' })).toBe(1)
  expect(await bob.pull()).toMatchObject({ removed: 1 })
  expect(await world.forget({ machine: 'laptop' })).toBe(2)
  expect(await bob.pull()).toMatchObject({ removed: 2 })
  expect(await ada.push()).toMatchObject({ pushed: 3 })
  await bob.pull()
  expect(bob.words()).toEqual(ada.words())
})

test('no kind of secret, in text, thinking, code, tools or titles, and no path of a folder is in a row, unless redaction is off', async () => {
  const ada = world.machine('ada', 'admin', { redact: true })
  await say(ada, 'one', ['hello'], { project: '/srv/of-ada/shop' })
  const store = ada.home.global()
  const createdAt = new Date(Date.UTC(2026, 1, 3, 8)).toISOString()
  const ids = secretTexts.flatMap((_, at) => [`q${at}`, `a${at}`, `t${at}`])
  store.chat('corpus', { name: 'corpus', createdAt: Date.parse(createdAt), fullConversationHeadersOnly: headers(ids) })
  for (const [at, { text }] of secretTexts.entries()) {
    store.message('corpus', `q${at}`, { _v: 3, type: 1, text, createdAt })
    const codeBlocks = [{ content: text, languageId: 'sh', uri: { fsPath: '/tmp/a.sh' } }]
    store.message('corpus', `a${at}`, { _v: 3, type: 2, thinking: { text }, codeBlocks, createdAt })
    const call = { name: 'run_terminal_cmd', status: 'completed', toolCallId: `c${at}` }
    const [params, result] = [{ command: text }, { output: text }].map((given) => JSON.stringify(given))
    store.message('corpus', `t${at}`, { _v: 3, type: 2, toolFormerData: { ...call, params, result }, createdAt })
  }
  for (const [at, kind] of [...secretKinds].entries()) {
    const name = secretTexts.find((each) => each.kind === kind)?.text ?? ''
    store.chat(`titled-${at}`, {
      name,
      createdAt: Date.parse(createdAt),
      fullConversationHeadersOnly: headers([`m${at}`]),
    })
    store.message(`titled-${at}`, `m${at}`, { _v: 3, type: 1, text: 'hello', createdAt })
  }
  store.close()
  await ada.sync()
  const chats = secretKinds.size + 2
  expect(await ada.push()).toMatchObject({ pushed: chats })
  const text = (await world.objects()).join('\n')
  expect(text.match(/run_terminal_cmd/g)).toHaveLength(secretTexts.length)
  expect(text.match(/masked: github-token/g)?.length).toBeGreaterThan(20)
  expect(leaksIn(text)).toEqual([])
  expect(text).not.toContain('/srv/of-ada')
  const project = `select project from cursordex.chats where chat = 'one'`
  const [row] = await world.server.sql<{ project: string }>(project, world.url)
  expect(row?.project).toMatch(/^admin shop#[\da-f]{16}$/)
  const settings = { push: { ...ada.settings.push, redact: false } }
  expect(await ada.sharing(settings).push()).toMatchObject({ pushed: chats })
  const leaks = leaksIn((await world.objects()).join('\n'))
  // Some kinds have the secret of another kind.
  const found = new Set(leaks.map((leak) => leak.split(': ')[0]))
  expect(found.size).toBeGreaterThan(secretKinds.size * 0.8)
})
