import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type Server } from 'node:http'
import { serve } from '@hono/node-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allPaths } from '../../../src/api/http/app.ts'
import { pagePaths } from '../../../src/api/http/routes/page.ts'
import { bodyOf, createTestApi, HOST, type TestApi } from './test-api.ts'

interface Raw {
  readonly status: number
  readonly headers: IncomingMessage['headers']
}

let api: TestApi
let server: Server
let port = 0
let hosts: ReadonlySet<string>
let access: { token: string | null; tokenRequired: boolean }

beforeAll(async () => {
  access = { token: 'right', tokenRequired: false }
  api = createTestApi({
    access: {
      get token() {
        return access.token
      },
      get tokenRequired() {
        return access.tokenRequired
      },
      allowedHosts: () => hosts,
    },
  })
  api.mirror.addChat({ id: 'talk' })
  api.mirror.addProject('talk')
  port = await new Promise<number>((resolve) => {
    server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, (info) => resolve(info.port)) as Server
  })
  hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
})
beforeEach(() => {
  access = { token: 'right', tokenRequired: false }
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  api.dispose()
})

/** Sends exactly these headers. `fetch` would set its own Host. */
async function send(path: string, method: string, headers: OutgoingHttpHeaders): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, setHost: false, agent: false })
    request.on('response', (response) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers })
      response.destroy()
    })
    request.on('error', reject)
    request.end()
  })
}

const openKindOf = (path: string) => {
  if (pagePaths.includes(path)) return 'page'
  if (path.startsWith('/assets/')) return 'asset'
  return path.startsWith('/api/') || path === '/metrics' ? undefined : 'docs'
}
const routes = allPaths.map(({ method, path }) => ({
  method,
  path: path.replace(/:id|(?<=assets\/):name/, 'talk'),
  open: openKindOf(path),
}))
const withUnknown = [...routes, { method: 'GET', path: '/api/nothing', open: undefined }]

const answered = new Map([
  ['GET /api/nothing', 404],
  // It needs a repository.
  ['GET /api/commits', 400],
  // It needs a path.
  ['GET /api/files/history', 400],
  ['GET /api/chats/talk/image', 404],
  ['POST /api/merges', 400],
  ['POST /api/tokens/import', 415],
  ['POST /api/archives', 202],
  ['POST /api/merges', 400],
  ['POST /api/purge', 400],
  // Nothing writes here.
  ['POST /api/purge/accept-lost-bars', 503],
  ['GET /api/archives/:name', 404],
  ['GET /api/archives/:name/chats', 404],
  ['POST /api/archives/:name/verify', 404],
  ['POST /api/archives/:name/restore', 404],
])

const YEAR = 'public, max-age=31536000, immutable'
const local = () => `127.0.0.1:${port}`

describe.each(withUnknown)('$method $path', ({ method, path, open: openKind }) => {
  const ask = async (headers: OutgoingHttpHeaders) => send(path, method, headers)
  // Only access is tested here. Other errors, such as an unknown id or a wrong media type, show that the guard let it pass.
  const open = answered.get(`${method} ${path}`) ?? 200

  it.each<[string, () => OutgoingHttpHeaders]>([
    ['a local program', () => ({ host: local() })],
    ['localhost in capitals', () => ({ host: `LocalHost:${port}` })],
    ['IPv6', () => ({ host: `[::1]:${port}` })],
    ['its own page', () => ({ host: local(), origin: `http://localhost:${port}`, 'sec-fetch-site': 'same-origin' })],
    ['an address typed in a browser', () => ({ host: local(), 'sec-fetch-site': 'none' })],
  ])('lets in %s', async (_who, headers) => {
    expect((await ask(headers())).status).toBe(open)
  })

  it.each<[string, number, () => OutgoingHttpHeaders]>([
    ['a rebound name', 421, () => ({ host: `evil.com:${port}` })],
    ['a host name that begins like ours', 421, () => ({ host: `localhost.evil.com:${port}` })],
    ['our name without its port', 421, () => ({ host: 'localhost' })],
    ['our host name with another port', 421, () => ({ host: 'localhost:1' })],
    ['a rebound name with our origin', 421, () => ({ host: `evil.com:${port}`, origin: `http://${local()}` })],
    ['a foreign origin', 403, () => ({ host: local(), origin: 'http://evil.com' })],
    ['the origin null', 403, () => ({ host: local(), origin: 'null' })],
    ['an empty origin', 403, () => ({ host: local(), origin: '' })],
    ['our origin over another scheme', 403, () => ({ host: local(), origin: `https://${local()}` })],
    ['another local port', 403, () => ({ host: local(), origin: 'http://localhost:3000' })],
    ['an origin that begins like ours', 403, () => ({ host: local(), origin: `http://${local()}.evil.com` })],
    ['a cross-site request', 403, () => ({ host: local(), 'sec-fetch-site': 'cross-site' })],
    ['a same-site request', 403, () => ({ host: local(), 'sec-fetch-site': 'same-site' })],
    ['an unknown site', 403, () => ({ host: local(), 'sec-fetch-site': 'else' })],
  ])('refuses %s with %i', async (_who, status, headers) => {
    const before = api.syncs.length
    const answer = await ask(headers())
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(api.syncs).toHaveLength(before)
  })

  const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

  it(`${openKind === 'page' ? 'opens' : 'does not open'} by a link on another site`, async () => {
    expect((await ask({ host: local(), ...visit })).status).toBe(openKind === 'page' ? 200 : 403)
    expect((await ask({ host: 'evil.com', ...visit })).status).toBe(421)
    expect((await ask({ host: local(), ...visit, 'sec-fetch-dest': 'iframe' })).status).toBe(403)
    expect((await ask({ host: local(), ...visit, 'sec-fetch-mode': 'no-cors' })).status).toBe(403)
    expect((await ask({ host: local(), origin: 'null', ...visit })).status).toBe(403)
  })

  it.runIf(openKind !== undefined)('needs no token, because it has no user data', async () => {
    access = { token: 'right', tokenRequired: true }
    expect((await ask({ host: local() })).status).toBe(200)
    expect((await ask({ host: local(), authorization: 'Bearer wrong' })).status).toBe(200)
  })

  it.skipIf(openKind !== undefined)('requires the token if the settings say so', async () => {
    access = { token: 'right', tokenRequired: true }
    for (const authorization of [undefined, 'Bearer wrong', 'Bearer', 'Basic right', 'right', 'Bearer right x']) {
      const answer = await ask({ host: local(), ...(authorization === undefined ? {} : { authorization }) })
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/u)
    }
    expect((await ask({ host: local(), authorization: 'Bearer right' })).status).toBe(open)
    expect((await ask({ host: local(), authorization: 'bearer right' })).status).toBe(open)
    expect((await ask({ host: 'evil.com', authorization: 'Bearer right' })).status).toBe(421)
  })

  it('always has the security headers, and no CORS header', async () => {
    for (const headers of [{ host: local() }, { host: 'evil.com' }, { host: local(), origin: 'null' }]) {
      const answer = await ask(headers)
      expect(answer.headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': answer.status === 200 && openKind === 'asset' ? YEAR : 'no-store',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      })
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

it('if a token is required but not known, every request is refused', async () => {
  access = { token: null, tokenRequired: true }
  for (const authorization of ['Bearer null', 'Bearer ', 'Bearer undefined']) {
    expect((await send('/api/health', 'GET', { host: `127.0.0.1:${port}`, authorization })).status).toBe(401)
  }
})

it('a request without a Host is refused', async () => {
  expect((await send('/api/health', 'GET', {})).status).toBeGreaterThanOrEqual(400)
  const app = createTestApi()
  expect((await app.app.request('/api/health')).status).toBe(421)
  app.dispose()
})

it('an absolute request target is routed by its path and guarded by its Host', async () => {
  expect((await send('http://evil.com/api/health', 'GET', { host: 'evil.com' })).status).toBe(421)
})

it('ids reach the router as they were sent, over a real connection', async () => {
  const id = 'a/b\n%41 "x"'
  api.mirror.addChat({ id })
  const answer = await send(`/api/chats/${encodeURIComponent(id)}`, 'GET', { host: `127.0.0.1:${port}` })
  expect(answer.status).toBe(200)
  expect((await send('/api/chats/%', 'GET', { host: `127.0.0.1:${port}` })).status).toBe(404)
})

it('a refusal has a code for programs', async () => {
  const own = createTestApi()
  const codes = []
  for (const headers of [
    { host: 'evil.com' },
    { host: HOST, origin: 'null' },
    { host: HOST, 'sec-fetch-site': 'cross-site' },
  ]) {
    codes.push((await bodyOf(await own.ask('/api/health', { headers })))['code'])
  }
  expect(codes).toEqual(['wrong-host', 'wrong-origin', 'cross-site'])
  own.dispose()
})
