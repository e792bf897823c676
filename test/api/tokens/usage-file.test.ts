import { expect, test } from 'vitest'
import { readUsageFile } from '../../../src/api/tokens/usage-file.ts'
import { casesBeside } from '../../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

const V3 =
  'Date,Cloud Agent ID,Automation ID,Kind,Model,Max Mode,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost'

const read = (text: string, timeZone = 'UTC') => readUsageFile(text, timeZone).events
const first = (text: string, timeZone?: string) => read(text, timeZone)[0]

test('the newest version has two separate input amounts', () => {
  const row =
    '"2026-06-22T13:09:44.478Z","","","Included","claude-4.5-sonnet","No","100","76054","723008","8093","807255","0.71"'
  expect(first(`${V3}\n${row}\n`)).toMatchObject({
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

test('the version of 2025 has only a total, and its parts are unknown', () => {
  const text =
    'Date,User,Kind,Max Mode,Model,Tokens,Cost ($)\r\n"Jul 3, 2025, 01:06 PM",me@x.org,Usage-based,No,gpt-5,"12,345",0.04\r\n'
  const expected = {
    atMs: Date.UTC(2025, 6, 3, 11, 6),
    input: null,
    output: null,
    cacheRead: null,
    total: 12_345,
    cents: 4,
  }
  expect(first(text, 'Europe/Berlin')).toMatchObject({ ...expected, user: 'me@x.org' })
})

test('the total shows if one input contains the other', () => {
  const text = `Date,Model,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens,Total Tokens,Cost\n2026-01-01T10:00:00Z,gpt-5,1200,1000,5000,300,6500,0.12`
  expect(first(text)).toMatchObject({ input: 1000, cacheWrite: 200, cacheRead: 5000, output: 300, total: 6500 })
})

test.each(cases<[what: string, text: string]>('formats'))('a file with any format is read: %s', (_, text) => {
  const events = read(text)
  expect(events).toMatchObject([{ atMs: Date.UTC(2026, 0, 1), model: 'gpt-5', total: 7 }])
})

test('unknown columns are reported', () => {
  const { unknownColumns } = readUsageFile('Date,Mood,Model,Total Tokens,"A, b"\n2026-01-01,x,gpt-5,7,y', 'UTC')
  expect(unknownColumns).toEqual(['Mood', 'A, b'])
})

test.each(cases<[cost: string, cents: number | null]>('costs'))('a cost of %j is %j cents', (cost, cents) => {
  expect(first(`Date,Model,Total Tokens,Cost\n2026-01-01T00:00:00Z,gpt-5,7,"${cost}"`)).toMatchObject({ cents })
})

test.each(cases<[date: string]>('times'))('the time %s is read in its own zone', (date) => {
  const event = first(`Date,Model,Total Tokens\n${date},gpt-5,7`, 'America/New_York')
  expect(event?.atMs).toBe(Date.UTC(2026, 0, 1, 8))
})

test.each(cases<[date: string]>('no times'))(
  'the time %s is refused with line, column and what is expected',
  (date) => {
    const text = `Date,Model,Total Tokens\n${date},gpt-5,7`
    expect(() => read(text)).toThrow(/Line 2, column "Date": .* is not a time from 2000 to 2099 such as/)
  },
)

test.each(cases<[given: string, output: number | null]>('counts'))('a count of %j is %j', (given, output) => {
  const text = `Date,Model,Input (w/o Cache Write),Output Tokens\n2026-01-01T00:00:00Z,gpt-5,1,"${given}"`
  expect(first(text)).toMatchObject({ output })
})

test.each(cases<[text: string, reason: string]>('refused'))(
  'an unreadable file is refused with the reason: %j',
  (text, expected) => {
    expect(() => read(text)).toThrow(new RegExp(expected))
  },
)

test('a row may end before the columns that Cursor leaves empty', () => {
  const text = 'Date,Model,Total Tokens,Cost,Cloud Agent ID,Automation ID\n2026-01-01T00:00:00Z,gpt-5,7,Included\n'
  expect(first(text)).toMatchObject({ model: 'gpt-5', total: 7 })
})

test('equal rows of one file are separate events, and the same events in another version of the file', () => {
  const parts = 'Date,Model,Input (w/ Cache Write),Input (w/o Cache Write),Cache Read,Output Tokens\n'
  const twice = read(`${parts}2026-01-01T00:00:00Z,gpt-5,1,2,3,4\n2026-01-01T00:00:00Z,gpt-5,1,2,3,4\n`)
  expect(twice).toHaveLength(2)
  expect(new Set(twice.map(({ identity }) => identity)).size).toBe(1)
  const total = first('Date,User,Model,Total Tokens\n2026-01-01T00:00:00Z,me,gpt-5,10\n')
  expect(total?.identity).toBe(twice[0]?.identity)
})
