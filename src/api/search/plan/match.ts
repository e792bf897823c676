import type { TermPhrase, WantedPhrase } from '../../../text/passages/matcher.ts'
import type { ColumnName } from '../../../text/terms/columns.ts'

/** What a full-text row must hold: something that the index alone can answer. */
export type Match = PhrasesMatch | GroupMatch | ButMatch

export interface PhrasesMatch {
  readonly kind: 'phrases'
  /** Any of them will do. */
  readonly phrases: readonly TermPhrase[]
  /** Null: anywhere. */
  readonly columns: readonly ColumnName[] | null
  /** False for marks and paths, which say nothing of how well a message fits. */
  readonly isWord: boolean
  /** True for the many words that `*inside*` may mean. */
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

/** As an FTS5 expression, its terms quoted. */
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

/** The words of it that are wanted: what ranks a message. */
export function wantedWords(match: Match): readonly PhrasesMatch[] {
  if (match.kind === 'phrases') return match.isWord ? [match] : []
  return match.kind === 'but' ? wantedWords(match.node) : match.nodes.flatMap(wantedWords)
}

/** What of a word is to be marked in a passage, and where. */
export function spellingsOf({ phrases, columns }: PhrasesMatch): readonly WantedPhrase[] {
  const [first] = phrases
  const word = `${first?.terms.join(' ') ?? ''}${first?.isPrefix === true ? '*' : ''} in ${phrases.length} spellings`
  return phrases.map((phrase) => ({ ...phrase, word, columns }))
}

/** Every phrase, those of exclusions too. */
export function allPhrases(match: Match): readonly TermPhrase[] {
  if (match.kind === 'phrases') return match.phrases
  return match.kind === 'but'
    ? [...allPhrases(match.node), ...allPhrases(match.except)]
    : match.nodes.flatMap(allPhrases)
}
