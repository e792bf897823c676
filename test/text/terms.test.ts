import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GAP_TERM } from '../../src/text/terms/lowered-words.ts'
import { indexTerms, isUnspacedSign, tokenize } from '../../src/text/terms/terms.ts'

describe('splitting a text into terms', () => {
  test.each([
    ['getUserName', 'get user name'],
    ['get_user_name', 'get user name'],
    ['GetUserName', 'get user name'],
    ['get-user-name', 'get user name'],
    ['GET_USER_NAME', 'get user name'],
    ['HTTPServer', 'http server'],
    ['parseHTTP2Response', 'parse http 2 response'],
    ['utf8', 'utf 8'],
    ['kw12x2', 'kw 12 x 2'],
    ['src/api/search.ts', 'src api search ts'],
    ['a1b2c3d4e5', 'a1b2c3d4e5'],
    ['A1B2C3D4E5', 'a1b2c3d4e5'],
    ['deadbeef', 'deadbeef'],
    ['12345678', '12345678'],
    ['a1b2c3d', 'a 1 b 2 c 3 d'],
    ['数据库', '数据 据库 库'],
    ['库', '库'],
    ['用户abc登录', '用户 户 abc 登录 录'],
    ['データベース', 'デー ータ タベ ベー ース ス'],
    ['도서관', '도서 서관 관'],
    ['ภาษา', 'ภา าษ ษา า'],
    ['Straße', 'strasse'],
    ['ŒUVRE Ærø Łódź đ ıİ', 'oeuvre aero lodz d i i'],
    ['Ёлка Й', 'елка и'],
    ['ΣΊΣΥΦΟΣ ς', 'σισυφοσ σ'],
    ['مُحَمَّد', 'محمد'],
    ['محـــمد أُسْتَاذ', 'محمد استاذ'],
    ['שָׁלוֹם', 'שלום'],
    ['ＡＢＣ１', 'abc 1'],
    ['ｶﾞ', 'ガ'],
    ['naïveÜber', 'naive uber'],
    ['ship it 🚀🎉', 'ship it 🚀 🎉'],
    ['co\u00adop', 'coop'],
    ['មិន\u200bអាច\u200b', indexTerms('មិនអាច')],
    ['zero\u200bwidth', 'zero width'],
    ['“quoted”—dash', 'quoted dash'],
    ['', ''],
    ['\ud800 a\u0000b', 'a b'],
  ])('%j gives %j', (text, terms) => {
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

  test.each([
    ['JavaScript and TypeScript, JavaScript', 'java script and type script java script', ['javascript', 'typescript']],
    ['new HTTPServer()', 'new http server', ['httpserver']],
    ['plain words, CONSTANTS, Capitals and utf8', 'plain words constants capitals and utf 8', []],
    ['用GitHub登录 GitHub로', '用 git hub 登录 录 git hub 로', ['github']],
    ['ที่GitHub', 'ที ี่ ่ git hub', ['github']],
    ['⚠\ufe0fGitHub 🖥\ufe0fGitHub', '⚠ git hub 🖥 git hub', ['github']],
    ['葛\u{e0100}GitHub', '葛 git hub', ['github']],
    ['n\u0303aBc ñaBc aBcé', 'na bc na bc a bce', []],
  ])('%j is also indexed in lower case', (text, terms, lowered) => {
    expect(indexTerms(text).split(` ${GAP_TERM} `)).toEqual([terms, ...lowered])
  })

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

  test('voicing marks and vowels stay significant', () => {
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
    expect(['库', '𠀀', 'あ', '数据', 'a', 'é', '🚀'].map(isUnspacedSign)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })
})
