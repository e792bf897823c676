import type { TermPhrase, WantedPhrase } from '../../../text/passages/matcher.ts'
import type { ColumnName } from '../../../text/terms/columns.ts'

/** A test on columns of a message or its chat. */
export type Test =
  | { readonly kind: 'chats'; readonly nums: readonly number[]; readonly says: string; readonly asked: SqlTest }
  /** Keys of messages, both inclusive. */
  | { readonly kind: 'keys'; readonly low: bigint; readonly high: bigint; readonly says: string }
  | SqlTest
  /** Checks the marks of one message in the index, if its title matched. */
  | { readonly kind: 'marks'; readonly match: Match; readonly says: string }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'and' | 'or'; readonly tests: readonly Test[] }

/** An SQL expression over `m` with one `?` per value. */
interface SqlTest {
  readonly kind: 'sql'
  readonly sql: string
  readonly values: readonly (string | number)[]
  readonly says: string
}

/** A query after looking up its words and fields. Matches of the index are separate from tests on columns. */
export type Condition =
  | { readonly kind: 'always' | 'never' }
  | { readonly kind: 'match'; readonly match: Match }
  | { readonly kind: 'test'; readonly test: Test }
  | { readonly kind: 'not'; readonly match: Match }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }

export const always: Condition = { kind: 'always' }
export const never: Condition = { kind: 'never' }

/** All conditions must be true. Matches of the index are joined into one, and so are tests. */
export function allHold(conditions: readonly Condition[]): Condition {
  const flat = conditions.flatMap((each) => (each.kind === 'and' ? each.conditions : [each]))
  if (flat.some((each) => each.kind === 'never')) return never
  return joined('and', gathered('and', flat))
}

export function anyHolds(conditions: readonly Condition[]): Condition {
  const flat = conditions.flatMap((each) => (each.kind === 'or' ? each.conditions : [each])).map(asMatch)
  if (flat.some((each) => each.kind === 'always')) return always
  return joined('or', gathered('or', flat))
}

export function doesNotHold(condition: Condition): Condition {
  switch (condition.kind) {
    case 'always':
      return never
    case 'never':
      return always
    case 'match':
      return { kind: 'not', match: condition.match }
    case 'not':
      return { kind: 'match', match: condition.match }
    case 'test':
      return { kind: 'test', test: { kind: 'not', test: condition.test } }
    default: {
      const parts = condition.conditions.map(doesNotHold)
      return condition.kind === 'and' ? anyHolds(parts) : allHold(parts)
    }
  }
}

function joined(kind: 'and' | 'or', conditions: readonly Condition[]): Condition {
  const [first, second] = conditions
  if (first === undefined) return kind === 'and' ? always : never
  return second === undefined ? first : { kind, conditions }
}

function gathered(kind: 'and' | 'or', conditions: readonly Condition[]): readonly Condition[] {
  const matches = conditions.flatMap((each) => (each.kind === 'match' ? [each.match] : []))
  const tests = conditions.flatMap((each) => (each.kind === 'test' ? [each.test] : []))
  const others = conditions.filter((each) => each.kind === 'not' || each.kind === 'and' || each.kind === 'or')
  const [match, secondMatch] = matches
  const [test, secondTest] = tests
  const oneMatch: Match | undefined =
    secondMatch === undefined ? match : { kind: kind === 'and' ? 'all' : 'any', nodes: matches }
  const oneTest: Test | undefined = secondTest === undefined ? test : { kind, tests }
  return [
    ...(oneMatch === undefined ? [] : [{ kind: 'match', match: oneMatch } as const]),
    ...(oneTest === undefined ? [] : [{ kind: 'test', test: oneTest } as const]),
    ...others,
  ]
}

/** `a -b` can be one match of the index. An exclusion alone cannot. */
function asMatch(condition: Condition): Condition {
  if (condition.kind !== 'and') return condition
  const [first, ...others] = condition.conditions
  const excluded = others.flatMap((each) => (each.kind === 'not' ? [each.match] : []))
  if (first?.kind !== 'match' || excluded.length !== others.length) return condition
  return { kind: 'match', match: { kind: 'but', node: first.match, except: { kind: 'any', nodes: excluded } } }
}

/** What a full-text row must contain. The index alone can answer it. */
export type Match = PhrasesMatch | GroupMatch | ButMatch

export interface PhrasesMatch {
  readonly kind: 'phrases'
  /** One matching phrase is enough. */
  readonly phrases: readonly TermPhrase[]
  /** Null for any column. */
  readonly columns: readonly ColumnName[] | null
  /** False for marks and paths, which do not count for relevance. */
  readonly isWord: boolean
  /** True for the words that `*inside*` matches. */
  readonly isExpanded?: boolean
}

interface GroupMatch {
  readonly kind: 'all' | 'any'
  readonly nodes: readonly Match[]
}

interface ButMatch {
  readonly kind: 'but'
  readonly node: Match
  readonly except: Match
}

/** The match as an FTS5 expression with quoted terms. */
export function expressionOf(match: Match): string {
  switch (match.kind) {
    case 'phrases':
      return phrasesExpression(match, match.phrases)
    case 'but':
      return `(${expressionOf(match.node)} NOT ${expressionOf(match.except)})`
    default:
      return group(match.nodes.map(expressionOf), match.kind === 'all' ? ' AND ' : ' OR ')
  }
}

export function phrasesExpression({ columns }: PhrasesMatch, phrases: readonly TermPhrase[]): string {
  const any = group(phrases.map(phraseExpression), ' OR ')
  if (columns === null) return any
  return `{${columns.join(' ')}} : ${phrases.length > 1 ? any : `(${any})`}`
}

function group(expressions: readonly string[], operator: string): string {
  return expressions.length === 1 ? (expressions[0] ?? '') : `(${expressions.join(operator)})`
}

function phraseExpression({ terms, isPrefix }: TermPhrase): string {
  const phrase = `"${terms.join(' ').replaceAll('"', '""')}"`
  return isPrefix ? `${phrase} *` : phrase
}

/** The words that must be found. They rank a message. */
export function wantedWords(match: Match): readonly PhrasesMatch[] {
  if (match.kind === 'phrases') return match.isWord ? [match] : []
  return match.kind === 'but' ? wantedWords(match.node) : match.nodes.flatMap(wantedWords)
}

/** The spellings of a word to mark in a snippet. */
export function spellingsOf({ phrases, columns }: PhrasesMatch): readonly WantedPhrase[] {
  const [first] = phrases
  const word = `${first?.terms.join(' ') ?? ''}${first?.isPrefix === true ? '*' : ''} in ${phrases.length} spellings`
  return phrases.map((phrase) => ({ ...phrase, word, columns }))
}

/** All phrases, including excluded ones. */
export function allPhrases(match: Match): readonly TermPhrase[] {
  if (match.kind === 'phrases') return match.phrases
  return match.kind === 'but'
    ? [...allPhrases(match.node), ...allPhrases(match.except)]
    : match.nodes.flatMap(allPhrases)
}
