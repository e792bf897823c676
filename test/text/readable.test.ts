import { describe, expect, test } from 'vitest'
import { withoutEscapes, withoutOrders } from '../../src/text/passages/readable.ts'
import { startCpuClock } from '../helpers/cpu-time.ts'

describe('terminal sequences are removed', () => {
  test.each([
    ['colours', '\u001b[31mfailed\u001b[39m at \u001b[1;36msrc/a.ts\u001b[0m:12', 'failed at src/a.ts:12'],
    ['colours inside a word', 'get\u001b[01;31m\u001b[KUser\u001b[m\u001b[KName', 'getUserName'],
    ['cursor movements separate words', 'building\u001b[2K\u001b[1Gdone', 'building  done'],
    ['an unfinished sequence stays', 'a \u001b[31', 'a \u001b[31'],
    ['plain text stays', '[31mfailed', '[31mfailed'],
  ])('%s', (_, text, expected) => {
    expect(withoutOrders(text)).toBe(expected)
  })
})

describe('JSON escapes are decoded', () => {
  test.each([
    ['line ends and tabs', String.raw`{"body":"Steps:\nopen\tsettings\r\n"}`, '{"body":"Steps:\nopen\tsettings\n\n"}'],
    ['letters', String.raw`["Pr\u00fcfung \u6570\u636e \ud83d\ude80"]`, '["Prüfung 数据 🚀"]'],
    [
      'a backslash in a path is not an escape',
      String.raw`[{"path":"C:\\new\\table"}]`,
      String.raw`[{"path":"C:\\new\\table"}]`,
    ],
    ['a quoted quote stays', String.raw`{"a":"say \"no\""}`, String.raw`{"a":"say \"no\""}`],
    ['cut off', String.raw`{"a":"x\ny\u00`, '{"a":"x\ny\\u00'],
    ['a Windows path', String.raw`C:\new\table`, String.raw`C:\new\table`],
    ['code', String.raw`printf("a\nb")`, String.raw`printf("a\nb")`],
  ])('%s', (_, text, expected) => {
    expect(withoutEscapes(text)).toBe(expected)
  })
})

test('the time for hostile text is linear', () => {
  const cpuMs = startCpuClock()
  for (const piece of ['\u001b[', '\u001b[1;', ' ', '{\\', '[', '{"\\u', '\u001b'])
    withoutOrders(withoutEscapes(piece.repeat(500_000)))
  expect(cpuMs()).toBeLessThan(2000)
})
