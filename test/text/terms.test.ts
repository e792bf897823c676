import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GAP_TERM, indexTerms, isUnspacedSign, tokenize } from '../../src/text/terms/terms.ts'
import { casesBeside } from '../helpers/cases.ts'

const cases = casesBeside(import.meta.url)

describe('splitting a text into terms', () => {
  test.each(cases<[text: string, terms: string]>('terms'))('%j gives %j', (text, terms) => {
    expect(indexTerms(text).split(` ${GAP_TERM} `)[0]).toBe(terms)
  })

  test('a term is cut to 64 units, never inside a character', () => {
    expect(indexTerms('x'.repeat(100))).toBe('x'.repeat(64))
    // Gothic letters take two units each: an odd start would put the cut between them.
    expect(indexTerms(`a${'\u{10330}'.repeat(50)}`)).toBe(`a${'\u{10330}'.repeat(31)}`)
  })

  test('composed and decomposed text give the same terms', () => {
    const sign = fc.constantFrom('é', 'ガ', 'が', 'ñ', '관', '각', 'Å', 'й', 'a', 'B', ' ', '1', '数', 'हि', 'ภำ', '_')
    fc.assert(
      fc.property(fc.array(sign), (signs) => {
        const text = signs.join('')
        expect(indexTerms(text.normalize('NFD'))).toBe(indexTerms(text.normalize('NFC')))
      }),
    )
  })

  test.each(cases<[text: string, terms: string, lowered: string[]]>('lower case'))(
    '%j is also indexed in lower case',
    (text, terms, lowered) => {
      expect(indexTerms(text).split(` ${GAP_TERM} `)).toEqual([terms, ...lowered])
    },
  )

  test('the fast path for ASCII gives the same lower-case spellings as the general one', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('aB', 'ABc', 'a1B', 'utf8Name', 'JavaScript', '0xABcd12', ' '))
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        // A separate non-ASCII dash changes no word and leads to the general path.
        expect(indexTerms(text)).toBe(indexTerms(`${text} —`))
      }),
      { numRuns: 1000 },
    )
  })

  test('voicing marks and vowels stay significant, and a space without width is none', () => {
    expect(indexTerms('មិន\u200bអាច\u200b')).toBe(indexTerms('មិនអាច'))
    expect(indexTerms('が')).not.toBe(indexTerms('か'))
    expect(indexTerms('ที่')).not.toBe(indexTerms('ท'))
  })

  test('both ways of splitting give the same terms for any string', () => {
    const piece = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('é', '数据', 'aB', '12', '—'))
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('')
        const terms = tokenize(text)
        expect(indexTerms(text).split(` ${GAP_TERM} `)[0]?.replace(GAP_TERM, '')).toBe(
          terms.map((term) => term.term).join(' '),
        )
        for (const { term, start, end } of terms) {
          expect(term).toMatch(/^(?:[a-z0-9]|\P{ASCII})+$/u)
          expect(start).toBeLessThan(end)
          expect(end).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('offsets refer to the original text', () => {
    const text = 'see getÜserName in 数据库'
    const spellings = tokenize(text).map(({ start, end }) => text.slice(start, end))
    expect(spellings).toEqual(['see', 'get', 'Üser', 'Name', 'in', '数据', '据库', '库'])
  })

  test('only a single character of an unspaced script is an unspaced sign', () => {
    expect(['库', '𠀀', 'あ', '数据', 'a', 'é', '🚀'].filter(isUnspacedSign)).toEqual(['库', '𠀀', 'あ'])
  })
})
