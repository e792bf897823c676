import { expect, test } from 'vitest'
import { readTimestamp } from '../../../src/indexer/sources/records/json/read-time.ts'
import { unwrapPrompt } from '../../../src/indexer/sources/records/message/unwrap-prompt.ts'
import { query } from '../../helpers/eras/transcripts.ts'
import { startCpuClock } from '../../helpers/cpu-time.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

test.each(cases<[string, string, string[]]>('texts'))('%s', (_, given, texts) => {
  expect(unwrapPrompt(given).texts).toEqual(texts)
})

test.each(cases<[string, string, string[]]>('paths'))('the paths of %s are read', (_, wrapper, paths) => {
  expect(unwrapPrompt(`${wrapper}\n${query('a')}`).paths).toEqual(paths)
})

test('a hostile nest of tags takes no time', () => {
  const cpuMs = startCpuClock()
  for (const unit of ['<a>', '</user_query><a>', '<user_query>', '<a></a>', '[Image]', ' path="', '<a ']) {
    unwrapPrompt(`<user_query>${unit.repeat(200_000)}`)
    unwrapPrompt(`<attached_files>${unit.repeat(200_000)}</attached_files>${unit.repeat(1000)}`)
  }
  expect(cpuMs()).toBeLessThan(5000)
})

test.each(cases<[string, number]>('times'))('%s is a time', (given, atMs) => {
  expect(readTimestamp(` ${given}\n`)).toBe(atMs)
})

test.each(cases<string>('no certain times'))('"%s" is no certain time', (given) => {
  expect(readTimestamp(given)).toBeNull()
})
