import { asRecord, firstFilledIn, listIn, parseJson, recordIn, stringIn, wellFormed } from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

/**
 * The plain text of an editor state (Lexical), as a JSON string or as an object. A string that holds no editor state
 * is the text itself: some builds wrote plain text here, and it may happen to be valid JSON.
 */
export function decodeRichText(value: unknown): string | null {
  const state = asRecord(typeof value === 'string' ? parseJson(value)?.value : value)
  const root = recordIn(state, 'root')
  if (root !== null) return projectText(root)
  return typeof value === 'string' ? wellFormed(value) : null
}

/** These hold children and still stand within a line. */
const inlineTypes = new Set(['link', 'autolink', 'mention', 'mark'])

/** Walks with a list of its own: an editor state can be nested deeper than the stack. */
function projectText(root: JsonRecord): string {
  const pieces: string[] = []
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const next = waiting.pop()
    const leaf = typeof next === 'string' ? next : leafText(asRecord(next))
    if (leaf !== '') pieces.push(leaf)
    else for (const piece of piecesOf(asRecord(next)).reverse()) waiting.push(piece)
  }
  return wellFormed(pieces.join(''))
}

/** Empty for a node that speaks through its children. */
function leafText(node: JsonRecord | null): string {
  const type = node?.['type']
  if (type === 'linebreak') return '\n'
  if (type === 'tab') return '\t'
  if (type === 'mention') return firstFilledIn(node, ['mentionName', 'displayName', 'text', 'name']) ?? ''
  return stringIn(node, 'text') ?? ''
}

/** A node's children, with a line break before each block that follows something. */
function piecesOf(node: JsonRecord | null): unknown[] {
  return listIn(node, 'children').flatMap((child, index) => (index > 0 && isBlock(child) ? ['\n', child] : [child]))
}

function isBlock(child: unknown): boolean {
  const node = asRecord(child)
  const type = node?.['type']
  return type === 'paragraph' || (Array.isArray(node?.['children']) && !inlineTypes.has(String(type)))
}
