import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { routeTable } from '../../../src/api/http/route-table.ts'
import { createTestApi, type TestApi, bodyOf } from './test-api.ts'
import type { DaemonState } from '../../../src/api/http/schemas/status.ts'

let api: TestApi
beforeEach(() => {
  api = createTestApi()
})
afterEach(() => api.dispose())

it('the page shows the state, the sources, the unreadable rows, and every route', async () => {
  const source = api.mirror.addSource({ path: '/somewhere/state.vscdb', state: 'busy', total_rows: 12345 })
  api.mirror.insert('row_issues', { source, key: 'k', reason: 'bad-json', noted_at: 1 })
  const response = await api.ask('/')
  expect(response.headers.get('content-type')).toMatch(/^text\/html/u)
  const html = await response.text()
  for (const shown of ['ready', '/somewhere/state.vscdb', 'busy', '12,345 rows', 'bad-json'])
    expect(html).toContain(shown)
  for (const route of routeTable) expect(html).toContain(`${route.method} ${route.path}`)
  expect(html).toContain('<meta http-equiv="refresh" content="10">')
})

it('its security policy allows only its own style', async () => {
  const response = await api.ask('/')
  const style = /<style>(.*)<\/style>/su.exec(await response.text())?.[1] ?? ''
  expect(style).not.toBe('')
  const hash = createHash('sha256').update(style).digest('base64')
  expect(response.headers.get('content-security-policy')).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
})

it('the name of a folder is escaped', async () => {
  api.mirror.addSource({ path: `/<script>alert("1")</script>/it's & more`, detail: '<b>detail</b>' })
  const html = await (await api.ask('/')).text()
  expect(html).not.toMatch(/<script|<b>/u)
  expect(html).toContain('/&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;/it&#39;s &amp; more')
})

it('the first status that says "ready" has new counts, not cached ones', async () => {
  let state: DaemonState = 'indexing'
  let nowMs = 0
  const live = { reasons: [], uptimeMs: 5, progress: null, lagMs: null, mirrorPath: '/nowhere/mirror.db' }
  const resources = { rssBytes: 1, cpuPercent: 2, longestReadMs: 3, bytesRead: 4, bytesReadLastMinute: 5 }
  // The clock advances 400 ms per reading: counting seems slow, and so its result is cached.
  const daemon = createTestApi({ now: () => (nowMs += 400), live: () => ({ ...live, resources, state }) })
  const status = async () => bodyOf(await daemon.ask('/api/status'))
  expect(await status()).toMatchObject({ state: 'indexing', counts: { chats: 0, messages: 0 } })
  daemon.mirror.addMessage(daemon.mirror.addChat({ id: 'a' }), { id: '1' })
  expect(await status()).toMatchObject({ state: 'indexing', counts: { messages: 0 } })
  state = 'ready'
  expect(await status()).toMatchObject({ state: 'ready', counts: { chats: 1, messages: 1 } })
  daemon.dispose()
})
