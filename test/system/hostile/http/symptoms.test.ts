import { afterEach, beforeEach, expect, test } from 'vitest'
import { listenerOf } from '../../../../src/daemon/server/answer.ts'
import { listen, type AllowedHosts, type Listening } from '../../../../src/daemon/server/listen.ts'
import { createTestApi, type TestApi } from '../../../api/http/test-api.ts'
import { sendRaw, type RawAnswer } from './raw.ts'

let world: TestApi
let listening: Listening
let port: number

beforeEach(async () => {
  let hosts: AllowedHosts = () => new Set()
  world = createTestApi({ access: { token: null, tokenRequired: false, allowedHosts: () => hosts() } })
  listening = await listen({ host: '127.0.0.1', port: 0 }, (allowed) => {
    hosts = allowed
    return Promise.resolve(listenerOf(world.app.fetch))
  })
  port = Number(new URL(listening.url).port)
})
afterEach(async () => {
  await listening.close()
  world.dispose()
})

const ask = async (lines: readonly string[], body = '', isHalfClosed = false): Promise<RawAnswer | undefined> => {
  const bytes = `${lines.join('\r\n')}\r\n\r\n${body}`.replaceAll('{host}', `127.0.0.1:${port}`)
  return (await sendRaw(port, bytes, { isHalfClosed })).answers[0]
}

const codeOf = (answer: RawAnswer | undefined): unknown =>
  answer?.headers['content-type'] === 'application/problem+json'
    ? [answer.status, (JSON.parse(answer.body) as { readonly code: unknown }).code]
    : answer

test('a backslash in the target was refused without a body', async () => {
  expect(codeOf(await ask(['GET /\\evil.com HTTP/1.1', 'Host: {host}']))).toEqual([400, 'bad-target'])
})

test.each([
  ['no HTTP', ['nonsense'], [400, 'bad-request']],
  ['headers beyond the limit', ['GET / HTTP/1.1', 'Host: {host}', `X: ${'a'.repeat(300_000)}`], [431, 'too-large']],
  ['no Host', ['GET / HTTP/1.1'], [421, 'wrong-host']],
  ['an expectation', ['GET / HTTP/1.1', 'Host: {host}', 'Expect: tea'], [417, 'bad-expectation']],
])('%s was refused without a word', async (_, lines, expected) => {
  expect(codeOf(await ask(lines))).toEqual(expected)
})

test('a second Host header, which a proxy might use, was ignored', async () => {
  expect(codeOf(await ask(['GET /api/health HTTP/1.1', 'Host: {host}', 'Host: evil.com']))).toEqual([421, 'wrong-host'])
})

test('a target with a user name and a password caused an internal error', async () => {
  const answer = await ask(['GET http://a:b@{host}/api/health HTTP/1.1', 'Host: {host}'])
  expect(codeOf(answer)).toEqual([421, 'wrong-host'])
})

test.each([
  ['a length that is not reached', 'Content-Length: 9', '{'],
  ['a chunk of no size', 'Transfer-Encoding: chunked', 'zz\r\n'],
])('a body that breaks off was logged as a fault of ours: %s', async (_, header, body) => {
  const head = ['POST /api/sync HTTP/1.1', 'Host: {host}', 'Content-Type: application/json', header]
  expect((await ask(head, body, true))?.status).toBe(400)
  await sendRaw(port, 'GET /api/health HTTP/1.1\r\n\r\n')
  expect([world.faults, world.syncs]).toEqual([[], []])
})

test('a refusal grew with the number of errors', async () => {
  const many = Array.from({ length: 5000 }, (_, at) => `p${at}=1`).join('&')
  for (const query of [many, 'a'.repeat(100_000)]) {
    const answer = await ask([`GET /api/health?${query} HTTP/1.1`, 'Host: {host}'])
    expect(codeOf(answer)).toEqual([400, 'unknown-parameter'])
    expect(answer?.body.length).toBeLessThan(5000)
  }
})
