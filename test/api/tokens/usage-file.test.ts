import { expect, test } from 'vitest'
import { readUsageFile } from '../../../src/api/tokens/read-usage-file.ts'

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

test.each([
  ['a byte order mark and Windows line ends', '\ufeffDate,Model,Total Tokens\r\n2026-01-01T00:00:00Z,gpt-5,7\r\n'],
  ['carriage returns as line ends', 'Date,Model,Total Tokens\r2026-01-01T00:00:00Z,gpt-5,7'],
  ['semicolons', 'Date;Model;Total Tokens\n2026-01-01T00:00:00Z;gpt-5;7\n'],
  ['tabs', 'Date\tModel\tTotal Tokens\n2026-01-01T00:00:00Z\tgpt-5\t7\n'],
  ['quotes everywhere', '"Date","Model","Total Tokens"\n"2026-01-01T00:00:00Z","gpt-5","7"\n'],
  [
    'another order of columns, and an unknown column',
    'Total Tokens,Mood,MODEL,date\n7,glad,gpt-5,2026-01-01T00:00:00Z',
  ],
  ['empty lines', '\nDate,Model,Total Tokens\n\n2026-01-01T00:00:00Z,gpt-5,7\n\n\n'],
  [
    'a quote and a comma within a cell',
    'Date,Kind,Model,Total Tokens\n2026-01-01T00:00:00Z,"Errored, ""No"" Charge",gpt-5,7',
  ],
  ['milliseconds', 'Date,Model,Total Tokens\n1767225600000,gpt-5,7'],
])('a file with any format is read: %s', (_, text) => {
  const events = read(text)
  expect(events).toMatchObject([{ atMs: Date.UTC(2026, 0, 1), model: 'gpt-5', total: 7 }])
})

test('unknown columns are reported', () => {
  const { unknownColumns } = readUsageFile('Date,Mood,Model,Total Tokens,"A, b"\n2026-01-01,x,gpt-5,7,y', 'UTC')
  expect(unknownColumns).toEqual(['Mood', 'A, b'])
})

test.each([
  ['$0.12', 12],
  ['0.12', 12],
  ['0,12', 12],
  ['$1,234.50', 123_450],
  ['US$0.004', 0.4],
  ['$0.00', 0],
  ['Included', null],
  ['Free', null],
  ['-', null],
  ['', null],
])('a cost of %j is %j cents', (cost, cents) => {
  expect(first(`Date,Model,Total Tokens,Cost\n2026-01-01T00:00:00Z,gpt-5,7,"${cost}"`)).toMatchObject({ cents })
})

test.each([
  ['0,123', 12.3],
  ['0,1234', 12.34],
  ['0,04', 4],
  ['1,234', 123.4],
  ['1.234,50', 123_450],
  ['1,234.50', 123_450],
  ['0.123', 12.3],
])('in a file separated by semicolons the comma is a decimal sign: %j is %j cents', (cost, cents) => {
  expect(first(`Date;Model;Total Tokens;Cost\n2026-01-01T00:00:00Z;gpt-5;7;${cost}`)).toMatchObject({ cents })
})

test.each([
  ['2026-01-01T10:00:00+02'],
  ['2026-01-01 10:00:00+02:00'],
  ['2026-01-01T10:00:00+02:00[Europe/Helsinki]'],
  ['2026-01-01T10:00:00[Europe/Helsinki]'],
  ['2026-01-01T08:00:00z'],
])('the time %s is read in its own zone', (date) => {
  const event = first(`Date,Model,Total Tokens\n${date},gpt-5,7`, 'America/New_York')
  expect(event?.atMs).toBe(Date.UTC(2026, 0, 1, 8))
})

test.each([
  ['2026-01-01T10:00:00+05:00[Europe/Helsinki]'],
  ['2026-01-01T10:00:00[Nowhere/Land]'],
  ['2026-01-01 10:00 PST'],
  ['+275760-09-13T00:00:00Z'],
  ['1999-12-31T00:00:00Z'],
  ['9999999999999'],
])('the time %s is refused with line, column and what is expected', (date) => {
  const text = `Date,Model,Total Tokens\n${date},gpt-5,7`
  expect(() => read(text)).toThrow(/Line 2, column "Date": .* is not a time from 2000 to 2099 such as/)
})

test('an ambiguous cost is refused', () => {
  const text = 'Date;Model;Total Tokens;Cost\n2026-01-01T00:00:00Z;gpt-5;7;1.234'
  expect(() => read(text)).toThrow(/Line 2, column "Cost"/)
})

test.each([
  ['12345', 12_345],
  ['12,345', 12_345],
  ['1.234.567', 1_234_567],
  ["12'345", 12_345],
  ['12\u00a0345', 12_345],
  ['0', 0],
  ['-', null],
  ['', null],
])('a count of %j is %j', (given, output) => {
  const text = `Date,Model,Input (w/o Cache Write),Output Tokens\n2026-01-01T00:00:00Z,gpt-5,1,"${given}"`
  expect(first(text)).toMatchObject({ output })
})

test.each([
  ['', /file is empty/],
  ['Date,Model,Cost\n', /no column Output Tokens or Total Tokens.*"Date", "Model", "Cost"/],
  ['Model,Total Tokens\n', /no column Date/],
  ['wrong,header\nvalue,value\n', /no column Date and no column Model and no column Output Tokens/],
  [
    'Date,Model,Total Tokens\n2026-01-01,gpt-5,7\nyesterday,gpt-5,8',
    /Line 3, column "Date": "yesterday" is not a time/,
  ],
  ['Date,Model,Total Tokens\n2026-01-01,gpt-5,many', /Line 2, column "Total Tokens": "many" is not a whole number/],
  ['Date,Model,Total Tokens,Cost\n2026-01-01,gpt-5,7,€0.1', /Line 2, column "Cost"/],
  ['Date,Model,Total Tokens\n2026-01-01,gpt-5,7,8', /Line 2, column 4: the row has 4 cells/],
  ['Date,Model,Total Tokens\n2026-01-01,gpt-5,7\n2026-01-02,gpt', /Line 3, column 3: the row has 2 cells/],
  ['Date,Model,Total Tokens,Cost\n2026-01-01,gpt-5,7', /Line 2, column 4: the row has 3 cells, but the file has 4/],
  [
    'Date,Kind,Model,Total Tokens\r\n2026-01-01,"two\r\nlines",gpt-5,7\r\n\r\nyesterday,x,gpt-5,8',
    /Line 5, column "Date"/,
  ],
  ['Date,Model,Total Tokens\n2026-01-01,"gpt-5,7\n', /Line 2 of the file is not valid CSV: a quote is not closed/],
  [
    'Date,Model,Total Tokens\n2026-01-01,"gpt-5,7\n2026-01-02,gpt-5,8\n',
    /Line 2 of the file is not valid CSV: a quote/,
  ],
  [
    'Date,Model,Total Tokens\n2026-01-01,gpt"-5",7\n',
    /Line 2 of the file is not valid CSV: a quote follows other text/,
  ],
  ['Date,Model,Total Tokens\n2026-01-01,"gpt"-5,7\n', /Line 2 of the file is not valid CSV: text follows/],
])('an unreadable file is refused with the reason: %j', (text, expected) => {
  expect(() => read(text)).toThrow(expected)
})

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
