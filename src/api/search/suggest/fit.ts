import { createMatcher } from '../../../text/passages/matcher.ts'
import { nearTerms } from '../../../text/near-terms.ts'
import { tokenize } from '../../../text/terms/terms.ts'
import { slipsForgiven } from '../spelling/near-words.ts'
import type { TypedWord } from './typed.ts'

const WHOLE = 1
const AT_START = 0.9
const SOMEWHERE = 0.75
/** With a typo or two. */
const NEARLY = 0.5

/**
 * How well a name or a title fits the typed words, 0 to 1. It is 0 if a word is missing. An exact match is best, then a
 * match at the start.
 */
export function fitOf(words: readonly TypedWord[]): (text: string) => number {
  const fits = words.map(wordFit)
  return (text) => {
    let sum = 0
    for (const fit of fits) {
      const one = fit(text)
      if (one === 0) return 0
      sum += one
    }
    return fits.length === 0 ? 0 : sum / fits.length
  }
}

function wordFit(word: TypedWord): (text: string) => number {
  const matcher = createMatcher(word.phrases)
  return (text) => {
    const spans = matcher.find(text).flatMap((match) => match.spans)
    const [first] = spans
    if (first === undefined) return isNearly(word, text) ? NEARLY : 0
    if (spans.some(({ start, end }) => start === 0 && end === text.length)) return WHOLE
    return spans.some(({ start }) => start === 0) ? AT_START : SOMEWHERE
  }
}

function isNearly({ terms, isUnfinished }: TypedWord, text: string): boolean {
  const [only, ...others] = terms
  const distanceMax = only === undefined || others.length > 0 ? 0 : slipsForgiven(only.term)
  if (only === undefined || distanceMax === 0) return false
  return tokenize(text).some(({ term }) => {
    const seek = (from: string): string | undefined => (term >= from ? term : undefined)
    return nearTerms(only.term, seek, { distanceMax, isUnfinished }).length > 0
  })
}
