import { afterAll, beforeAll, expect, test } from 'vitest'
import { Chance } from '../helpers/cursor.ts'
import { foreignHeaders } from '../system/hostile/http/foreign.ts'
import type { KnownRoute } from '../system/hostile/http/known-routes.ts'
import { hostileFor } from '../system/hostile/http/parameters.ts'
import { AttackedServer } from '../system/hostile/http/server.ts'
import type { Ask } from '../system/hostile/http/target.ts'
import { oddBodies, oddMethods, oddPaths } from '../system/hostile/http/unusual.ts'
import { randomQuery } from '../system/hostile/searches/hostile-query.ts'

const REQUESTS = 200_000
const ROUND = 5000

let server: AttackedServer
beforeAll(async () => {
  server = await AttackedServer.start()
})
afterAll(() => server?.stop())

type List<Item> = readonly [Item, ...Item[]]

/** Each a route, a path or a body that is odd already, with three hostile parameters on it. */
function asks(chance: Chance, odd: List<Ask>, routes: List<KnownRoute>, count: number): Ask[] {
  const names = Object.keys(hostileFor) as unknown as List<string>
  const parameter = (): string => {
    const name = chance.pick(names)
    const random = encodeURIComponent(randomQuery(chance, 1).toWellFormed())
    return `${name}=${chance.pick([random, ...((hostileFor[name] ?? []) as string[])])}`
  }
  return Array.from({ length: count }, (_, at): Ask => {
    const { method, path } = chance.pick(routes)
    const headers = { host: server.target.local }
    const ask = at % 3 === 0 ? chance.pick(odd) : { method, path, headers }
    const query = [parameter(), parameter(), parameter()].join('&')
    return { ...ask, path: `${ask.path}${ask.path.includes('?') ? '&' : '?'}${query}` }
  })
}

test('two hundred thousand hostile requests are answered or refused with a problem', async () => {
  const { target, routes } = server
  const host = target.local
  const odd = [
    ...oddMethods(routes, host),
    ...oddPaths(routes, host),
    ...oddBodies(routes, host),
  ] as unknown as List<Ask>
  const foreign = foreignHeaders(host) as unknown as List<Record<string, string>>
  const chance = new Chance('soak')
  const start = server.megabytes
  while (target.requests < REQUESTS) {
    const some = asks(chance, odd, routes as unknown as List<KnownRoute>, ROUND)
    await target.attackAll(some.slice(0, ROUND / 2))
    const strangers = some.slice(ROUND / 2).map((ask) => ({ ...ask, headers: chance.pick(foreign) }))
    await target.attackAll(strangers, { isForeign: true })
    console.log(
      `hostile HTTP: ${target.requests} requests, ${target.faults.length} faults, ${Math.round(server.megabytes)} MB`,
    )
    expect([...target.faults.slice(0, 30), ...server.errors]).toEqual([])
    expect(await target.isAlive()).toBe(true)
  }
  expect(server.megabytes - start).toBeLessThan(300)
}, 7_200_000)
