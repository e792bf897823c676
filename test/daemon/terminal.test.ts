import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createLog,
  stackWithoutText,
  type LogOutput,
  progressLine,
  progressText,
} from '../../src/daemon/lifecycle/log.ts'
import { startupWarnings } from '../../src/engine/source-reasons.ts'

describe('the log', () => {
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
})

describe('the progress', () => {
  function paper(isTTY: boolean, columns = 80) {
    const stream = new PassThrough()
    const out = Object.assign(stream, { isTTY, columns }) as unknown as NodeJS.WriteStream
    return { out, read: () => String(stream.read() ?? '') }
  }

  const progress = { stage: 'reading', done: 1234, total: 3700, bytesPerSecond: 10, etaMs: 1500 } as const

  test('the bar shows the share, the rows and the time left', () => {
    expect(progressText(progress, 80)).toBe('Reading  ████████░░░░░░░░░░░░░░░░ 33%  1,234 of 3,700 rows, 2 s left')
  })

  test.each([
    [
      { stage: 'indexing', done: 0, total: 0, bytesPerSecond: null, etaMs: null },
      'Indexing ░░░░░░░░░░░░░░░░░░░░░░░░ 0%  0 of 0 messages',
    ],
    [
      { stage: 'indexing', done: 9, total: 5, bytesPerSecond: 1, etaMs: 0 },
      'Indexing ████████████████████████ 100%  9 of 5 messages, 0 s left',
    ],
  ] as const)('%j is a bar within its bounds', (given, text) => {
    expect(progressText(given, 80)).toBe(text)
  })

  test('on a terminal the line is overwritten, and removed at the end', () => {
    const { out, read } = paper(true)
    const line = progressLine(out, { env: {} })
    line.show(progress)
    line.show(progress)
    expect(read().split('\r\u001b[K')).toEqual(['', progressText(progress, 80), progressText(progress, 80)])
    line.show(null)
    expect(read()).toBe('\r\u001b[K')
    line.show(null)
    expect(read()).toBe('')
  })

  test.each([20, 40, 60, 68, 69, 80])(
    'in %i columns the progress fits one line, because only one line is overwritten',
    (columns) => {
      const { out, read } = paper(true, columns)
      progressLine(out, { env: {} }).show(progress)
      const shown = read().replace('\r\u001b[K', '')
      expect(shown.length).toBeLessThan(columns)
      expect(shown).toContain('Reading')
      expect(shown).toContain('33%')
    },
  )
})

describe('the warnings at the start', () => {
  const about = (places: readonly string[]): string[] =>
    startupWarnings(places, false).filter((sentence) => sentence.includes('Cursor'))

  test('without Cursor the warning names each place that was searched, and a remedy', () => {
    const places = [join(homedir(), 'nowhere'), join(homedir(), 'elsewhere')]
    const [sentence, ...others] = about(places)
    expect(others).toEqual([])
    for (const place of places) expect(sentence).toContain(place)
    expect(sentence).toContain('--cursor-user-dir or --cursor-home')
  })

  test('without a folder in the settings the warning says so', () => {
    expect(about([])).toEqual([expect.stringContaining('no folder is set')])
  })

  test('one existing Cursor folder is enough', () => {
    expect(about([join(homedir(), 'nowhere'), mkdtempSync(join(homedir(), 'user-'))])).toEqual([])
  })

  const accounts = ['root:x:0:0:root:/root:/bin/sh', 'bob:x:1999:1999::/home/bob:/bin/bash', ''].join('\n')

  test.runIf(process.platform === 'linux')('with --auth there is no warning to use it', () => {
    const warningsFor = (asksForToken: boolean) => startupWarnings([homedir()], asksForToken, accounts)
    expect(warningsFor(false)).toEqual([expect.stringContaining('Use --auth')])
    expect(warningsFor(true)).toEqual([])
  })
})
