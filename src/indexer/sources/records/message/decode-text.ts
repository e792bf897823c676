import type { TextPart, ThinkingPart } from '../../../../model/part.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  isBlank,
  listIn,
  numberIn,
  wellFormed,
  type JsonRecord,
  parseJson,
  recordIn,
  stringIn,
} from '../json/json-value.ts'

/**
 * The text of a message, unchanged. The fields are copies of each other from different builds: the first non-blank one
 * is used.
 */
export function decodeText(record: JsonRecord): TextPart | null {
  for (const read of textReaders) {
    const text = read(record)
    if (text !== null && !isBlank(text)) return { kind: 'text', text }
  }
  return null
}

type TextReader = (record: JsonRecord) => string | null

const textReaders: readonly TextReader[] = [
  (record) => plainText(record['text']),
  (record) => decodeRichText(record['richText']),
  (record) => plainText(record['rawText']),
  (record) => delegateText(record['delegate']),
  (record) => decodeRichText(record['initText']),
  (record) => plainText(record['content']),
  (record) => plainText(record['message']),
]

/** A string, or a list of strings and `{text}` blocks. */
function plainText(value: unknown): string | null {
  if (typeof value === 'string') return wellFormed(value)
  if (!Array.isArray(value)) return null
  const blocks = (value as readonly unknown[]).map(blockText).filter((text) => text !== null)
  return blocks.join('\n')
}

function blockText(block: unknown): string | null {
  return filledString(block) ?? filledStringIn(asRecord(block), 'text')
}

/** Also `{a: text}`, according to an exporter for the oldest builds; we have not seen it in a file. */
function delegateText(value: unknown): string | null {
  return plainText(value) ?? filledStringIn(asRecord(value), 'a')
}

/** The reasoning before an answer. Its signature is never read, as it is of no use to people. */
export function decodeThinking(record: JsonRecord): ThinkingPart | null {
  const text = thinkingText(record)
  return text === null ? null : { kind: 'thinking', text, durationMs: numberIn(record, 'thinkingDurationMs') }
}

function thinkingText(record: JsonRecord): string | null {
  const own = filledStringIn(record, 'thinking') ?? filledStringIn(asRecord(record['thinking']), 'text')
  if (own !== null) return own
  const blocks = listIn(record, 'allThinkingBlocks').map(
    (block) => filledString(block) ?? firstFilledIn(asRecord(block), ['thinking', 'text']),
  )
  const filled = blocks.filter((text) => text !== null)
  return filled.length === 0 ? null : filled.join('\n\n')
}

/**
 * The plain text of an editor state (Lexical), as a JSON string or an object. A string that is not an editor state is
 * the text itself: some builds wrote plain text here, which may happen to be valid JSON.
 */
function decodeRichText(value: unknown): string | null {
  const state = asRecord(typeof value === 'string' ? parseJson(value)?.value : value)
  const root = recordIn(state, 'root')
  if (root !== null) return projectText(root)
  return typeof value === 'string' ? wellFormed(value) : null
}

/** Nodes with children that are still part of a line. */
const inlineTypes = new Set(['link', 'autolink', 'mention', 'mark'])

/** Iterative, because an editor state can be nested deeper than the stack. */
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

/** Empty for a node whose text is in its children. */
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
