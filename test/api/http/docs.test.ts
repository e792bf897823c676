import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApi, type TestApi } from './test-api.ts'

let api: TestApi
beforeAll(() => {
  api = createTestApi()
})
afterAll(() => api?.dispose())

test('the page loads only the viewer and the document, from this server', async () => {
  const page = await api.ask('/docs')
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'")
  const text = await page.text()
  expect([...text.matchAll(/(?:src|href|spec-url)="([^"]*)"/g)].map(([, url]) => url)).toEqual([
    '/docs/rapidoc-min.js',
    '/openapi.json',
  ])
  expect(text).toContain('load-fonts="false"')
})

test.each(['/openapi.json', '/docs/rapidoc-min.js', '/api/status'])('%s does not allow inline styles', async (path) => {
  const { headers } = await api.ask(path)
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
})

test('the viewer is sent compressed to a client that accepts it', async () => {
  const packed = await api.ask('/docs/rapidoc-min.js', { headers: { 'accept-encoding': 'gzip, br' } })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  const plain = await api.ask('/docs/rapidoc-min.js')
  expect(plain.headers.get('content-encoding')).toBeNull()
  const [small, large] = [await packed.arrayBuffer(), await plain.text()]
  expect(small.byteLength).toBeLessThan(300_000)
  expect(large.length).toBeGreaterThan(800_000)
  expect(large).toContain('rapi-doc')
})

test('the document names its version and has an example for each answer', async () => {
  const document = (await (await api.ask('/openapi.json')).json()) as Record<string, Record<string, unknown>>
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } })
  const bare = Object.entries(document['paths'] ?? {}).filter(
    ([, methods]) => !JSON.stringify(methods).includes('example'),
  )
  expect(bare.map(([path]) => path)).toEqual([])
})
