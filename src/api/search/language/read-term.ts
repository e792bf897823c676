import { isUnspacedSign, tokenize, type Term } from '../../../text/terms/terms.ts'
import { TERM_LENGTH_MAX } from '../../../text/terms/word-parts.ts'
import { echo } from './lex.ts'
import { type QueryNode, type WordsNode, fieldNames, type FieldName, type FieldNode, partNames } from './tree.ts'
import { roles } from '../../../model/message.ts'
import { readPeriod } from '../../periods.ts'

/** How many more terms and field values a query may have. */
export interface Budget {
  terms: number
  values: number
}

export const TERMS_MAX = 32

// Characters within one identifier, path or contraction. All others separate words.
const PIECE = String.raw`(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic}\p{Regional_Indicator}\u00ad\u2060\ufeff_\-./\\:@#$+'’%]|\u200c|\u200d)+`
const wordPiece = new RegExp(PIECE, 'gu')
const wholePiece = new RegExp(`^${PIECE}$`, 'u')
const starredPiece = new RegExp(String.raw`^\*(${PIECE})\*$`, 'u')
// `*.ts` is a pattern of files and names a word; `*ending` names the end of one.
const endingPiece = new RegExp(String.raw`^\*((?=[\p{L}\p{M}\p{N}])${PIECE})$`, 'u')

/** Whether the whole text is read as one word. */
export const isOnePiece = (text: string): boolean => wholePiece.test(text)

export interface WordsOptions {
  readonly budget: Budget
  readonly warnings: string[]
  /** Whether the words are excluded. A truncated exclusion would exclude too much, so it is dropped instead. */
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
      warnings.push(`The * before ${echo(piece)} was ignored: use word* for beginnings, or *word* for any position.`)
    }
    const isStarred = /^\*(?![\p{L}\p{M}\p{N}])/u.test(chunk.slice(end, end + 3)) && /[\p{L}\p{M}\p{N}]$/u.test(piece)
    nodes.push(...readWords(piece, isStarred, isStarred ? `${piece}*` : piece, options))
  }
  return nodes
}

/** One word or phrase; empty if the text has no term. */
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
  const affordable = spend(text, options)
  if (affordable === null) return []
  // So many words begin with one letter that the search would read most of the index, unless other terms precede it.
  const isTooShort = isStarred && found.length === 1 && /^[a-z\d]$/.test(last.term)
  if (isTooShort) warnings.push(`${echo(source)} was searched for as a whole word: it is a single character.`)
  return [{ kind: 'words', text: affordable, isPrefix: isStarred && !isTooShort && affordable === text }]
}

/** `*inside*` or `*ending`. Unspaced scripts need no star: their characters are found anywhere in a text. */
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

/** Takes the terms of a text from the budget. @returns the part of the text within the budget; null if none */
function spend(text: string, { budget, warnings, isExcluded }: WordsOptions): string | null {
  const found = tokenize(text)
  const left = budget.terms
  budget.terms = Math.max(0, left - found.length)
  if (found.length <= left) return text
  warnings.push(`Only the first ${TERMS_MAX} words were searched for.`)
  if (left === 0 || isExcluded) return null
  // In unspaced scripts terms overlap. Then the text is cut where the next term begins.
  const cuts = [found[left - 1]?.end, found[left]?.start].map((end) => text.slice(0, end))
  return cuts.find((cut) => isBeginning(tokenize(cut), found, left)) ?? null
}

/** Whether `terms` are the first of `all`, and at most `most`. The last one may be half a pair of unspaced characters. */
function isBeginning(terms: readonly Term[], all: readonly Term[], most: number): boolean {
  const isMet = ({ term }: Term, index: number): boolean => {
    const whole = all[index]?.term ?? ''
    return term === whole || (index === terms.length - 1 && isUnspacedSign(term) && whole.startsWith(term))
  }
  return terms.length > 0 && terms.length <= most && terms.every(isMet)
}

const allowed: Readonly<Partial<Record<FieldName, readonly string[]>>> = {
  role: roles,
  in: partNames,
  is: ['archived', 'deleted', 'subagent', 'orphan'],
  has: ['code', 'error', 'thinking'],
}
const dated: ReadonlySet<FieldName> = new Set<FieldName>(['before', 'after', 'on'])
const VALUE_LENGTH_MAX = 1000

/** Splits `name:value` at the first colon. Null if `name` is no field, or for `name::value`, which is a name in code. */
export function splitField(text: string): { readonly name: FieldName; readonly value: string } | null {
  const [, typed = '', value = ''] = /^([a-z]+):(?!:)(.*)$/is.exec(text) ?? []
  const name = fieldNames.find((each) => each === typed.toLowerCase())
  return name === undefined ? null : { name, value }
}

/** Names that other programs use for dates. A date seldom follows such a name in code. */
const otherDateNames = /^(from|since|to|until):(?!:)(.*)$/i

/** Warns if a date has a name that is not a field, such as `since:2026-03-01`. It is searched for as words. */
export function warnOfDateName(text: string, warnings: string[]): void {
  const [, name = '', value = ''] = otherDateNames.exec(text) ?? []
  if (name === '' || !isDateWord(value)) return
  const meant = /^(?:from|since)$/i.test(name) ? 'after:' : 'before:'
  warnings.push(`${echo(text)} was searched for as words: for dates use after:, before: or on:, here ${meant}${value}.`)
}

/** Reads a field. If it is invalid, adds a warning that says why it is searched for as words. */
export function readField(name: FieldName, given: string, source: string, warnings: string[]): FieldNode | null {
  const value = given.trim()
  const reason = value === '' ? 'there is nothing after the colon' : reasonAgainst(name, value)
  if (reason === null) return { kind: 'field', name, values: [name in allowed ? value.toLowerCase() : value] }
  warnings.push(`${echo(source)} was searched for as words: ${reason}.`)
  return null
}

function reasonAgainst(name: FieldName, value: string): string | null {
  const values = allowed[name]
  if (values !== undefined && !values.includes(value.toLowerCase())) {
    return `${name}: takes ${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`
  }
  if (dated.has(name) && !isDateWord(value)) {
    return `${name}: takes a date such as 2026-03-01, 2026-02, yesterday, 7d or "last week"`
  }
  return value.length > VALUE_LENGTH_MAX ? `it is longer than ${VALUE_LENGTH_MAX} characters` : null
}

const isDateWord = (value: string): boolean => readPeriod(value, { timeZone: 'UTC', nowMs: 0 }) !== null

/** Whether the next word belongs to the value, as in `after:last week`. */
export function wantsUnit(
  { name, value }: { readonly name: FieldName; readonly value: string },
  next: string,
): boolean {
  return dated.has(name) && /^(?:last|this)$/i.test(value) && isDateWord(`${value} ${next}`)
}
