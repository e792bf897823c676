import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { routeTable } from '../../../../src/api/http/route-table.ts'
import type * as params from '../../../../src/api/http/params.ts'
import { createTestApi } from '../../../api/http/test-api.ts'
import { attackAsForeigner } from './foreign.ts'
import { hostileFor, oddQueries } from './parameters.ts'
import { AttackedServer } from './server.ts'
import type { Ask } from './target.ts'
import { oddBodies, oddMethods, oddPaths } from './unusual.ts'

/** By the path of a request, the names that its route takes: noted where they are read. */
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

/** What is wrong after an attack; nothing where all is well. */
async function troublesAfter(what: string): Promise<string[]> {
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

/** A file that is not there is no file, and nothing that is named is nothing to purge. */
const posted = new Map([
  ['/api/tokens/import', 415],
  ['/api/archives', 202],
  ['/api/purge', 400],
])

test('what may be asked is answered, or the attacks would say nothing', async () => {
  for (const { method, path } of server.routes) {
    const status = await server.target.attack({ method, path, headers: { host: server.target.local } })
    const expected = method === 'GET' ? 200 : (posted.get(path) ?? 200)
    expect([path, status]).toEqual([path, expected])
  }
})

test('nobody from elsewhere is answered by any route', async () => {
  await attackAsForeigner(server.target, server.routes)
  expect(await troublesAfter('from elsewhere')).toEqual([])
})

test('any method is answered or refused with a problem', async () => {
  await server.target.attackAll(oddMethods(server.routes, server.target.local))
  expect(await troublesAfter('methods')).toEqual([])
})

test('any path is answered or refused with a problem', async () => {
  await server.target.attackAll(oddPaths(server.routes, server.target.local))
  expect(await troublesAfter('paths')).toEqual([])
})

test('every parameter of every route has its hostile values, and none of them is a fault', async () => {
  const headers = { host: server.target.local }
  const asks = server.routes.flatMap(({ method, path }): Ask[] => {
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
  expect(await troublesAfter('parameters')).toEqual([])
})

/** Filters that stand for words of the search language, which has attacks of its own. */
const takesWords = new Set(['in', 'tool', 'model', 'mode', 'path', 'group', 'facets', 'explain'])

test('any body is taken or refused with a problem', async () => {
  await server.target.attackAll(oddBodies(server.routes, server.target.local))
  expect(await troublesAfter('bodies')).toEqual([])
})
