import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ProgressLine, progressText } from '../../src/daemon/lifecycle/progress-line.ts'

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
  const line = new ProgressLine(out, { env: {} })
  line.show(progress)
  line.show(progress)
  expect(read().split('\r\u001b[K')).toEqual(['', progressText(progress, 80), progressText(progress, 80)])
  line.show(null)
  expect(read()).toBe('\r\u001b[K')
  line.show(null)
  line.clear()
  expect(read()).toBe('')
})

test('without a terminal nothing is written', () => {
  const { out, read } = paper(false)
  const line = new ProgressLine(out, { env: {} })
  line.show(progress)
  line.clear()
  expect(read()).toBe('')
})

test.each([20, 40, 60, 68, 69, 80])(
  'in %i columns the progress fits one line, because only one line is overwritten',
  (columns) => {
    const { out, read } = paper(true, columns)
    new ProgressLine(out, { env: {} }).show(progress)
    const shown = read().replace('\r\u001b[K', '')
    expect(shown.length).toBeLessThan(columns)
    expect(shown).toContain('Reading')
    expect(shown).toContain('33%')
  },
)

test('a terminal without a known width counts as 80 columns wide', () => {
  const { out, read } = paper(true, 0)
  new ProgressLine(out, { env: {} }).show(progress)
  expect(read()).toBe(`\r\u001b[K${progressText(progress, 80)}`)
})

test('a terminal without control codes gets no progress line', () => {
  const { out, read } = paper(true)
  const line = new ProgressLine(out, { env: { TERM: 'dumb' } })
  line.show(progress)
  line.clear()
  expect(read()).toBe('')
})
