import { afterAll, beforeAll, expect, test } from 'vitest'
import { attackAsForeigner } from './foreign.ts'
import { hostileFor, oddQueries } from './parameters.ts'
import { AttackedServer } from './server.ts'
import type { Ask } from './target.ts'
import { oddBodies, oddMethods, oddPaths } from './unusual.ts'

const MEGABYTES_MAX = 400

let server: AttackedServer
beforeAll(async () => {
  server = await AttackedServer.start()
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

/** Not 200 here: commits without a repository, a history without a path, a missing file to import, a purge without a target, a hub that is not set. */
const others = new Map([
  ['/api/commits', 400],
  ['/api/files/history', 400],
  ['/api/tokens/import', 415],
  ['/api/merges', 400],
  ['/api/archives', 202],
  ['/api/purge', 400],
  ['/api/hub/push', 400],
  ['/api/hub/pull', 400],
])

test('valid requests are answered, which the attacks rely on', async () => {
  for (const { method, path } of server.routes) {
    const status = await server.target.attack({ method, path, headers: { host: server.target.local } })
    const expected = method === 'GET' && others.get(path) !== 400 ? 200 : (others.get(path) ?? 200)
    expect([path, status]).toEqual([path, expected])
  }
})

test('no route answers a foreign origin or host', async () => {
  await attackAsForeigner(server.target, server.routes)
  expect(await faultsAfter('from elsewhere')).toEqual([])
})

test.each([
  ['method', oddMethods],
  ['path', oddPaths],
  ['body', oddBodies],
])('every odd %s is answered or refused with a problem', async (what, odd) => {
  await server.target.attackAll(odd(server.routes, server.target.local))
  expect(await faultsAfter(what)).toEqual([])
})

test('every parameter of every route has hostile values, and none of them causes a fault', async () => {
  const headers = { host: server.target.local }
  const described = await server.parameters()
  expect(described.length).toBeGreaterThan(20)
  const asks = described.flatMap(({ method, path, names }): Ask[] => {
    const queries = names.flatMap((name) => {
      const values = hostileFor[name] ?? (takesWords.has(name) ? ['x'] : [])
      expect([path, name, values.length > 0]).toEqual([path, name, true])
      return values.map((value) => `${name}=${value}`)
    })
    return [...queries, ...oddQueries(names)].map((query) => ({ method, path: `${path}?${query}`, headers }))
  })
  await server.target.attackAll(asks)
  expect(await faultsAfter('parameters')).toEqual([])
})

/** Filters of the search language, which has its own attacks. */
const takesWords = new Set([
  'in',
  'tool',
  'model',
  'mode',
  'branch',
  'path',
  'machine',
  'withoutActive',
  'group',
  'facets',
  'explain',
])
