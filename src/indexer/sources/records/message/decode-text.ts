import type { TextPart, ThinkingPart } from '../../../../model/part.ts'
import { decodeRichText } from './decode-rich-text.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  firstFilledIn,
  isBlank,
  listIn,
  numberIn,
  wellFormed,
} from '../json/json-value.ts'
import type { JsonRecord } from '../json/json-value.ts'

/** What was said, verbatim. The fields are copies of each other by age of the build: the first that is filled wins. */
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

/** Also `{a: text}`, which an exporter of the oldest builds reads; not seen on a file of our own. */
function delegateText(value: unknown): string | null {
  return plainText(value) ?? filledStringIn(asRecord(value), 'a')
}

/** The reasoning before an answer. Its signature is noise for people and is never read. */
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
