import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CursorHome, headers } from './helpers/cursor.ts'
import { RunningDaemon } from './helpers/running-daemon.ts'

interface Example {
  readonly line: string
  readonly method: string
  readonly path: string
}

const documents = ['../README.md', '../docs/http.md'].map((path) =>
  readFileSync(new URL(path, import.meta.url), 'utf8'),
)

/** The curl lines of the README and of docs/http.md, which use the default port. */
const lines = new Set(documents.flatMap((text) => text.match(/^curl .*$/gm) ?? []))
const examples = [...[...lines].join('\n').matchAll(/^curl (.*)$/gm)].map(([line, words = '']): Example => {
  const url = /http:\/\/127\.0\.0\.1:4870(\/[^\s']*)/.exec(words)?.[1]
  if (url === undefined) throw new Error(`no address in: ${line}`)
  return { line, method: /-X (\w+)/.exec(words)?.[1] ?? 'GET', path: url }
})

let home: CursorHome
let daemon: RunningDaemon

beforeAll(async () => {
  home = new CursorHome()
  const store = home.global()
  store.chat('a', { name: 'A migration', fullConversationHeadersOnly: headers(['m1']) })
  store.message('a', 'm1', { type: 1, text: 'the connection pool', createdAt: '2026-02-01T00:00:00.000Z' })
  store.message('a', 'm2', { type: 2, text: 'a message that Cursor drops', createdAt: '2026-02-01T00:00:01.000Z' })
  home.workspace('ws', { folder: 'file:///home/ada/shop' }, ['a'])
  daemon = await RunningDaemon.start({ userDirs: [home.userDir] })
  await daemon.waitReady()
  store.delete('bubbleId:a:m2')
  await daemon.post('/api/sync')
})

afterAll(async () => {
  await daemon.stop()
  home.remove()
})

test('there are examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(4)
})

test.each(examples.filter(({ path }) => path !== '/api/events'))('$line', async ({ method, path }) => {
  const response = await fetch(`${daemon.url}${path}`, { method })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject(method === 'GET' ? { total: 1 } : { changed: 0 })
})

test.each(examples.filter(({ path }) => path === '/api/events'))('$line', async ({ path }) => {
  const stop = new AbortController()
  const response = await fetch(`${daemon.url}${path}`, { signal: stop.signal })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const first = await response.body?.getReader().read()
  expect(Buffer.from(first?.value ?? []).toString()).toMatch(/^event: status\n/)
  stop.abort()
})
