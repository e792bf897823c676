import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, test } from 'vitest'
import { pageFiles } from '../../../src/daemon/server/page-files.ts'
import { bodyOf, createTestApi, type TestApi } from './test-api.ts'

let api: TestApi
beforeEach(() => {
  api = createTestApi()
})
afterEach(() => api.dispose())

const addresses = ['/', '/chats/a%2Fb', '/projects/x', '/stats', '/tokens', '/losses', '/archives', '/status']

it.each(addresses)('%s answers the document, whatever its parameters are', async (path) => {
  const response = await api.ask(`${path}?q=x&unknown=1&unknown=2`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/html/u)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toContain('<title>page</title>')
})

it('the policy of the document allows own files only, and HTML only from DOMPurify', async () => {
  const policy = (await api.ask('/')).headers.get('content-security-policy')
  expect(policy?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ])
})

it.each([
  [null, null],
  ['identity', null],
  ['gzip, deflate, br', 'gzip'],
  ['gzip', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
])('a file of the page accepted as %s is sent as %s', async (accepted, coding) => {
  const response = await api.ask('/assets/talk', accepted === null ? {} : { headers: { 'accept-encoding': accepted } })
  expect(response.headers.get('content-encoding')).toBe(coding)
  expect(response.headers.get('vary')).toBe('Accept-Encoding')
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const bytes = Buffer.from(await response.arrayBuffer())
  expect((coding === null ? bytes : gunzipSync(bytes)).toString()).toBe('plain')
})

it('an unknown file is a problem that is not cached', async () => {
  const response = await api.ask('/assets/nothing.js')
  expect(response.status).toBe(404)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect((await bodyOf(response))['code']).toBe('asset-not-found')
})

it('a page that was not built says how to build it', async () => {
  const bare = createTestApi({ page: { shell: () => null, asset: () => null } })
  const response = await bare.ask('/')
  expect(response.status).toBe(503)
  expect((await bodyOf(response))['code']).toBe('page-not-built')
  bare.dispose()
})

test('only files that the build made are read from its folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-page-'))
  try {
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'secret.js'), 'secret')
    writeFileSync(join(folder, 'assets', 'a-1.js'), 'script')
    const files = pageFiles(folder)
    expect(files.shell()).toBe(null)
    expect(Buffer.from(files.asset('a-1.js')?.body ?? []).toString()).toBe('script')
    for (const name of [
      '../secret.js',
      '..',
      '',
      '.js',
      'a-1.js.gz',
      'b.js',
      'a/../a-1.js',
      '..\\secret.js',
      'a-1.js\0',
    ])
      expect([name, files.asset(name)]).toEqual([name, null])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
