import type { Ask } from '../corpus/planted.ts'
import { foldText, plainWords } from './plain-words.ts'

/** What a question looks for, for a plain text search: words and phrases, or the right word of a misspelt question. */
function soughtBy(ask: Ask): readonly string[] {
  if (ask.spelling !== undefined) return [ask.spelling]
  if (ask.plain !== undefined) return plainWords(ask)
  const phrases = [...ask.q.matchAll(/(?<=^|[\s(])["“]([^"”]+)["”]/g)].map(([, phrase = '']) => phrase)
  const rest = ask.q.replaceAll(/(?<=^|[\s(])["“][^"”]+["”]/g, ' ')
  return [...phrases, ...plainWords({ ...ask, q: rest })]
}

/** A text prepared for the plain search. */
export interface Looked {
  readonly folded: string
  readonly parts: string
}

export const looked = (text: string): Looked => ({ folded: foldText(text), parts: partsOf(text) })

/** Whether a text contains what a question looks for, even inside other words or in another spelling. */
export function lookFor(ask: Ask): (text: Looked) => boolean {
  const sought = soughtBy(ask).map((each) => ({ folded: foldText(each), parts: partsOf(each) }))
  if (sought.length === 0) return () => false
  return ({ folded, parts }) => {
    const isThere = (one: (typeof sought)[number]): boolean => folded.includes(one.folded) || parts.includes(one.parts)
    return ask.isAny === true ? sought.some(isThere) : sought.every(isThere)
  }
}

/** The parts of an identifier in lower case, separated and surrounded by spaces. Independent of the indexer's own code. */
function partsOf(text: string): string {
  const parted = text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/(\d)(?=\D)|(\D)(?=\d)/g, '$1$2 ')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
  return ` ${foldText(parted).trim()} `
}

/** Whether a text contains the wanted parts as whole parts: `userNames` does not contain `userName`. */
export function lookForParts(ask: Ask): (text: Looked) => boolean {
  const sought = soughtBy(ask).map(partsOf)
  return ({ parts }) => sought.every((each) => parts.includes(each))
}
