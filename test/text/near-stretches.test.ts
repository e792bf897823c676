import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { visitLoweredWords } from '../../src/text/terms/lowered-words.ts'
import { createMatcher, type TermPhrase } from '../../src/text/passages/matcher.ts'
import { nearStretches } from '../../src/text/passages/near-stretches.ts'
import { tokenize } from '../../src/text/terms/terms.ts'

const words = 'user User USER name userName getUserName user_name isIPv6 ipv6 a 7 deadbeef01'.split(' ')
const signs = [
  ' ',
  ' ',
  ' ',
  '-',
  '\n',
  '…',
  '—',
  'é',
  'É',
  'e\u0301',
  'ß',
  '数据库',
  '数',
  'İ',
  '\u212a',
  '👍🏽',
  '\u00ad',
  '\u200d',
]
const pieces = [...words, ...signs]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((all) => all.join(''))
const terms = [
  'user',
  'name',
  'get',
  'ip',
  'v',
  '6',
  'pv',
  'ipv',
  'username',
  'e',
  'ss',
  'a',
  '数据',
  '库',
  'k',
  'deadbeef01',
]
const phrase = fc.record({
  terms: fc.array(fc.constantFrom(...terms), { minLength: 1, maxLength: 3 }),
  isPrefix: fc.boolean(),
})

/** Ends of the matches of a phrase, computed from all terms of the text. */
function endsOf(
  all: readonly { readonly term: string; readonly end: number }[],
  { terms: wanted, isPrefix }: TermPhrase,
) {
  return all.flatMap(({ end }, at) => {
    const own = all.slice(at - wanted.length + 1, at + 1).map(({ term }) => term)
    const fits = own.length === wanted.length && own.every((term, index) => term === wanted[index])
    const begins = own.slice(0, -1).join(' ') === wanted.slice(0, -1).join(' ') && own.length === wanted.length
    return fits || (isPrefix && begins && (own.at(-1) ?? '').startsWith(wanted.at(-1) ?? '')) ? [end] : []
  })
}

/** The same over the whole text. */
function plainEnds(written: string, wanted: TermPhrase): readonly number[] {
  const ends = endsOf(tokenize(written), wanted)
  visitLoweredWords(written, (word, _, end) => {
    ends.push(...endsOf(tokenize(word), wanted).map(() => end))
  })
  return ends
}

describe('the stretches of a text near searched terms', () => {
  test('contain all matches of the whole text', () => {
    fc.assert(
      fc.property(text, phrase, (written, wanted) => {
        const found = createMatcher([wanted]).find(written)
        expect(found).toHaveLength(plainEnds(written, wanted).length)
      }),
      { numRuns: 3000 },
    )
  })

  test('are few if a word is rare', () => {
    const written = `${'filler words here '.repeat(1000)}one needle${' and filler'.repeat(1000)}`
    const stretches = nearStretches(written, ['needle'], 1)
    expect(stretches.map(({ start, end }) => written.slice(start, end))).toEqual(['one needle'])
  })

  test('are the whole text if its lower case has another length', () => {
    expect(nearStretches('İ needle', ['needle'], 0)).toEqual([{ start: 0, end: 8 }])
  })
})
