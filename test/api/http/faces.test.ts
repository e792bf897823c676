import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { callTool, connectAgent } from '../../helpers/mcp-client.ts'
import { createTestApi, HOST, live, type TestApi } from './test-api.ts'

let api: TestApi
let state: 'starting' | 'indexing' | 'ready' | 'degraded'
beforeEach(() => {
  state = 'ready'
  api = createTestApi({ live: () => ({ ...live, state, reasons: ['because of a test'] }) })
})
afterEach(() => api.dispose())

test.each(['ready', 'degraded'] as const)('a daemon that is %s is ready', async (now) => {
  state = now
  const response = await api.ask('/api/ready')
  expect([response.status, await response.json()]).toEqual([200, { state: now, reasons: ['because of a test'] }])
})

test.each(['starting', 'indexing'] as const)('a daemon that is %s is not ready, and says why', async (now) => {
  state = now
  const response = await api.ask('/api/ready')
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { code: now, detail: expect.stringContaining('because of a test') },
  ])
})

test('JSON above 1 KB is compressed for clients of other machines that accept it, and is the same', async () => {
  const allowedHosts = () => new Set([HOST, 'chats.example'])
  api.dispose()
  api = createTestApi({ access: { token: null, tokenRequired: false, allowedHosts } })
  for (let at = 0; at < 30; at += 1) api.mirror.addMessage(api.mirror.addChat({ id: `chat-${at}` }), { id: `m-${at}` })
  const plain = await (await api.ask('/api/chats')).text()
  const ask = (host: string) => api.ask('/api/chats', { headers: { host, 'accept-encoding': 'gzip, br' } })
  expect((await ask(HOST)).headers.get('content-encoding')).toBeNull()
  const response = await ask('chats.example')
  expect(response.headers.get('content-encoding')).toBe('gzip')
  expect(response.headers.get('vary')).toMatch(/accept-encoding/i)
  const packed = Buffer.from(await response.arrayBuffer())
  expect(packed.length).toBeLessThan(plain.length / 2)
  expect(gunzipSync(packed).toString()).toBe(plain)
})

test('metrics are those of Prometheus, and contain no project, path, title or text', async () => {
  const chat = api.mirror.addChat({ id: 'secret-chat', title: 'A walnut title' })
  api.mirror.addMessage(chat, { id: 'm', parts: [{ kind: 'text', text: 'walnut words' }] })
  await api.ask('/metrics')
  await api.ask('/api/search?q=walnut')
  await api.ask('/api/chats/secret-chat')
  await api.ask('/nowhere/walnut')
  const response = await api.ask('/metrics')
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  expect(text).toContain('cursordex_state{state="ready"} 1')
  expect(text).toContain('cursordex_http_requests_total{route="/api/chats/:id",method="GET",status="200"} 1')
  expect(text).toContain('cursordex_http_requests_total{route="other",method="GET",status="404"} 1')
  expect(text).toMatch(/cursordex_objects\{kind="messages"\} 1/)
  expect(text).not.toMatch(/walnut|secret-chat|globalStorage|\/cursor/)
  for (const line of text.split('\n').filter((each) => each.startsWith('# TYPE'))) {
    expect(line).toMatch(/^# TYPE cursordex_[a-z_]+ (gauge|counter|histogram)$/)
  }
})

test('the official MCP client calls tools over HTTP, behind the guard', async () => {
  api.mirror.addMessage(api.mirror.addChat({ id: 'orchard', title: 'A plum' }), { id: 'm' })
  const client = await connectAgent((path, init) => api.ask(path, init))
  expect((await callTool(client, 'list_chats')).text).toContain('chat orchard')
  await client.close()
  const foreign = await api.app.request('/mcp', { method: 'POST', headers: { host: HOST, origin: 'http://evil.com' } })
  expect(foreign.status).toBe(403)
})

test('with a token that is required, agents and metrics need it too', async () => {
  const access = { token: 'the-token', tokenRequired: true, allowedHosts: () => new Set([HOST]) }
  const closed = createTestApi({ access })
  for (const path of ['/metrics', '/mcp', '/api/ready', '/api/chats']) expect((await closed.ask(path)).status).toBe(401)
  const headers = { authorization: 'Bearer the-token' }
  for (const path of ['/metrics', '/api/ready', '/api/chats'])
    expect((await closed.ask(path, { headers })).status).toBe(200)
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_chats', arguments: {} } }
  const init = { method: 'POST', body: JSON.stringify(rpc) }
  const sent = {
    ...headers,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
  }
  const answer = await closed.ask('/mcp', { ...init, headers: sent })
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('No chats')])
  closed.dispose()
})

test('the origin of the public address may ask, and no other', async () => {
  const allowedHosts = () => new Set([HOST, 'chats.example'])
  const tunnel = createTestApi({
    access: { token: null, tokenRequired: false, allowedHosts, publicUrl: 'https://chats.example' },
  })
  const statusFrom = async (origin: string) =>
    (await tunnel.ask('/api/health', { headers: { host: 'chats.example', origin } })).status
  expect(await statusFrom('https://chats.example')).toBe(200)
  expect(await statusFrom('https://evil.example')).toBe(403)
  tunnel.dispose()
})
