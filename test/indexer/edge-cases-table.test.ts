import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

interface Proof {
  readonly file: string
  readonly title: string
}

interface EdgeCase {
  readonly number: number
  readonly isNext: boolean
  readonly proofs: readonly Proof[]
}

/** The rows of the table: number, case, correct behaviour, and the tests for it. */
const cases = read('../../src/indexer/sources/README.md')
  .split('\n')
  .flatMap((row): EdgeCase[] => {
    const [, number = '', , right = '', held = ''] = row.split('|').map((cell) => cell.trim())
    if (!/^\d+$/.test(number)) return []
    return [{ number: Number(number), isNext: `${right} ${held}`.includes('_next_'), proofs: proofsIn(held) }]
  })

function proofsIn(cell: string): Proof[] {
  return cell.split('<br>').flatMap((proof) => {
    const [, file, title] = /^`([^`]+)`: (.+)$/.exec(proof.trim()) ?? []
    return file === undefined || title === undefined ? [] : [{ file, title }]
  })
}

/** Whether the source contains the text as a whole string, as a test title is. */
const isTitled = (source: string, title: string): boolean =>
  [`'`, '`', '"'].some((quote) => source.includes(`${quote}${title}${quote}`))

test('the rows of the table of edge cases are numbered in order', () => {
  expect(cases.map(({ number }) => number)).toEqual(Array.from({ length: 56 }, (_, index) => index + 1))
})

test('each edge case has a test, and no test is skipped', () => {
  expect(cases.filter(({ proofs }) => proofs.length === 0).map(({ number }) => number)).toEqual([])
  expect(cases.filter(({ isNext }) => isNext).map(({ number }) => number)).toEqual([])
})

test.each(cases.flatMap(({ number, proofs }) => proofs.map(({ file, title }) => [number, file, title] as const)))(
  'edge case %i is tested in %s: %s',
  (_, file, title) => {
    expect(existsSync(new URL(`../${file}`, import.meta.url))).toBe(true)
    // Titles of cases may stand in the data beside the test.
    const data = `../${file.replace(/\.test\.ts$/, '.cases.json')}`
    const sources = [`../${file}`, data].filter((path) => existsSync(new URL(path, import.meta.url))).map(read)
    expect(sources.some((source) => isTitled(source, title))).toBe(true)
  },
)
