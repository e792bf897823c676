import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { routeTable } from '../../../../src/api/http/route-table.ts'
import type * as params from '../../../../src/api/http/params.ts'
import { createTestApi } from '../../../api/http/test-api.ts'
import { attackAsForeigner } from './foreign.ts'
import { hostileFor, oddQueries } from './parameters.ts'
import { AttackedServer } from './server.ts'
import type { Ask } from './target.ts'
import { oddBodies, oddMethods, oddPaths } from './unusual.ts'

/** The parameter names of each route, by the path of a request. They are recorded when they are read. */
const noted = vi.hoisted(() => new Map<string, string[]>())

vi.mock('../../../../src/api/http/params.ts', async (importOriginal) => {
  const real = await importOriginal<typeof params>()
  return {
    ...real,
    readQuery: (...given: Parameters<typeof real.readQuery>) => {
      const [c, schema] = given
      noted.set(c.req.path, Object.keys(schema.shape))
      return real.readQuery(...given)
    },
  }
})

const MEGABYTES_MAX = 400

let server: AttackedServer
beforeAll(async () => {
  server = await AttackedServer.start()
  const world = createTestApi()
  for (const { method, path } of server.routes) await world.ask(path, { method })
  world.dispose()
})
afterAll(() => server?.stop())

/** The faults after an attack. Empty if there are none. */
async function faultsAfter(what: string): Promise<string[]> {
  const { target, megabytes, errors } = server
  const [count, size] = [target.faults.length, Math.round(megabytes)]
  console.log(`hostile HTTP, ${what}: ${target.requests} requests so far, ${count} faults, ${size} MB`)
  const faults = target.faults.splice(0).slice(0, 30)
  const isAlive = await target.isAlive()
  const isBounded = megabytes < MEGABYTES_MAX
  return [...faults, ...errors, ...(isAlive ? [] : ['it is dead']), ...(isBounded ? [] : [`it holds ${megabytes} MB`])]
}

test('the routes that are attacked are all there are', () => {
  const listed = routeTable.map(({ method, path }) => `${method} ${path}`)
  expect(server.routes.map(({ method, pattern }) => `${method} ${pattern}`).sort()).toEqual(listed.sort())
})

/** Refused even in a valid request: a missing file to import, a purge without a target, and a hub that is not set. */
const posted = new Map([
  ['/api/tokens/import', 415],
  ['/api/archives', 202],
  ['/api/purge', 400],
  ['/api/hub/push', 400],
  ['/api/hub/pull', 400],
])

test('valid requests are answered, which the attacks rely on', async () => {
  for (const { method, path } of server.routes) {
    const status = await server.target.attack({ method, path, headers: { host: server.target.local } })
    const expected = method === 'GET' ? 200 : (posted.get(path) ?? 200)
    expect([path, status]).toEqual([path, expected])
  }
})

test('no route answers a foreign origin or host', async () => {
  await attackAsForeigner(server.target, server.routes)
  expect(await faultsAfter('from elsewhere')).toEqual([])
})

test('every method is answered or refused with a problem', async () => {
  await server.target.attackAll(oddMethods(server.routes, server.target.local))
  expect(await faultsAfter('methods')).toEqual([])
})

test('every path is answered or refused with a problem', async () => {
  await server.target.attackAll(oddPaths(server.routes, server.target.local))
  expect(await faultsAfter('paths')).toEqual([])
})

test('every parameter of every route has hostile values, and none of them causes a fault', async () => {
  const headers = { host: server.target.local }
  // The page ignores unknown parameters: its addresses have some of their own, which only its script reads.
  const api = server.routes.filter(({ path }) => path.startsWith('/api/'))
  const asks = api.flatMap(({ method, path }): Ask[] => {
    const names = noted.get(path)
    expect([path, names === undefined]).toEqual([path, false])
    const queries = (names ?? []).flatMap((name) => {
      const values = hostileFor[name] ?? (takesWords.has(name) ? ['x'] : [])
      expect([path, name, values.length > 0]).toEqual([path, name, true])
      return values.map((value) => `${name}=${value}`)
    })
    return [...queries, ...oddQueries(names ?? [])].map((query) => ({ method, path: `${path}?${query}`, headers }))
  })
  await server.target.attackAll(asks)
  expect(await faultsAfter('parameters')).toEqual([])
})

/** Filters of the search language, which has its own attacks. */
const takesWords = new Set(['in', 'tool', 'model', 'mode', 'path', 'machine', 'group', 'facets', 'explain'])

test('every body is accepted or refused with a problem', async () => {
  await server.target.attackAll(oddBodies(server.routes, server.target.local))
  expect(await faultsAfter('bodies')).toEqual([])
})
