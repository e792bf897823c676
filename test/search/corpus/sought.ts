import type { Ask } from '../scenes.ts'

const field = /-?\b(?:project|role|in|tool|model|mode|path|chat|before|after|on|is|has):(?:"[^"]*"|\S+)/g

/** The words of a question without operators. */
export function plainWords({ q, plain }: Ask): readonly string[] {
  return (plain ?? q)
    .replaceAll(field, ' ')
    .replaceAll(/(?<=^|\s)-(?:"[^"]*"|\([^)]*\)|[^\s"-]\S*)/g, ' ')
    .replaceAll(/["“”„]|(?<=^|\s)\*|\*(?=$|\s)|\bOR\b/g, ' ')
    .replaceAll(/(?<=^|\s)\(|\)(?=$|\s)/g, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
}

/** Folds case, accents and width. This is independent of the indexer's own folding, so that errors there are found. */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
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
  const sought = soughtBy(ask).map(looked)
  if (sought.length === 0) return () => false
  return ({ folded, parts }) => {
    const isThere = (one: Looked): boolean => folded.includes(one.folded) || parts.includes(one.parts)
    return ask.isAny === true ? sought.some(isThere) : sought.every(isThere)
  }
}

/** Whether a text contains the wanted parts as whole parts: `userNames` does not contain `userName`. */
export function lookForParts(ask: Ask): (text: Looked) => boolean {
  const sought = soughtBy(ask).map(looked)
  return ({ parts }) => sought.every((each) => parts.includes(each.parts))
}
