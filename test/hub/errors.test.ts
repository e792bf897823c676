import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { UserError } from '../../src/model/user-error.ts'
import { byCut, byKill, endEarly } from './cut-connections.ts'
import { HubWorld, say } from './hub-world.ts'
import type { Machine } from './machine.ts'

let world: HubWorld
let ada: Machine
const servers: Server[] = []

beforeAll(async () => {
  world = await HubWorld.start()
})
afterAll(async () => {
  for (const server of servers) server.close()
  await world.remove()
})
beforeEach(async () => {
  await world.renew()
  ada = world.machine('ada')
  await say(ada, 'one', ['first words'])
})

/** The error of a push, which must be a sentence with a remedy that names no password. */
async function failure(url: string): Promise<string> {
  const error: unknown = await ada
    .sharing({ url })
    .push()
    .catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UserError)
  const { code, message, hint } = error as UserError
  expect(message).toMatch(/^[A-Zh][^\n]*\.$/)
  expect(hint).not.toBe('')
  expect(`${message} ${hint}`).not.toContain('hunter2')
  return code
}

/** Nothing is lost here: the next push sends all. */
const pushesAll = async (): Promise<void> => expect(await ada.push()).toMatchObject({ pushed: 1 })

async function listening(server: Server): Promise<number> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('a wrong address, a missing database, and a hub that is not there', async () => {
  const port = await listening(createServer())
  const [server] = servers.splice(-1)
  server?.close()
  const found = []
  for (const url of [
    'not an address',
    'http://db.example/x',
    `postgres://ada:hunter2@127.0.0.1:${port}/hub`,
    'postgres://ada:hunter2@nobody.invalid/hub?sslmode=disable',
    world.server.url('nothing'),
    world.server.url('postgres'),
  ]) {
    found.push(await failure(url))
  }
  const unreachable = ['hub-unreachable', 'hub-unreachable']
  expect(found).toEqual(['hub-url', 'hub-url', ...unreachable, 'hub-database', 'hub-missing'])
  await pushesAll()
})

test('a wrong password, and a right one in the file of passwords', async () => {
  await world.server.sql(`create role locked login superuser password 'right'`)
  const hba = join(world.server.data, 'pg_hba.conf')
  writeFileSync(hba, 'host all locked 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n')
  await world.server.sql('select pg_reload_conf()')
  const url = world.server.url('hub', 'locked')
  expect(await failure(url.replace('locked@', 'locked:hunter2@'))).toBe('hub-password')
  expect(await failure(url)).toBe('hub-password')
  const file = join(ada.dataDir, 'pgpass')
  writeFileSync(file, `127.0.0.1:${world.server.port}:hub:locked:right\n`, { mode: 0o600 })
  process.env['PGPASSFILE'] = file
  try {
    expect(await ada.sharing({ url }).push()).toMatchObject({ pushed: 1 })
  } finally {
    delete process.env['PGPASSFILE']
  }
})

test('a server that is too old', async () => {
  // The real server, which says that it is an older one.
  const port = await listening(
    createServer((from) => {
      const to = connect(world.server.port, '127.0.0.1')
      from.pipe(to)
      to.on('data', (piece) =>
        from.write(Buffer.from(piece.toString('latin1').replace(/1[5-9]00\d\d/g, '140012'), 'latin1')),
      )
      for (const socket of [from, to]) socket.on('error', () => undefined)
      to.on('close', () => from.destroy())
    }),
  )
  expect(await failure(`postgres://admin@127.0.0.1:${port}/hub`)).toBe('hub-too-old')
  await pushesAll()
})

test('a full disk there', async () => {
  const raise = `create function public.no_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`
  await world.server.sql(raise, world.url)
  await world.server.sql(
    'create trigger no_room before insert on cursordex.chats execute function public.no_room()',
    world.url,
  )
  expect(await failure(world.url)).toBe('hub-full')
  await world.server.sql('drop trigger no_room on cursordex.chats', world.url)
  await pushesAll()
})

test('a certificate that nobody vouches for, one of another host, and no encryption at all', async () => {
  const at = (name: string): string => join(world.server.data, name)
  expect(await failure(`${world.url}?sslmode=require`)).toBe('hub-certificate')
  const subject = ['-subj', '/CN=other.example', '-addext', 'subjectAltName=DNS:other.example']
  const files = ['-keyout', at('server.key'), '-out', at('server.crt')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
    stdio: 'pipe',
  })
  const { uid, gid } = statSync(world.server.data)
  for (const name of ['server.key', 'server.crt']) chownSync(at(name), uid, gid)
  await world.server.stop()
  await world.server.run(['ssl=on'])
  expect(await failure(`${world.url}?sslmode=require`)).toBe('hub-certificate')
  expect(await failure(`${world.url}?sslmode=verify-full&sslrootcert=${at('server.crt')}`)).toBe('hub-certificate')
  await pushesAll()
})

test('a connection that hangs ends within its time limit', async () => {
  const port = await listening(createServer((socket) => void socket.on('error', () => undefined)))
  expect(await failure(`postgres://admin@127.0.0.1:${port}/hub`)).toBe('hub-unreachable')
  expect(await ada.sharing({ url: `postgres://ada:hunter2@127.0.0.1:${port}/hub` }).state()).toMatchObject({
    url: `postgres://ada@127.0.0.1:${port}/hub`,
    error: { code: 'hub-unreachable' },
  })
  await pushesAll()
})

const PLACES = 5

test.each([
  ['cut connections', byCut, 'hub-unreachable'],
  ['killed programs', byKill, 'killed'],
])(
  '%s, at five places of a push and of a pull: equal in the end, nothing twice, nothing missed',
  async (_, attempt, end) => {
    await world.renew()
    const { ends, rows, words, expected, moved } = await endEarly(world, PLACES, attempt)
    expect(Object.keys(ends).sort()).toEqual([`pull ${end}`, `push ${end}`])
    expect(Math.min(...Object.values(ends))).toBeGreaterThan(PLACES / 2)
    expect(rows).toBe(450)
    expect(words).toEqual(expected)
    expect(moved).toEqual([0, 0])
  },
)
