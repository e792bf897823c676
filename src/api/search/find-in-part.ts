import type { Part } from '../../model/part.ts'
import { columnOf, searchableText, type ColumnName } from '../../text/terms/columns.ts'
import { stretchesOf } from '../../text/passages/spoken-texts.ts'
import type { TermMatch, TermMatcher } from '../../text/passages/matcher.ts'

/** The matches in one part of a message. */
export interface PartFound {
  readonly part: Part
  /** The column with most of the words. For a text it can be `code`, if they are between its fences. */
  readonly column: ColumnName
  readonly text: string
  readonly matches: readonly TermMatch[]
  readonly words: ReadonlySet<number>
}

export function findInPart(part: Part, matcher: TermMatcher): PartFound {
  const { text } = searchableText(part)
  const stretches = part.kind === 'text' ? stretchesOf(text) : null
  const column = columnOf(part.kind)
  if (stretches === null) {
    const matches = matcher.find(text, column)
    return { part, column, text, matches, words: wordsOf(matches) }
  }
  const inText: TermMatch[] = []
  const inCode: TermMatch[] = []
  for (const { start, end, isCode } of stretches) {
    const found = matcher.find(text.slice(start, end), isCode ? 'code' : 'text')
    for (const match of found) (isCode ? inCode : inText).push(shifted(match, start))
  }
  const isMostlyCode = wordsOf(inCode).size > wordsOf(inText).size
  const matches = [...inText, ...inCode]
  return { part, column: isMostlyCode ? 'code' : 'text', text, matches, words: wordsOf(matches) }
}

export const wordsOf = (matches: readonly TermMatch[]): ReadonlySet<number> => new Set(matches.map(({ word }) => word))

const shifted = ({ word, spans }: TermMatch, by: number): TermMatch => ({
  word,
  spans: spans.map(({ start, end }) => ({ start: start + by, end: end + by })),
})
