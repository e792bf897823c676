import { expect, test } from 'vitest'
import { readUsageFile } from '../../../src/api/usage-file.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const HEAD =
  'Date,Cloud Agent ID,Automation ID,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost'

const first = (text: string) => readUsageFile(text)[0]

test('a file of today has two separate input amounts', () => {
  const row =
    '"2026-06-22T13:09:44.478Z","","","Included","claude-4.5-sonnet","No","100","76054","723008","8093","807255","0.71"'
  expect(first(`${HEAD}\n${row}\n`)).toMatchObject({
    line: 2,
    atMs: Date.UTC(2026, 5, 22, 13, 9, 44, 478),
    kind: 'Included',
    model: 'claude-4.5-sonnet',
    user: null,
    input: 76_054,
    cacheWrite: 100,
    cacheRead: 723_008,
    output: 8093,
    total: 807_255,
    cents: 71,
  })
})

test('a file with only a total has unknown parts', () => {
  const text = 'Date,User,Kind,Max Mode,Model,Tokens,Cost ($)\r\n2025-07-03T11:06:00Z,me@x.org,Free,No,gpt-5,7,0.04\r\n'
  expect(first(text)).toMatchObject({
    user: 'me@x.org',
    input: null,
    output: null,
    cacheRead: null,
    total: 7,
    cents: 4,
  })
})

test.each(cases<[what: string, text: string]>('formats'))('a file with any format is read: %s', (_, text) => {
  expect(readUsageFile(text)).toMatchObject([{ atMs: Date.UTC(2026, 0, 1), model: 'gpt-5', total: 7 }])
})

test.each(cases<[cost: string, cents: number | null]>('costs'))('a cost of %j is %j cents', (cost, cents) => {
  expect(first(`Date,Model,Total Tokens,Cost\n2026-01-01T00:00:00Z,gpt-5,7,"${cost}"`)).toMatchObject({ cents })
})

test.each(cases<[date: string]>('no times'))('the time %s is refused with its line and what is expected', (date) => {
  const text = `Date,Model,Total Tokens\n${date},gpt-5,7`
  expect(() => readUsageFile(text)).toThrow(/Line 2: the date .* is not a time from 2000 to 2099 such as/)
})

test.each(cases<[given: string, output: number | null]>('counts'))('a count of %j is %j', (given, output) => {
  const text = `Date,Model,Output Tokens,Total Tokens\n2026-01-01T00:00:00Z,gpt-5,"${given}",1`
  expect(first(text)).toMatchObject({ output })
})

test.each(cases<[text: string, reason: string]>('refused'))(
  'an unreadable file is refused with the reason: %j',
  (text, expected) => {
    expect(() => readUsageFile(text)).toThrow(new RegExp(expected))
  },
)
