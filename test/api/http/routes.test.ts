import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { allPaths } from '../../../src/api/http/app.ts'
import { UserError } from '../../../src/model/user-error.ts'
import { bodyOf, createTestApi, type TestApi } from './test-api.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

let api: TestApi
beforeEach(() => {
  api = createTestApi()
  const shop = api.mirror.addProject('shop')
  const talk = api.mirror.addChat({ id: 'talk', project: shop, createdAt: 1000, title: 'Login', messageCount: 2 })
  api.mirror.addMessage(talk, { id: 'm0', position: 0 })
  api.mirror.addMessage(talk, { id: 'm1', position: 1, role: 'assistant' })
  api.mirror.addMessage(talk, { id: 'stray', isOrphan: true })
})
afterEach(() => api.dispose())

const idIn = (path: string): string => (path.startsWith('/api/projects/') ? 'shop' : 'talk')
const paths = allPaths.map((route) => ({ ...route, path: route.path.replace(':id', idIn(route.path)) }))
const apiPaths = paths.filter(({ path }) => path.startsWith('/api/') || path === '/metrics')
const gets = paths.filter((route) => route.method === 'GET')

describe('the answer of each route', () => {
  it('health', async () => {
    const response = await api.ask('/api/health')
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual({ status: 'ok', version: '1.2.3' })
  })

  it('status', async () => {
    expect(await bodyOf(await api.ask('/api/status'))).toEqual({
      state: 'ready',
      reasons: [],
      version: '1.2.3',
      uptimeMs: 5,
      progress: null,
      sources: [
        {
          id: 'global',
          kind: 'composer-kv',
          path: '/cursor/globalStorage/state.vscdb',
          state: 'ok',
          detail: null,
          lastSyncAt: null,
          rows: 0,
        },
      ],
      counts: { projects: 1, chats: 1, subagents: 0, messages: 2, orphans: 1, deleted: 0 },
      losses: { messages: 0, chats: 0, lastAt: null },
      issues: {},
      coverage: { rows: 0, read: 0, orphans: 1, issues: 0, noise: 0 },
      mirror: { path: api.mirror.path, bytes: expect.any(Number), ftsBytes: expect.any(Number) },
      resources: {
        rssBytes: 1,
        cpuPercent: 2,
        longestReadMs: 3,
        bytesRead: 4,
      },
      lagMs: null,
      archives: { running: null, atWork: null, lastRunAt: null, nextRunAt: null, failed: [] },
      excluded: ['client-work'],
    })
  })

  it('sync, of changes or full', async () => {
    expect(await bodyOf(await api.ask('/api/sync', { method: 'POST' }))).toEqual({
      changed: 1,
      added: 2,
      gone: 3,
      tookMs: 4,
      reasons: [],
    })
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    await api.ask('/api/sync', { method: 'POST', headers, body: '{"full":true}' })
    await api.ask('/api/sync', { method: 'POST', headers, body: '{}' })
    expect(api.syncs).toEqual([{ full: false }, { full: true }, { full: false }])
  })

  it.each(gets.filter(({ path }) => !path.includes(':')))('HEAD $path is like GET without a body', async ({ path }) => {
    const response = await api.ask(path, { method: 'HEAD' })
    const isBad = ['/api/commits', '/api/files/history'].includes(path)
    expect(response.status).toBe(path.endsWith('/image') ? 404 : isBad ? 400 : 200)
    expect(await response.text()).toBe('')
    expect(api.listeners.size).toBe(0)
  })
})

describe('errors', () => {
  it.each<[path: string, detail: string]>([
    ['/api/chats/nobody', 'No chat has this id: "nobody".'],
    ['/api/chats/a%2Fb/messages', 'No chat has this id: "a/b".'],
    ['/api/chats/%1B%C2%9B%E2%80%AE/export', String.raw`No chat has this id: "\u001b\u009b\u202e".`],
    ['/api/projects/nobody', 'No project has this id: "nobody".'],
    ['/api/projects/nobody/stats', 'No project has this id: "nobody".'],
    [`/api/projects/${'x'.repeat(500)}`, `No project has this id: "${'x'.repeat(100)}…".`],
    ['/api/archives/none', 'No archive has this name: "none".'],
  ])('a 404 names what was not found: %s', async (path, detail) => {
    expect(await bodyOf(await api.ask(path))).toMatchObject({ status: 404, detail })
  })

  it.each(cases<[claim: string, path: string, init: RequestInit, status: number, code: string]>('errors'))(
    '%s',
    async (_claim, path, init, status, code) => {
      const response = await api.ask(path, init)
      expect(response.status).toBe(status)
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await bodyOf(response)).toMatchObject({
        type: 'about:blank',
        title: expect.stringMatching(/./u),
        status,
        detail: expect.stringMatching(/./u),
        code,
      })
    },
  )

  it.each(cases<[body: string, code: string]>('bodies'))('a body of %s', async (body, code) => {
    const headers = { 'content-type': 'application/json' }
    const response = await api.ask('/api/sync', { method: 'POST', headers, body })
    expect(response.status).toBe(400)
    expect(await bodyOf(response)).toMatchObject({ code })
    expect(api.syncs).toEqual([])
  })

  it('a body above 16 megabytes, with or without a length', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ full: true, pad: 'x'.repeat(16 * 1024 * 1024) })
    const stream = () => new Blob([body]).stream()
    for (const init of [
      { body, headers: { ...headers, 'content-length': String(body.length) } },
      { body: stream(), headers, duplex: 'half' as const },
    ]) {
      const response = await api.ask('/api/sync', { method: 'POST', ...init })
      expect(response.status).toBe(413)
      expect(await bodyOf(response)).toMatchObject({ code: 'too-large' })
    }
  })

  it.each(apiPaths)('an unknown parameter of $method $path is named, with a suggestion', async (route) => {
    const response = await api.ask(`${route.path}?limt=1&__proto__=2`, { method: route.method })
    expect(response.status).toBe(400)
    const body = await bodyOf(response)
    expect(body).toMatchObject({ code: 'unknown-parameter', errors: [{ name: 'limt' }, { name: '__proto__' }] })
    const takesPages =
      /search|suggest|find$|chats$|messages|projects$|losses|commits|files|tokens$|GET .*archives$/u.test(
        `${route.method} ${route.path}`,
      )
    expect(String(body['detail']).includes('"limit" was meant')).toBe(takesPages)
  })

  it('messages of more than 8 MB come in several answers, and the one that is asked for is in the first', async () => {
    const large = api.mirror.addChat({ id: 'large' })
    const text = 'word '.repeat(500_000)
    const ids = Array.from({ length: 9 }, (_, position) => `l${position}`)
    for (const [position, id] of ids.entries())
      api.mirror.addMessage(large, {
        id,
        position,
        parts: [{ kind: 'text', text: position === 4 ? text.repeat(4) : text }],
      })
    const page = async (query: string) => {
      const { items, offset, nextOffset } = await bodyOf(await api.ask(`/api/chats/large/messages?${query}`))
      return [(items as { id: string }[]).map(({ id }) => id), offset, nextOffset]
    }
    expect(await page('')).toEqual([['l0', 'l1', 'l2'], 0, 3])
    expect(await page('offset=3')).toEqual([['l3'], 3, 4])
    expect(await page('offset=4&limit=2')).toEqual([['l4'], 4, 5])
    expect(await page('offset=6')).toEqual([['l6', 'l7', 'l8'], 6, null])
    expect(await page('around=l4')).toEqual([['l4'], 4, 5])
    expect(await page('around=l7&limit=9')).toEqual([['l6', 'l7', 'l8'], 6, null])
  })

  it('several bad parameters are all named', async () => {
    const body = await bodyOf(await api.ask('/api/chats?limit=x&sort=y&deleted=z'))
    expect(body['errors']).toEqual([
      { name: 'deleted', reason: 'must be true or false' },
      { name: 'sort', reason: 'must be newest, oldest, size or messages' },
      { name: 'limit', reason: 'must be a whole number from 1 to 200' },
    ])
  })

  it.each(paths)('a wrong method on $path is answered with the right one', async ({ path }) => {
    const taken = new Set(paths.filter((other) => other.path === path).map((other) => other.method))
    const allowed = [...taken].flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]))
    for (const wrong of ['GET', 'POST', 'DELETE', 'OPTIONS'].filter((each) => !allowed.includes(each))) {
      const response = await api.ask(path, { method: wrong })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(allowed.toSorted())
      expect(await bodyOf(response)).toMatchObject({ code: 'method-not-allowed' })
    }
  })

  it('a fault is reported, but the answer shows no details of the program', async () => {
    const broken = createTestApi({
      sync: () => Promise.reject(new Error('secret of the inside')),
    })
    const response = await broken.ask('/api/sync', { method: 'POST' })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
    expect(broken.faults).toEqual([new Error('secret of the inside')])
    broken.dispose()
  })

  it.each<[string, string, RequestInit, UserError]>([
    ['a full disk', '/api/sync', { method: 'POST' }, new UserError('disk-full', 'The disk is full.', 'Free space.')],
    ['a search out of time', '/api/search?q=nowhere', {}, new UserError('deadline', 'Too late.', 'Narrow it.')],
  ])('%s is a 503 with its hint', async (_, path, init, error) => {
    const fail = () => Promise.reject(error)
    const broken = createTestApi({ sync: fail, ask: fail })
    const response = await broken.ask(path, init)
    expect(response.status).toBe(503)
    expect(await bodyOf(response)).toMatchObject({ code: error.code, detail: `${error.message} ${error.hint}` })
    broken.dispose()
  })
})

describe('without a mirror', () => {
  let early: TestApi
  beforeEach(() => {
    early = createTestApi({
      mirror: () => {
        throw new UserError('mirror-missing', 'There is no mirror yet.', 'Start the daemon.')
      },
    })
  })
  afterEach(() => early.dispose())

  it('status has zeros', async () => {
    const response = await early.ask('/api/status')
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toMatchObject({
      sources: [],
      counts: { projects: 0, chats: 0, subagents: 0, messages: 0, orphans: 0, deleted: 0 },
    })
  })

  it.each(['/api/chats', '/api/chats/x', '/api/chats/x/messages', '/api/projects', '/api/projects/x'])(
    '%s is a 503',
    async (path) => {
      const response = await early.ask(path)
      expect(response.status).toBe(503)
      expect(await bodyOf(response)).toMatchObject({ code: 'mirror-missing' })
    },
  )
})

describe('hostile ids', () => {
  it.each(cases<string>('hostile ids'))('%j is one id, decoded once', async (id) => {
    const chat = api.mirror.addChat({ id, createdAt: 5 })
    api.mirror.addMessage(chat, { id, position: 0 })
    api.mirror.addMessage(chat, { id: 'next', position: 1 })
    api.mirror.addProject(id)
    const encoded = encodeURIComponent(id)
    expect(await bodyOf(await api.ask(`/api/chats/${encoded}`))).toMatchObject({ id })
    const page = await bodyOf(await api.ask(`/api/chats/${encoded}/messages?around=${encoded}&limit=1`))
    expect(page).toMatchObject({ items: [{ id, chatId: id }], offset: 0 })
    expect(await bodyOf(await api.ask(`/api/projects/${encoded}`))).toMatchObject({ id })
  })
})
