import type { TermPhrase, WantedPhrase } from '../../text/passages/matcher.ts'
import type { ColumnName } from '../../text/terms/columns.ts'
import { kindOf, LOWER, isUnspacedSign, TERM_LENGTH_MAX, tokenize, type Term } from '../../text/terms/terms.ts'

/** Words, marks or paths that a row of the index must have. */
export interface Words {
  readonly kind: 'words'
  /** One matching phrase is enough. */
  readonly phrases: readonly TermPhrase[]
  /** Null for any column. */
  readonly columns: readonly ColumnName[] | null
  /** False for marks and paths, which do not count for relevance. */
  readonly isWord: boolean
  /** True for the words that `*inside*` matches. */
  readonly isExpanded: boolean
}

/** What needs no full-text table: an expression with one `?` per value, or a range of keys of messages, both inclusive. */
export type Test =
  /** `chats` is over `c`, a chat; `messages` is over `m`, a message. */
  | { readonly kind: 'chats' | 'messages'; readonly sql: string; readonly values: readonly string[] }
  | { readonly kind: 'keys'; readonly low: number; readonly high: number }

/**
 * A query after looking up its words and fields. Only tests, and what has nothing but words, are negated. An `and` of
 * nothing always holds, and an `or` of nothing never.
 */
export type Condition =
  | Words
  | Test
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'and' | 'or'; readonly all: readonly Condition[] }

export const never: Condition = { kind: 'or', all: [] }

export const allHold = (conditions: readonly Condition[]): Condition => joined('and', conditions)
export const anyHolds = (conditions: readonly Condition[]): Condition => joined('or', conditions)

function joined(kind: 'and' | 'or', conditions: readonly Condition[]): Condition {
  const all = conditions.flatMap((each) => (each.kind === kind ? each.all : [each]))
  // One of the other kind that has nothing decides.
  const deciding = all.find((each) => 'all' in each && each.all.length === 0)
  const [first = never] = all
  return deciding ?? (all.length === 1 ? first : { kind, all })
}

export function doesNotHold(condition: Condition): Condition {
  if (condition.kind === 'not') return condition.of
  if (!('all' in condition) || isOfWords(condition)) return { kind: 'not', of: condition }
  return joined(condition.kind === 'and' ? 'or' : 'and', condition.all.map(doesNotHold))
}

const isOfWords = (condition: Condition): boolean =>
  'all' in condition ? condition.all.length > 0 && condition.all.every(isOfWords) : condition.kind === 'words'

/** What holds because of a word: a title is only found by its words, not by the fields of its messages. */
export function heldByWords(condition: Condition): Condition {
  if (condition.kind === 'words') return condition
  if (condition.kind === 'or') return anyHolds(condition.all.map(heldByWords))
  if (condition.kind !== 'and') return never
  if (condition.all.some((each) => expressionOf(each) !== null)) return condition
  return allHold([...condition.all, anyHolds(condition.all.map(heldByWords))])
}

/** The parts that must all hold. */
export const partsOf = (condition: Condition): readonly Condition[] =>
  condition.kind === 'and' ? condition.all : [condition]

/** How the index is walked for a condition. */
export interface Drive {
  /** An FTS5 expression with quoted terms, which every row has. Null if there may be rows without any of the words. */
  readonly match: string | null
  /** What else must hold. */
  readonly rest: readonly Condition[]
}

/** The condition as an FTS5 expression. Null if the index alone cannot answer it. */
export function expressionOf(condition: Condition): string | null {
  const { match, rest } = withinIndex(condition)
  return rest.length === 0 ? match : null
}

export function driveOf(condition: Condition): Drive {
  const { wanted, unwanted, rest } = sorted(partsOf(condition))
  if (wanted.length === 0) return { match: null, rest: partsOf(condition) }
  // A word that was typed twice is searched for once: bm25 would count it twice.
  const match = [...new Set(wanted)].join(' AND ')
  return { match: unwanted.length === 0 ? match : `(${match}) NOT (${unwanted.join(' OR ')})`, rest }
}

/** The same for a part of an expression. */
function withinIndex(condition: Condition): Drive {
  if (condition.kind === 'words') return { match: phrasesExpression(condition, condition.phrases), rest: [] }
  if (!('all' in condition)) return { match: null, rest: [condition] }
  const { wanted, unwanted, rest } = sorted(condition.all)
  if (wanted.length === 0 || (condition.kind === 'or' && wanted.length < condition.all.length)) {
    return { match: null, rest: [condition] }
  }
  const match = group(wanted, condition.kind)
  return { match: unwanted.length === 0 ? match : `(${match} NOT ${group(unwanted, 'or')})`, rest }
}

/** What of some conditions the index can answer, as expressions, and what must be tested. */
function sorted(conditions: readonly Condition[]) {
  const [wanted, unwanted, rest]: [string[], string[], Condition[]] = [[], [], []]
  for (const each of conditions) {
    const { match, rest: others } = withinIndex(each)
    const excluded = each.kind === 'not' ? expressionOf(each.of) : null
    if (match !== null) wanted.push(match)
    if (excluded !== null) unwanted.push(excluded)
    else if (others.length > 0) rest.push(each)
  }
  return { wanted, unwanted, rest }
}

const group = (expressions: readonly string[], operator: 'and' | 'or'): string =>
  expressions.length === 1 ? (expressions[0] ?? '') : `(${expressions.join(` ${operator.toUpperCase()} `)})`

export function phrasesExpression({ columns }: Pick<Words, 'columns'>, phrases: readonly TermPhrase[]): string {
  const expression = group(
    phrases.map(({ terms, isPrefix }) => `"${terms.join(' ').replaceAll('"', '""')}"${isPrefix ? ' *' : ''}`),
    'or',
  )
  if (columns === null) return expression
  return `{${columns.join(' ')}} : ${phrases.length > 1 ? expression : `(${expression})`}`
}

/** The words that must be found, in the order of the query. They rank a message. */
export function wantedWords(condition: Condition): readonly Words[] {
  if (condition.kind === 'words') return condition.isWord ? [condition] : []
  return 'all' in condition ? condition.all.flatMap(wantedWords) : []
}

/** Whether a phrase of the condition, wanted or not, is the beginning of a word: the index then merges many lists. */
export function hasPrefix(condition: Condition): boolean {
  if (condition.kind === 'words') return condition.phrases.some(({ isPrefix }) => isPrefix)
  if (condition.kind === 'not') return hasPrefix(condition.of)
  return 'all' in condition && condition.all.some(hasPrefix)
}

/** The spellings of a word to mark in a snippet. */
export function spellingsOf({ phrases, columns }: Words): readonly WantedPhrase[] {
  const [first] = phrases
  const word = `${first?.terms.join(' ') ?? ''}${first?.isPrefix === true ? '*' : ''} in ${phrases.length} spellings`
  return phrases.map((phrase) => ({ ...phrase, word, columns }))
}

/**
 * Expressions for the words of a query that stand close: `pairs` for two neighbours side by side, `row` for the longest
 * sequence of three or more in its order. Null if there are too few words.
 */
export function closeExpressions(condition: Condition): { readonly pairs: string | null; readonly row: string | null } {
  const parts = partsOf(condition).filter((part) => expressionOf(part) !== null)
  const rows: Words[][] = []
  let before: Words | null = null
  for (const part of parts) {
    // The many words of `*inside*` stand beside nothing.
    const word = part.kind === 'words' && part.isWord && !part.isExpanded ? part : null
    const isNext = word !== null && before?.phrases[0]?.isPrefix === false
    if (isNext && before?.columns?.join() === word.columns?.join()) rows.at(-1)?.push(word)
    else rows.push(word === null ? [] : [word])
    before = word
  }
  const pairs = rows.flatMap((row) => row.slice(1).flatMap((word, at) => sideBySide([row[at] ?? word, word]) ?? []))
  const longest = rows.reduce((most, row) => (row.length > most.length ? row : most), [])
  return {
    pairs: pairs.length === 0 ? null : group([...new Set(pairs)], 'or'),
    row: longest.length < 3 ? null : sideBySide(longest),
  }
}

function sideBySide(words: readonly Words[]): string | null {
  const phrases = words.flatMap(({ phrases: [first] }) => first ?? [])
  const [last, end] = [words.at(-1), phrases.at(-1)]
  if (last === undefined || end === undefined || phrases.length < words.length) return null
  const terms = phrases.flatMap((phrase, at) => [...bridge(phrases[at - 1], phrase), ...phrase.terms])
  return phrasesExpression(last, [{ terms, isPrefix: end.isPrefix }])
}

/** Between two adjacent unspaced words, the index has a pair of one character of each. */
function bridge(left: TermPhrase | undefined, right: TermPhrase): readonly string[] {
  const last = Array.from(left?.terms.at(-1) ?? '').at(-1) ?? ''
  const first = Array.from(right.terms[0] ?? '')[0] ?? ''
  return isUnspacedSign(last) && isUnspacedSign(first) ? [last + first] : []
}

/**
 * The terms that the index may have for these words: as spelt, and with the same letters split in other ways, because
 * `OAuthToken` also means `oauth_token`, and `java_script` also means `javascript`.
 */
export function wordPhrases(text: string, isPrefix: boolean): readonly TermPhrase[] {
  const found = tokenize(text)
  const terms = found.map((term) => term.term)
  const last = found.at(-1)
  if (last === undefined) return []
  if (isUnspacedSign(last.term)) {
    // In the index, a character is usually the start of a pair. After its own pair it adds nothing.
    const before = found.at(-2)
    const isCovered = before !== undefined && before.end > last.start
    return isCovered ? [{ terms: terms.slice(0, -1), isPrefix: false }] : [{ terms, isPrefix: true }]
  }
  const hash = isPrefix ? hashStart(text) : []
  const phrases = [terms, ...otherPartings(text, found), ...hash].map((each) => ({ terms: each, isPrefix }))
  return [...new Map(phrases.map((phrase) => [phrase.terms.join(' '), phrase])).values()]
}

/** Eight hexadecimal digits are one term, and fewer digits may be the beginning of one. */
function hashStart(text: string): readonly (readonly string[])[] {
  const [digits] = /(?<![\p{L}\p{M}\p{N}])(?=[\da-f]{2,7}$)(?:\d+[a-f]|[a-f]+\d)[\da-f]*$/iu.exec(text) ?? []
  if (digits === undefined) return []
  return [[...tokenize(text.slice(0, -digits.length)).map((term) => term.term), digits.toLowerCase()]]
}

/** Each spelling costs an index query. A name with more parts is searched only as spelt and as one piece. */
const SINGLE_JOINTS_MAX = 8

/** All parts joined, and each two neighbours joined. */
function otherPartings(text: string, found: readonly Term[]): readonly (readonly string[])[] {
  const joints = found.flatMap((term, index) => (isJoint(text, found[index - 1], term) ? [index] : []))
  if (joints.length === 0) return []
  const singles = joints.length > 1 && joints.length <= SINGLE_JOINTS_MAX ? joints.map((joint) => [joint]) : []
  return [joints, ...singles].map((closed) => {
    const parts: string[] = []
    for (const [index, { term }] of found.entries()) {
      parts.push(closed.includes(index) ? `${parts.pop() ?? ''}${term}`.slice(0, TERM_LENGTH_MAX) : term)
    }
    return parts
  })
}

/** Whether others may write these two parts of a name as one: at a capital, or at `_` or `-` between letters. */
function isJoint(text: string, left: Term | undefined, right: Term): boolean {
  if (left === undefined || !/^[_-]?$/.test(text.slice(left.end, right.start))) return false
  const letters = [Array.from(left.term).at(-1), Array.from(right.term).at(0)]
  return letters.every((letter = '') => kindOf(letter.codePointAt(0) ?? 0) === LOWER)
}
