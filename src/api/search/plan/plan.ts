import type { TermPhrase } from '../../text/matcher.ts'
import type { Clause, TermsNode, WantedNode } from './parse.ts'

/** A query as the full-text tables take it. All strings are FTS5 expressions, their terms quoted. */
export interface QueryPlan {
  /** What a row must match. Null where nothing is asked for, or only exclusions are. */
  readonly match: string | null
  /** Matches the same rows as `match`, and ranks those higher in which separate words stand side by side. */
  readonly rankMatch: string | null
  /** What a row must not match, where `match` is null and so cannot say it. */
  readonly exclude: string | null
  /** What to mark in a passage. */
  readonly phrases: readonly TermPhrase[]
  /** Prefixes make each look into the index costly: it merges the lists of all the words they begin. */
  readonly hasPrefix: boolean
}

export function planQuery(clauses: readonly Clause[]): QueryPlan {
  const wanted = clauses.flatMap(({ node }) => (node.kind === 'not' ? [] : [node]))
  const unwanted = clauses.flatMap(({ node }) => (node.kind === 'not' ? [node.node] : []))
  const exclude = unwanted.length === 0 ? null : unwanted.map(expressionOf).join(' OR ')
  const without = (expression: string): string => (exclude === null ? expression : `(${expression}) NOT (${exclude})`)
  return {
    match: wanted.length === 0 ? null : without(wanted.map(expressionOf).join(' AND ')),
    rankMatch: wanted.length === 0 ? null : without(rankedExpressions(wanted).join(' AND ')),
    exclude: wanted.length === 0 ? exclude : null,
    phrases: wanted.flatMap(termsOf),
    hasPrefix: [...wanted, ...unwanted].flatMap(termsOf).some((terms) => terms.isPrefix),
  }
}

function expressionOf(node: WantedNode): string {
  if (node.kind === 'and') return `(${node.nodes.map(expressionOf).join(' AND ')})`
  const spelt = phraseExpression(node.terms, node.isPrefix)
  return node.lowered === null ? spelt : `(${spelt} OR ${phraseExpression(node.lowered, node.isPrefix)})`
}

function phraseExpression(terms: readonly string[], isPrefix: boolean): string {
  const phrase = `"${terms.join(' ').replaceAll('"', '""')}"`
  return isPrefix ? `${phrase} *` : phrase
}

/** `b` becomes `(b OR "a b")`: the same rows, one more phrase for bm25 to count where both stand together. */
function rankedExpressions(nodes: readonly WantedNode[]): readonly string[] {
  return nodes.map((node, index) => {
    const before = nodes[index - 1]
    const canJoin = before !== undefined && isTerms(before) && isTerms(node) && !before.isPrefix
    if (!canJoin) return expressionOf(node)
    return `(${expressionOf(node)} OR ${phraseExpression([...before.terms, ...node.terms], node.isPrefix)})`
  })
}

function isTerms(node: WantedNode): node is TermsNode {
  return node.kind !== 'and'
}

function termsOf(node: WantedNode): readonly TermPhrase[] {
  if (node.kind === 'and') return node.nodes.flatMap(termsOf)
  const { terms, lowered, isPrefix } = node
  return lowered === null
    ? [{ terms, isPrefix }]
    : [
        { terms, isPrefix },
        { terms: lowered, isPrefix },
      ]
}
