import * as fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { expect, test } from 'vitest'
import { countText } from '../helpers/estimate-all.ts'

const plain = { disallowedSpecial: new Set<string>() }
/** The library removes a byte order mark before the lookup, so it does not find its token. */
const noMark = (text: string): boolean => !text.includes('\ufeff')

const words = fc.constantFrom(
  'getUserName',
  ' tokenizer',
  "it's",
  '数据库',
  'データ',
  'ภาษาไทย',
  'Ünïcödé',
  '👩‍💻',
  '\ud83d',
  '\r\n\t ',
  '00000012345',
  '=>{',
  '/usr/lib//x',
  '<|endoftext|>',
)

test('a text of one piece has as many tokens as the library counts', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 250 }),
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.array(words, { maxLength: 15 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts.filter(noMark), (text) => {
      expect(countText(text)).toBe(countTokens(text, plain))
    }),
    { numRuns: 3000 },
  )
})

test('a byte order mark counts as one token, not as its bytes', () => {
  // In the encoding's list its three bytes are one token, of rank 5574.
  expect(countText('\ufeff')).toBe(1)
})
