import { isUnspacedSign, tokenize, type Term } from '../../../text/terms/terms.ts'
import { TERM_LENGTH_MAX } from '../../../text/terms/word-parts.ts'
import { echo } from './echo.ts'
import type { QueryNode, WordsNode } from './tree.ts'

/** How many terms a query may still ask for. */
export interface Budget {
  terms: number
  values: number
}

export const TERMS_MAX = 32

// What holds the parts of one identifier, path or contraction together; all else parts words.
const PIECE = String.raw`(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}\u00ad\u2060\ufeff_\-./\\:@#$+'’%]|\u200c|\u200d)+`
const wordPiece = new RegExp(PIECE, 'gu')
const wholePiece = new RegExp(`^${PIECE}$`, 'u')
const starredPiece = new RegExp(String.raw`^\*(${PIECE})\*$`, 'u')
// `*.ts` is a pattern of files and names a word; `*ending` names the end of one.
const endingPiece = new RegExp(String.raw`^\*((?=[\p{L}\p{M}\p{N}])${PIECE})$`, 'u')

/** True for text that is read as one word where it stands alone. */
export const isOnePiece = (text: string): boolean => wholePiece.test(text)

export interface WordsOptions {
  readonly budget: Budget
  readonly warnings: string[]
  /** Half of an exclusion would exclude more than was asked for. */
  readonly isExcluded: boolean
}

/** The words of one chunk, in order. */
export function readChunk(chunk: string, options: WordsOptions): readonly QueryNode[] {
  const { warnings } = options
  const inside = starredPiece.exec(chunk)?.[1]
  if (inside !== undefined) return readInside(inside, false, options)
  const ending = endingPiece.exec(chunk)?.[1]
  if (ending !== undefined) return readInside(ending, true, options)
  const nodes: QueryNode[] = []
  for (const match of chunk.matchAll(wordPiece)) {
    const [piece] = match
    const end = match.index + piece.length
    if (chunk.charAt(match.index - 1) === '*') {
      warnings.push(`The * before ${echo(piece)} was ignored: a word is found by its beginning, or *inside*.`)
    }
    const isStarred = /^\*(?![\p{L}\p{M}\p{N}])/u.test(chunk.slice(end, end + 3)) && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    nodes.push(...readWords(piece, isStarred, isStarred ? `${piece}*` : piece, options))
  }
  return nodes
}

/** One word or phrase; none where no term is in it. */
export function readWords(
  text: string,
  isStarred: boolean,
  source: string,
  options: WordsOptions,
): readonly WordsNode[] {
  const { warnings } = options
  const found = tokenize(text)
  const last = found.at(-1)
  if (last === undefined) return []
  if (found.some((term) => term.term.length >= TERM_LENGTH_MAX && term.end - term.start > TERM_LENGTH_MAX)) {
    warnings.push(`${echo(source)} was cut: only the first ${TERM_LENGTH_MAX} characters of a word count.`)
  }
  const kept = spend(text, options)
  if (kept === null) return []
  // One letter begins so many words that the search would visit most of the index, unless others stand before it.
  const isTooShort = isStarred && found.length === 1 && /^[a-z\d]$/.test(last.term)
  if (isTooShort) warnings.push(`${echo(source)} was searched for as a whole word: it is a single character.`)
  return [{ kind: 'words', text: kept, isPrefix: isStarred && !isTooShort && kept === text }]
}

/** Unspaced scripts are found inside their text anyway. */
function readInside(text: string, isEnding: boolean, options: WordsOptions): readonly QueryNode[] {
  const found = tokenize(text)
  const isUnspaced = found.some(({ term }) => isUnspacedSign(Array.from(term)[0] ?? ''))
  const isTooShort = found.length === 1 && Array.from(found[0]?.term ?? '').length < 2
  if (isTooShort && !isUnspaced) {
    options.warnings.push(
      `${echo(`*${text}${isEnding ? '' : '*'}`)} was searched for as a whole word: it is a single character.`,
    )
  }
  if (isTooShort || isUnspaced) return readWords(text, false, text, options)
  return found.length > 0 && spend(text, { ...options, isExcluded: true }) !== null
    ? [{ kind: 'inside', text, isEnding }]
    : []
}

/** Takes a text's terms from the budget. @returns what of it there was room for */
function spend(text: string, { budget, warnings, isExcluded }: WordsOptions): string | null {
  const found = tokenize(text)
  const left = budget.terms
  budget.terms = Math.max(0, left - found.length)
  if (found.length <= left) return text
  warnings.push(`Only the first ${TERMS_MAX} words were searched for.`)
  if (left === 0 || isExcluded) return null
  // Of an unspaced script each term reaches into the next one: there the text ends where that begins.
  const cuts = [found[left - 1]?.end, found[left]?.start].map((end) => text.slice(0, end))
  return cuts.find((cut) => isBeginning(tokenize(cut), found, left)) ?? null
}

/** Whether those are the first of the terms, at most so many; of a pair of signs the first may stand alone. */
function isBeginning(terms: readonly Term[], all: readonly Term[], most: number): boolean {
  const isMet = ({ term }: Term, index: number): boolean => {
    const whole = all[index]?.term ?? ''
    return term === whole || (index === terms.length - 1 && isUnspacedSign(term) && whole.startsWith(term))
  }
  return terms.length > 0 && terms.length <= most && terms.every(isMet)
}
