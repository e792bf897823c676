import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, expect, test } from 'vitest'
import type { ApiContext } from '../../../../src/api/http/api-context.ts'
import { createTestApi } from '../../../api/http/test-api.ts'
import { attackAsForeigner } from './foreign.ts'
import { knownRoutes } from './known-routes.ts'
import { Target } from './target.ts'
import { oddMethods, oddPaths } from './unusual.ts'

const routes = knownRoutes({ chat: 'talk', project: 'shop', archive: 'run', asset: 'page.js' })
const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

type Fetch = (request: Request) => Response | Promise<Response>

/** Attacks a faulty server. @returns the faults found, one per line */
async function faultsOf(fetch: Fetch): Promise<string> {
  const target = await new Promise<Target>((resolve) => {
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(new Target(port))) as Server
    ends.push(() => {
      server.closeAllConnections()
      server.close()
    })
  })
  await attackAsForeigner(target, routes.slice(0, 2))
  await target.attackAll(oddMethods(routes.slice(0, 2), target.local))
  await target.attackAll(oddPaths(routes.slice(0, 2), target.local))
  target.close()
  return target.faults.join('\n')
}

/** The app as it is, but for one thing. */
function appWith(overrides: Partial<ApiContext>): Fetch {
  const world = createTestApi(overrides)
  world.mirror.addChat({ id: 'talk' })
  ends.push(() => world.dispose())
  return world.app.fetch
}

const everyone = { has: () => true, [Symbol.iterator]: () => [][Symbol.iterator]() } as unknown as ReadonlySet<string>

test('a guard that accepts every request is noticed', async () => {
  const access = { token: null, tokenRequired: false, allowedHosts: () => everyone }
  const faults = await faultsOf(appWith({ access }))
  expect(faults).toMatch(/"host":"evil\.com".*was answered 200/)
  expect(faults).toMatch(/"origin":"http:\/\/evil\.com".*was answered 200/)
})

test('a guard that only checks the Host is noticed', async () => {
  const access = { token: null, tokenRequired: false, allowedHosts: () => everyone }
  const { app } = createTestApi({ access })
  const faults = await faultsOf((request) => {
    const headers = new Headers(request.headers)
    headers.delete('origin')
    headers.delete('sec-fetch-site')
    const isOurs = /^127\.0\.0\.1:\d+$/.test(headers.get('host') ?? '')
    return isOurs ? app.fetch(new Request(request.url, { headers })) : new Response(null, { status: 421 })
  })
  expect(faults).toMatch(/"origin":"null".*was answered 200/)
  expect(faults).toMatch(/"sec-fetch-site":"same-site".*was answered 200/)
})

test('an answer that shows internals is noticed', async () => {
  const open = new Hono().all('*', () => {
    throw new Error('planted')
  })
  open.onError((error) => new Response(error.stack ?? '', { status: 500 }))
  const faults = await faultsOf(open.fetch)
  expect(faults).toMatch(/was answered 500/)
  expect(faults).toMatch(/500 shows internals/)
})

test('an error as plain text and an error without a body are noticed', async () => {
  const faults = await faultsOf(() => new Response('404 Not Found', { status: 404 }))
  expect(faults).toMatch(/404 may be sniffed/)
  expect(faults).toMatch(/404 is text\/plain/)
  expect(faults).toMatch(/404 is no JSON/)
})
