import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { daemonAnswers, findDaemon } from '../../src/cli/client/client.ts'
import { UserError } from '../../src/model/user-error.ts'

let dataDir: string
let server: Server
let seen: { readonly url: string; readonly token: string | undefined; readonly body: string }[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

const json = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const healthy = (request: IncomingMessage, response: ServerResponse, body: unknown, status = 200) =>
  request.url === '/api/health' ? json(response, 200, { status: 'ok', version: '1' }) : json(response, status, body)

function urlOf(): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return `http://127.0.0.1:${address.port}`
}

const writeDaemonFile = (facts: object) => writeFileSync(join(dataDir, 'daemon.json'), JSON.stringify(facts))

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'cursordex-client-'))
  seen = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8')
    })
    request.on('end', () => {
      seen.push({ url: request.url ?? '', token: request.headers.authorization, body })
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  answer = (request, response) => healthy(request, response, { here: true })
  writeDaemonFile({ pid: process.pid, url: urlOf(), startedAt: '2026-01-01T00:00:00.000Z', version: '1' })
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  rmSync(dataDir, { recursive: true, force: true })
})

test('a running daemon is found and answers', async () => {
  expect(await findDaemon(dataDir)).toEqual({ pid: process.pid, url: urlOf() })
  const answers = await daemonAnswers(dataDir)
  expect(answers?.origin).toBe('daemon')
  expect(
    await answers?.get(
      '/api/chats',
      new URLSearchParams([
        ['q', 'a b'],
        ['q', 'c&d'],
      ]),
    ),
  ).toEqual({ here: true })
  expect(await answers?.post('/api/sync', { full: true })).toEqual({ here: true })
  expect(seen.slice(2).map(({ url, body }) => [url, body])).toEqual([
    ['/api/chats?q=a+b&q=c%26d', ''],
    ['/api/sync', '{"full":true}'],
  ])
})

test('the token of the data folder goes with each question, and not to what may be another program', async () => {
  writeFileSync(join(dataDir, 'token'), 'sesame\n', { mode: 0o600 })
  const answers = await daemonAnswers(dataDir)
  await answers?.get('/api/status', new URLSearchParams())
  expect(seen.map(({ url, token }) => [url, token])).toEqual([
    ['/api/health', undefined],
    ['/api/status', 'Bearer sesame'],
  ])
})

test('without a token none is sent', async () => {
  await (await daemonAnswers(dataDir))?.get('/api/status', new URLSearchParams())
  expect(seen.map(({ token }) => token)).toEqual([undefined, undefined])
})

test('a daemon that asks for its token even about its health is one', async () => {
  const realm = { 'www-authenticate': 'Bearer realm="cursordex"' }
  answer = (_, response) => response.writeHead(401, realm).end('{}')
  expect(await findDaemon(dataDir)).not.toBeNull()
})

test('another program that asked for a password was sent the token', async () => {
  writeFileSync(join(dataDir, 'token'), 'sesame\n', { mode: 0o600 })
  answer = (_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="router"' }).end()
  const answers = await daemonAnswers(dataDir)
  await answers?.get('/api/status', new URLSearchParams()).catch(() => undefined)
  expect([answers, seen.map(({ token }) => token)]).toEqual([null, [undefined]])
})

const noDaemon: readonly [name: string, prepare: () => void][] = [
  ['without daemon.json', () => rmSync(join(dataDir, 'daemon.json'))],
  ['with a data folder that does not exist', () => rmSync(dataDir, { recursive: true })],
  ['with half a daemon.json', () => writeFileSync(join(dataDir, 'daemon.json'), '{"pid": 1')],
  ['with a daemon.json of another shape', () => writeDaemonFile({ pid: 'x' })],
  ['with an address that is none of ours', () => writeDaemonFile({ pid: process.pid, url: 'file:///etc/passwd' })],
  [
    'with a process that is gone',
    () => writeDaemonFile({ pid: spawnSync(process.execPath, ['-e', '0']).pid, url: urlOf() }),
  ],
  ['with another program on the port', () => (answer = (_, response) => json(response, 200, { hello: 'world' }))],
  [
    'with a daemon.json that a killed daemon left, and the daemon of another folder at its address,',
    () => (answer = (_, response) => json(response, 200, { status: 'ok', version: '1', startedAt: '2026-01-02T' })),
  ],
  ['with a program that does not answer', () => (answer = () => {})],
  ['with a port that nobody has', () => server.close()],
]

test.each(noDaemon)('%s there is no daemon', async (_, prepare) => {
  prepare()
  expect(await daemonAnswers(dataDir)).toBeNull()
})

async function troubleWhen(status: number, body: unknown): Promise<UserError> {
  answer = (request, response) => healthy(request, response, body, status)
  const answers = await daemonAnswers(dataDir)
  try {
    await answers?.get('/api/chats', new URLSearchParams())
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

test.each([
  [400, 2],
  [401, 1],
  [404, 1],
  [500, 1],
])('a problem with status %d is told in its words, exit code %d', async (status, exitCode) => {
  const trouble = await troubleWhen(status, {
    type: 'about:blank',
    title: 'T',
    status,
    detail: 'It was so.',
    code: 'so',
  })
  expect(trouble).toMatchObject({ message: 'It was so.', code: 'so', exitCode })
  expect(trouble.hint).toMatch(/\S/)
})

test('“Install git.” was followed by “Try again, or ask for less.”: what is told with its remedy gets no second one', async () => {
  for (const status of [409, 429, 503]) {
    const told = await troubleWhen(status, { status, detail: 'It was so. Do that.', code: 'so' })
    expect(told).toMatchObject({ message: 'It was so. Do that.', hint: '', code: 'so', exitCode: 1 })
    expect((await troubleWhen(status, { status, title: 'T' })).hint).toMatch(/\S/)
  }
})

test('the reasons of a bad request are told', async () => {
  const errors = [{ name: 'limit', reason: 'must be 1 to 200' }]
  const trouble = await troubleWhen(400, { title: 'Bad request', status: 400, errors })
  expect(trouble.message).toBe('Bad request limit: must be 1 to 200')
})

test('what was wrong is told with what was given: one flag of several, and no id a second time', async () => {
  const errors = [{ name: 'from', reason: 'must be a date' }]
  answer = (request, response) => {
    const status = request.url?.startsWith('/api/chats?') === true ? 400 : 404
    healthy(request, response, { detail: 'So it was.', status, ...(status === 400 ? { errors } : {}) }, status)
  }
  const answers = await daemonAnswers(dataDir)
  await expect(answers?.get('/api/chats', new URLSearchParams('from=yesterdy&tz=UTC'))).rejects.toThrow(
    'So it was. from: must be a date You gave "yesterdy".',
  )
  await expect(answers?.get('/api/chats/a%2Fb/messages', new URLSearchParams('limit=2'))).rejects.toThrow(
    /So it was\.$/,
  )
})

test('of a message that is not there it is the message’s id that is told, not that of its chat', async () => {
  const trouble = { detail: 'No such message.', code: 'message-not-found', status: 404 }
  answer = (request, response) => healthy(request, response, trouble, 404)
  const answers = await daemonAnswers(dataDir)
  const asked = answers?.get('/api/chats/c1/messages', new URLSearchParams('around=m1&limit=3'))
  await expect(asked).rejects.toMatchObject({
    message: 'No such message. You gave "m1".',
    hint: expect.stringContaining('--orphans'),
  })
})

test('a file that is too large for one request is told to be imported in parts', async () => {
  answer = (request, response) => healthy(request, response, { detail: 'So much.', code: 'too-large' }, 413)
  const answers = await daemonAnswers(dataDir)
  const told = answers?.post('/api/tokens/import?tz=UTC', 'Date', 'text/csv')
  await expect(told).rejects.toMatchObject({ message: 'So much.', hint: expect.stringContaining('in parts') })
})

test('a failure that is no problem document is told by its status', async () => {
  expect((await troubleWhen(502, 'oops')).message).toBe('The answer was HTTP 502.')
})

test('a daemon that breaks off is trouble, not a bug', async () => {
  answer = (request, response) => {
    if (request.url === '/api/health') return json(response, 200, { status: 'ok' })
    response.writeHead(200, { 'content-length': '100' }).write('{')
    response.destroy()
  }
  const answers = await daemonAnswers(dataDir)
  await expect(answers?.get('/api/chats', new URLSearchParams())).rejects.toMatchObject({ code: 'daemon-lost' })
})

test('a token that cannot be read is named', async () => {
  mkdirSync(join(dataDir, 'token'))
  await expect(daemonAnswers(dataDir)).rejects.toMatchObject({ code: 'unreadable' })
})

test('what the daemon has not read yet is told with the answer, and of the last answer only', async () => {
  const answers = await daemonAnswers(dataDir)
  expect(answers?.missing?.()).toBeNull()
  answer = (request, response) => {
    if (request.url === '/api/chats') response.setHeader('cursordex-unread', '400 rows are missing here.')
    healthy(request, response, { here: true })
  }
  await answers?.get('/api/chats', new URLSearchParams())
  expect(answers?.missing?.()).toBe('400 rows are missing here.')
  await answers?.get('/api/search', new URLSearchParams())
  expect(answers?.missing?.()).toBeNull()
})

test('what is missing in a text, such as an export, is told like that of a list', async () => {
  const answers = await daemonAnswers(dataDir)
  answer = (request, response) => {
    response.setHeader('cursordex-unread', '400 rows are missing here.')
    healthy(request, response, 'a chat')
  }
  for await (const stretch of answers?.text('/api/chats/c/export', new URLSearchParams()) ?? []) {
    expect(stretch).toBe('"a chat"')
  }
  expect(answers?.missing?.()).toBe('400 rows are missing here.')
})
