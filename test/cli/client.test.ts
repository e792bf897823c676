import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { piecesOf, daemonAnswers, findDaemon } from '../../src/cli/client/client.ts'
import { UserError } from '../../src/model/user-error.ts'
import { CsvText } from '../../src/shared/client.ts'

let dataDir: string
let server: Server
let seen: { readonly url: string; readonly token: string | undefined; readonly body: string }[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

const json = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const someWords: unknown = expect.stringMatching(/\S/)

const startedAt = '2026-01-01T00:00:00.000Z'

const healthy = (request: IncomingMessage, response: ServerResponse, body: unknown, status = 200) =>
  request.url === '/api/health' ? json(response, 200, { status: 'ok', startedAt }) : json(response, status, body)

/** A daemon that is well, and what it answers otherwise. */
const besideHealth = (act: (response: ServerResponse) => void): void => {
  answer = (request, response) =>
    request.url === '/api/health' ? json(response, 200, { status: 'ok', startedAt }) : act(response)
}

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
  writeDaemonFile({ pid: process.pid, url: urlOf(), startedAt, version: '1' })
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  rmSync(dataDir, { recursive: true, force: true })
})

test('a running daemon is found and answers', async () => {
  expect(await findDaemon(dataDir)).toEqual({ pid: process.pid, url: urlOf(), version: '1' })
  const answers = await daemonAnswers(dataDir)
  expect(answers?.daemon?.url).toBe(urlOf())
  expect(await answers?.get('/api/chats', { query: { mode: ['a b', 'c&d'] } })).toEqual({ here: true })
  expect(await answers?.post('/api/sync', { body: { full: true } })).toEqual({ here: true })
  expect(seen.slice(2).map(({ url, body }) => [url, body])).toEqual([
    ['/api/chats?mode=a+b&mode=c%26d', ''],
    ['/api/sync', '{"full":true}'],
  ])
})

test('each request sends the token of the data folder, if it has one, but not to a program that may be another one', async () => {
  await (await daemonAnswers(dataDir))?.get('/api/status')
  writeFileSync(join(dataDir, 'token'), 'sesame\n', { mode: 0o600 })
  await (await daemonAnswers(dataDir))?.get('/api/status')
  const asked = ['/api/health', '/api/status']
  expect(seen.map(({ url }) => url)).toEqual([...asked, ...asked])
  expect(seen.map(({ token }) => token)).toEqual([undefined, undefined, undefined, 'Bearer sesame'])
})

test('a daemon that requires its token for its health is recognized', async () => {
  const realm = { 'www-authenticate': 'Bearer realm="cursordex"' }
  answer = (_, response) => response.writeHead(401, realm).end('{}')
  expect(await findDaemon(dataDir)).not.toBeNull()
})

test('the token was sent to another program that required a password', async () => {
  writeFileSync(join(dataDir, 'token'), 'sesame\n', { mode: 0o600 })
  answer = (_, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="router"' }).end()
  const answers = await daemonAnswers(dataDir)
  await answers?.get('/api/status').catch(() => undefined)
  expect([answers, seen.map(({ token }) => token)]).toEqual([null, [undefined]])
})

const noDaemon: readonly [name: string, prepare: () => void][] = [
  ['without daemon.json', () => rmSync(join(dataDir, 'daemon.json'))],
  ['with a data folder that does not exist', () => rmSync(dataDir, { recursive: true })],
  ['with an incomplete daemon.json', () => writeFileSync(join(dataDir, 'daemon.json'), '{"pid": 1')],
  ['with a daemon.json of another shape', () => writeDaemonFile({ pid: 'x' })],
  ['with an address that is not HTTP', () => writeDaemonFile({ pid: process.pid, url: 'file:///etc/passwd' })],
  [
    'with a process that has ended',
    () => writeDaemonFile({ pid: spawnSync(process.execPath, ['-e', '0']).pid, url: urlOf() }),
  ],
  ['with another program on the port', () => (answer = (_, response) => json(response, 200, { hello: 'world' }))],
  [
    'with a daemon.json that a killed daemon left, and the daemon of another folder at its address,',
    () => (answer = (_, response) => json(response, 200, { status: 'ok', version: '1', startedAt: '2026-01-02T' })),
  ],
  ['with a program that does not answer', () => (answer = () => {})],
  ['with an unused port', () => server.close()],
]

test.each(noDaemon)('%s no daemon is found', async (_, prepare) => {
  prepare()
  expect(await daemonAnswers(dataDir)).toBeNull()
})

async function errorWhen(status: number, body: unknown): Promise<UserError> {
  answer = (request, response) => healthy(request, response, body, status)
  const answers = await daemonAnswers(dataDir)
  try {
    await answers?.get('/api/chats')
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}

const problem = { type: 'about:blank', title: 'T', detail: 'It was so.', code: 'so' }
const badLimit = { title: 'Bad request', errors: [{ name: 'limit', reason: 'must be 1 to 200' }] }

// What is wrong with a bad request says what would be right, and needs no hint.
test.each([
  [400, problem, { message: 'It was so.', code: 'so', exitCode: 2, hint: '' }],
  ...[401, 404, 500].map(
    (status) => [status, problem, { message: 'It was so.', code: 'so', exitCode: 1, hint: someWords }] as const,
  ),
  [400, badLimit, { message: 'Bad request limit: must be 1 to 200' }],
  [502, 'oops', { message: 'The answer was HTTP 502.' }],
] as const)('an answer with status %d and %j is shown as an error', async (status, body, shown) => {
  expect(await errorWhen(status, typeof body === 'string' ? body : { ...body, status })).toMatchObject(shown)
})

test('an error with its own remedy got a second one: “Install git.” was followed by “Try again, or ask for less.”', async () => {
  for (const status of [400, 409, 429, 503]) {
    const error = await errorWhen(status, { status, detail: 'It was so. Do that.', code: 'so' })
    expect(error).toMatchObject({ message: 'It was so. Do that.', hint: '', code: 'so' })
    expect((await errorWhen(status, { status, title: 'T' })).hint).toMatch(/\S/)
  }
})

test('an error names the wrong value: one of several flags, and no id twice', async () => {
  const errors = [{ name: 'from', reason: 'must be a date' }]
  answer = (request, response) => {
    const status = request.url?.startsWith('/api/chats?') === true ? 400 : 404
    healthy(request, response, { detail: 'So it was.', status, ...(status === 400 ? { errors } : {}) }, status)
  }
  const answers = await daemonAnswers(dataDir)
  await expect(answers?.get('/api/chats', { query: { from: 'yesterdy', tz: 'UTC' } })).rejects.toThrow(
    'So it was. from: must be a date You gave "yesterdy".',
  )
  await expect(answers?.get('/api/chats/:id/messages', { id: 'a/b', query: { limit: 2 } })).rejects.toThrow(
    /So it was\.$/,
  )
})

test('if a message does not exist, the error names the message’s id and not the chat’s', async () => {
  const error = { detail: 'No such message.', code: 'message-not-found', status: 404 }
  answer = (request, response) => healthy(request, response, error, 404)
  const answers = await daemonAnswers(dataDir)
  const asked = answers?.get('/api/chats/:id/messages', { id: 'c1', query: { around: 'm1', limit: 3 } })
  await expect(asked).rejects.toMatchObject({
    message: 'No such message. You gave "m1".',
    hint: expect.stringContaining('--orphans'),
  })
})

test('for a file that is too large for one request, the hint is to import it in parts', async () => {
  answer = (request, response) => healthy(request, response, { detail: 'So much.', code: 'too-large' }, 413)
  const answers = await daemonAnswers(dataDir)
  const imported = answers?.post('/api/tokens/import', { body: new CsvText('Date') })
  await expect(imported).rejects.toMatchObject({ message: 'So much.', hint: expect.stringContaining('in parts') })
})

test('a daemon that breaks off is reported as an error, not as a bug', async () => {
  besideHealth((response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{')
    response.destroy()
  })
  const answers = await daemonAnswers(dataDir)
  await expect(answers?.get('/api/chats')).rejects.toMatchObject({ code: 'daemon-lost' })
})

test('an unreadable token file is named', async () => {
  mkdirSync(join(dataDir, 'token'))
  await expect(daemonAnswers(dataDir)).rejects.toMatchObject({
    code: 'not-a-file',
    message: expect.stringContaining('token is a folder'),
  })
})

test('what the daemon has not read yet is reported for the last answer only', async () => {
  const answers = await daemonAnswers(dataDir)
  expect(answers?.missing?.()).toBeNull()
  answer = (request, response) => {
    if (request.url === '/api/chats') response.setHeader('cursordex-unread', '400 rows are missing here.')
    healthy(request, response, { here: true })
  }
  await answers?.get('/api/chats')
  expect(answers?.missing?.()).toBe('400 rows are missing here.')
  await answers?.get('/api/search')
  expect(answers?.missing?.()).toBeNull()
})

test('what an export lacks is reported as for a list', async () => {
  const answers = await daemonAnswers(dataDir)
  answer = (request, response) => {
    response.setHeader('cursordex-unread', '400 rows are missing here.')
    healthy(request, response, 'a chat')
  }
  expect(await (await answers?.open('/api/chats/:id/export', { id: 'c' }))?.text()).toBe('"a chat"')
  expect(answers?.missing?.()).toBe('400 rows are missing here.')
})

async function textOf(id: string): Promise<string> {
  const answers = await daemonAnswers(dataDir)
  let text = ''
  const response = await answers?.open('/api/chats/:id/export', { id, query: { as: 'jsonl' } })
  for await (const stretch of piecesOf(response ?? new Response())) text += stretch
  return text
}

test('a text arrives completely, and the request has its parameters and the token', async () => {
  writeFileSync(join(dataDir, 'token'), 'sesame', { mode: 0o600 })
  const long = '漢'.repeat(100_000)
  besideHealth((response) => response.end(long))
  expect(await textOf('a b')).toBe(long)
  expect(seen.at(-1)).toMatchObject({ url: '/api/chats/a%20b/export?as=jsonl', token: 'Bearer sesame' })
})

test('a text that fails or breaks off is an error', async () => {
  answer = (request, response) => healthy(request, response, { detail: 'No chat has this id.', code: 'none' }, 404)
  await expect(textOf('none')).rejects.toMatchObject({ code: 'none', message: 'No chat has this id.' })
  besideHealth((response) => {
    response.write('half')
    setImmediate(() => response.destroy())
  })
  await expect(textOf('half')).rejects.toMatchObject({ code: 'daemon-lost' })
})

test('an answer that is not JSON is not taken for one of cursordex', async () => {
  besideHealth((response) => response.end('<h1>Router</h1>'))
  const answers = await daemonAnswers(dataDir)
  const error = { code: 'unexpected-answer', hint: expect.stringContaining('service restart') }
  await expect(answers?.get('/api/chats')).rejects.toMatchObject(error)
})
