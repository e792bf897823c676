import { request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { serve } from '@hono/node-server'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTestApi, HOST, type TestApi } from './test-api.ts'

let api: TestApi
let server: Server
let port = 0
beforeEach(async () => {
  api = createTestApi()
  port = await new Promise<number>((resolve) => {
    server = serve({ fetch: api.app.fetch, port: 0, hostname: '127.0.0.1' }, (info) => resolve(info.port)) as Server
  })
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  api.dispose()
})

async function listen(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { host: HOST }
    const request = httpRequest({ host: '127.0.0.1', port, path: '/api/events', headers, agent: false })
    request.on('response', resolve)
    request.on('error', reject)
    request.end()
  })
}

function collect(response: IncomingMessage): () => string {
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
  })
  // The server may end a stream at any point. The test uses what came before that.
  response.on('error', () => undefined)
  return () => text
}

it('a client gets the status at once, then each event, with heartbeats between', async () => {
  const response = await listen()
  expect(response.headers['content-type']).toBe('text/event-stream')
  const text = collect(response)
  await vi.waitFor(() => expect(text()).toMatch(/^event: status\ndata: \{"state":"ready".*\}\n\n/u))
  api.emit({ type: 'chat', data: { id: 'a\nb' } })
  api.emit({ type: 'message', data: { id: 'm', chatId: 'a' } })
  await vi.waitFor(() => {
    expect(text()).toContain('event: chat\ndata: {"id":"a\\nb"}\n\nevent: message\ndata: {"id":"m","chatId":"a"}\n\n')
    expect(text()).toContain(': still here\n\n')
  })
  response.destroy()
})

it('two clients get the same events, and a client that disconnects is forgotten', async () => {
  const stays = await listen()
  const leaves = await listen()
  const text = collect(stays)
  collect(leaves)
  await vi.waitFor(() => expect(api.listeners.size).toBe(2))
  leaves.destroy()
  await vi.waitFor(() => expect(api.listeners.size).toBe(1))
  api.emit({ type: 'loss', data: { at: 1 } })
  await vi.waitFor(() => expect(text()).toContain('event: loss'))
  stays.destroy()
  await vi.waitFor(() => expect(api.listeners.size).toBe(0))
})

it('a client that does not read is dropped when a thousand events wait for it', async () => {
  const response = await listen()
  response.pause()
  await vi.waitFor(() => expect(api.listeners.size).toBe(1))
  const event = { type: 'message' as const, data: { text: 'x'.repeat(10_000) } }
  let sent = 0
  while (api.listeners.size > 0 && sent < 20_000) {
    for (let index = 0; index < 500; index += 1) api.emit(event)
    sent += 500
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
  expect(api.listeners.size).toBe(0)
  const ended = new Promise((resolve) => {
    response.on('close', resolve)
  })
  collect(response)
  response.resume()
  await ended
})
