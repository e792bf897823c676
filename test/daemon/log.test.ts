import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog, stackWithoutText, type LogOutput } from '../../src/daemon/lifecycle/log.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T10:00:00Z') }))
beforeEach(() => ['FORCE_COLOR', 'NO_COLOR'].forEach((name) => vi.stubEnv(name, '')))
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

function lineOnTerminal(details: object = {}, message = 'Indexed.'): string {
  const stream = new PassThrough()
  createLog('info', Object.assign(stream, { isTTY: true, fd: 2 }) as unknown as LogOutput).info(details, message)
  return String(stream.read() ?? '')
}

test.each([
  ['xterm', true],
  ['dumb', false],
])('on a %s terminal a line of the log wipes the bar that may stand there: %s', (term, wipes) => {
  vi.stubEnv('TERM', term)
  expect([lineOnTerminal().startsWith('\r\u001b[K'), lineOnTerminal().includes('Indexed.')]).toEqual([wipes, true])
})

test('names of folders and chats in the log cannot send control codes to the terminal', () => {
  vi.stubEnv('TERM', 'dumb')
  const name = '/tmp/\u001b]0;mine\u0007/\u202egpj'
  const line = lineOnTerminal({ path: name, [name]: { name } }, `${name} was read.`)
  expect(['\u001b', '\u0007', '\u202e'].filter((order) => line.includes(order))).toEqual([])
  expect(line.split('\\x1b]0;mine\\x07/\\u202egpj was read.')).toHaveLength(2)
})

test.each([
  ['where the terminal knows none', { TERM: 'dumb' }],
  ['where they are not wanted', { TERM: 'xterm', NO_COLOR: '1' }],
])('a line of the log has no colours %s, also where CI is set', (_, env) => {
  vi.stubEnv('CI', 'true')
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  expect(lineOnTerminal().replace('\r\u001b[K', '')).not.toContain('\u001b')
})

test('a warning has a colour on a terminal', () => {
  vi.stubEnv('TERM', 'xterm')
  expect(lineOnTerminal().replace('\r\u001b[K', '')).toContain('\u001b[2m')
})

test('a log line on a terminal has local time', () => {
  vi.stubEnv('TZ', 'Asia/Kathmandu')
  expect(lineOnTerminal()).toContain('15:45:00')
})

function errorOf(text: string): Error {
  try {
    JSON.parse(text)
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it is JSON')
}

test.each([
  'walnut chat {',
  'walnut',
  'walnut "is not valid JSON" walnut',
  'walnut\nwalnut',
  `[1, ${'2, '.repeat(20)} walnut, ${'3, '.repeat(20)}]`,
  '{"a": walnut}',
])('the log of a request that met what is no JSON holds nothing of it: %j', (text) => {
  const error = errorOf(text)
  expect(error.message).toMatch(/wal|'w'/)
  for (const each of [error, new Error(`a search failed: ${error.message}`)]) {
    const stack = stackWithoutText(each) ?? ''
    expect(stack).not.toMatch(/wal|'w'/)
    expect(stack).toContain('It is not valid JSON')
    expect(stack).toMatch(/\n +at /)
  }
})
