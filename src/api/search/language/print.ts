import { splitField, isOnePiece } from './read-term.ts'
import type { QueryNode, WordsNode } from './tree.ts'

/** A query in normal form. Parsed again, it gives the same tree. */
export function printQuery(tree: QueryNode | null): string {
  return tree === null ? '' : printNode(tree, 'or')
}

/** @param around the weakest operator that needs no parentheses here */
function printNode(node: QueryNode, around: 'or' | 'and' | 'not'): string {
  switch (node.kind) {
    case 'words':
      return printWords(node)
    case 'inside':
      return `*${node.text}${node.isEnding ? '' : '*'}`
    case 'field':
      return node.values.map((value) => printValue(node.name, value)).join(' ')
    case 'not':
      return printExclusion(node.node)
    default: {
      const inner = node.nodes.map((each) => printNode(each, node.kind === 'or' ? 'and' : 'not'))
      const text = inner.join(node.kind === 'or' ? ' OR ' : ' ')
      const isBare = around === 'or' || (around === 'and' && node.kind === 'and')
      return isBare ? text : `(${text})`
    }
  }
}

/** Several exclusions of a field mean: none of these values. */
function printExclusion(node: QueryNode): string {
  if (node.kind === 'field') return node.values.map((value) => `-${printValue(node.name, value)}`).join(' ')
  return node.kind === 'and' || node.kind === 'or' ? `-(${printNode(node, 'or')})` : `-${printNode(node, 'not')}`
}

function printValue(name: string, value: string): string {
  const isBare = /^[^\s"“”„()]+$/.test(value) && !value.startsWith(':')
  if (isBare) return `${name}:${value}`
  return value.endsWith('*') ? `${name}:"${value.slice(0, -1)}"*` : `${name}:"${value}"`
}

function printWords({ text, isPrefix }: WordsNode): string {
  const star = isPrefix ? '*' : ''
  const isBare =
    isOnePiece(text) &&
    !text.startsWith('-') &&
    text !== 'OR' &&
    splitField(text) === null &&
    (!isPrefix || /[\p{L}\p{M}\p{N}]$/u.test(text))
  return isBare ? `${text}${star}` : `"${text}"${star}`
}
